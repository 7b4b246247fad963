/* What Hugging Face's tokenizers make of some thousand texts, recorded by
 * tests/oracle/make_tokenizer_fixtures.py and make_component_cases.py, whose first comments say how
 * the files are written. */
#include "support/support.h"

#include "base/file.h"
#include "tokenizer/tokenizer_encoder.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIELDS =
        4 /* of a line: the text, ids, decoded, decoded without special tokens; spans may follow */
};

struct oracle {
    struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    struct yk_text file;
    struct yk_token_ids before;
    struct yk_token_ids behind;
};

static void add_ids(const char *words, struct yk_token_ids *out)
{
    char *end = NULL;
    while (*words != '\0') {
        const long id = strtol(words, &end, 36);
        assert_ptr_not_equal(end, words);
        yk_token_ids_add(out, (int32_t)id);
        words = end + (*end == ' ');
    }
    assert_ok(yk_token_ids_status(out));
}

/* "begin-end", or "end" alone behind the span before. */
static void add_spans(const char *words, struct yk_token_spans *out)
{
    size_t last = 0;
    while (*words != '\0') {
        char *end = NULL;
        size_t begin = last;
        size_t number = (size_t)strtoul(words, &end, 36);
        assert_ptr_not_equal(end, words);
        if (*end == '-') {
            begin = number;
            words = end + 1;
            number = (size_t)strtoul(words, &end, 36);
            assert_ptr_not_equal(end, words);
        }
        yk_token_spans_add(out, begin, number);
        last = number;
        words = end + (*end == ' ');
    }
    assert_ok(yk_token_spans_status(out));
}

static void unescape(const char *words, struct yk_text *out)
{
    while (*words != '\0') {
        if (words[0] == '\\' && words[1] == 'x') {
            char digits[3] = {words[2], words[3]};
            const char byte = (char)strtol(digits, NULL, 16);
            yk_text_add_bytes(out, &byte, 1);
            words += 4;
        } else {
            yk_text_add_bytes(out, words, 1);
            words++;
        }
    }
    assert_ok(yk_text_status(out));
}

static void open_oracle(const char *folder, const char *name, struct oracle *out)
{
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/tokenizer/fixtures/%s/%s.json", TESTS_FOLDER, folder, name);
    assert_ok(yk_tokenizer_open(path.bytes, &out->tokenizer));
    assert_ok(yk_tokenizer_encoder_create(out->tokenizer, &out->encoder));
    path.length -= strlen("json");
    yk_text_add(&path, "cases");
    assert_ok(yk_file_read_document(path.bytes, &out->file));
    yk_text_free(&path);
}

static void close_oracle(struct oracle *oracle)
{
    yk_tokenizer_encoder_destroy(oracle->encoder);
    yk_tokenizer_destroy(oracle->tokenizer);
    yk_text_free(&oracle->file);
    yk_token_ids_free(&oracle->before);
    yk_token_ids_free(&oracle->behind);
}

static void check_ids(const char *line, const struct yk_token_ids *given,
                      const struct yk_token_ids *expected)
{
    bool same = given->count == expected->count;
    for (int64_t i = 0; same && i < given->count; i++) {
        same = given->items[i] == expected->items[i];
    }
    if (!same) {
        struct yk_text words = {0};
        for (int64_t i = 0; i < given->count; i++) {
            yk_text_addf(&words, " %d", given->items[i]);
        }
        yk_text_add(&words, "; expected");
        for (int64_t i = 0; i < expected->count; i++) {
            yk_text_addf(&words, " %d", expected->items[i]);
        }
        fail_msg("\"%s\":%s", line, yk_text_chars(&words));
    }
}

static void check_decoded(const struct oracle *oracle, const char *line,
                          const struct yk_token_ids *ids, bool bare, const struct yk_text *expected)
{
    struct yk_text given = {0};
    assert_ok(yk_tokenizer_decode(oracle->tokenizer, ids->items, ids->count, bare, &given));
    if (given.length != expected->length ||
        memcmp(yk_text_chars(&given), yk_text_chars(expected), given.length) != 0) {
        fail_msg("\"%s\" is decoded %sas \"%s\", expected \"%s\"", line, bare ? "barely " : "",
                 yk_text_chars(&given), yk_text_chars(expected));
    }
    yk_text_free(&given);
}

static void check_spans(struct oracle *oracle, const char *line, const struct yk_text *text,
                        const struct yk_token_ids *ids, const char *words)
{
    struct yk_token_spans expected = {0};
    struct yk_token_spans given = {0};
    struct yk_token_ids given_ids = {0};
    add_spans(words, &expected);
    assert_ok(yk_tokenizer_encoder_encode_with_offsets(oracle->encoder, yk_text_chars(text),
                                                       text->length, line, YK_ADD_SPECIAL_TOKENS_NO,
                                                       &given_ids, &given));
    check_ids(line, &given_ids, ids);
    assert_int_equal(given.count, expected.count);
    for (int64_t i = 0; expected.items && i < given.count; i++) {
        if (given.items[i].begin != expected.items[i].begin ||
            given.items[i].end != expected.items[i].end) {
            fail_msg("\"%s\": token %d is from %zu to %zu, expected %zu to %zu", line, (int)i,
                     given.items[i].begin, given.items[i].end, expected.items[i].begin,
                     expected.items[i].end);
        }
    }
    yk_token_spans_free(&expected);
    yk_token_spans_free(&given);
    yk_token_ids_free(&given_ids);
}

static void check_case(struct oracle *oracle, char *line)
{
    char *fields[FIELDS] = {line};
    struct yk_text texts[FIELDS] = {0}; /* the one of ids stays empty */
    struct yk_token_ids expected = {0};
    struct yk_token_ids framed = {0};
    struct yk_token_ids given = {0};
    for (int i = 1; i < FIELDS; i++) {
        fields[i] = strchr(fields[i - 1], '\t');
        assert_non_null(fields[i]);
        *fields[i]++ = '\0';
    }
    char *spans = strchr(fields[FIELDS - 1], '\t');
    if (spans) {
        *spans++ = '\0';
    }
    unescape(fields[0], &texts[0]);
    unescape(strcmp(fields[2], "=") == 0 ? fields[0] : fields[2], &texts[2]);
    if (strcmp(fields[3], "=") == 0) {
        yk_text_add_bytes(&texts[3], yk_text_chars(&texts[2]), texts[2].length);
    } else {
        unescape(fields[3], &texts[3]);
    }
    add_ids(fields[1], &expected);
    assert_ok(yk_tokenizer_encoder_encode(oracle->encoder, yk_text_chars(&texts[0]),
                                          texts[0].length, line, YK_ADD_SPECIAL_TOKENS_NO, &given));
    check_ids(line, &given, &expected);
    check_decoded(oracle, line, &given, false, &texts[2]);
    check_decoded(oracle, line, &given, true, &texts[3]);
    if (spans) {
        check_spans(oracle, line, &texts[0], &expected, spans);
    }

    yk_token_ids_add_all(&framed, oracle->before.items, oracle->before.count);
    yk_token_ids_add_all(&framed, expected.items, expected.count);
    yk_token_ids_add_all(&framed, oracle->behind.items, oracle->behind.count);
    given.count = 0;
    assert_ok(yk_tokenizer_encoder_encode(oracle->encoder, yk_text_chars(&texts[0]),
                                          texts[0].length, line, YK_ADD_SPECIAL_TOKENS_YES,
                                          &given));
    check_ids(line, &given, &framed);
    for (int i = 0; i < FIELDS; i++) {
        yk_text_free(&texts[i]);
    }
    yk_token_ids_free(&expected);
    yk_token_ids_free(&framed);
    yk_token_ids_free(&given);
}

/* Returns how many texts there were. */
static int check_all(const char *folder, const char *name)
{
    struct oracle oracle = {0};
    int count = 0;
    open_oracle(folder, name, &oracle);
    char *line = oracle.file.bytes;
    char *bar = strchr(line, '|');
    char *end = strchr(line, '\n');
    assert_true(bar && end && bar < end);
    *bar = '\0';
    *end = '\0';
    add_ids(line, &oracle.before);
    add_ids(bar + 1, &oracle.behind);
    for (line = end + 1; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        check_case(&oracle, line);
        count++;
    }
    close_oracle(&oracle);
    return count;
}

static void gpt2_is_as_hugging_face_has_it(void **state)
{
    (void)state;
    assert_int_equal(check_all("tokenizers", "gpt2"), 900);
}

static void llama3_is_as_hugging_face_has_it(void **state)
{
    (void)state;
    assert_int_equal(check_all("tokenizers", "llama3"), 900);
}

static void bert_is_as_hugging_face_has_it(void **state)
{
    (void)state;
    assert_int_equal(check_all("tokenizers", "bert"), 900);
}

static void prefixed_is_as_hugging_face_has_it(void **state)
{
    (void)state;
    assert_int_equal(check_all("tokenizers", "prefixed"), 400);
}

static void removed_is_as_hugging_face_has_it(void **state)
{
    (void)state;
    assert_int_equal(check_all("tokenizers", "removed"), 400);
}

/* Among them: each kind of normalizer, pre-tokenizer, model, decoder and post-processor. */
static void every_component_is_as_hugging_face_has_it(void **state)
{
    (void)state;
    static const char *const names[] = {
        "llama2",
        "mistral",
        "gemma",
        "affixes",
        "clip",
        "roberta",
        "byte_text",
        "byte_level_inside",
        "t5",
        "xlm",
        "scripts",
        "wordpiece",
        "words",
        "merged_with_previous",
        "merged_with_next",
        "contiguous",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(check_all("components", names[i]), 90);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_is_as_hugging_face_has_it),
        cmocka_unit_test(llama3_is_as_hugging_face_has_it),
        cmocka_unit_test(bert_is_as_hugging_face_has_it),
        cmocka_unit_test(prefixed_is_as_hugging_face_has_it),
        cmocka_unit_test(removed_is_as_hugging_face_has_it),
        cmocka_unit_test(every_component_is_as_hugging_face_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
