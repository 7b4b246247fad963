#include "support/support.h"

#include "base/file.h"
#include "base/json_node.h"
#include "base/random.h"
#include "tokenizer/chunk_boundary.h"
#include "tokenizer/formats/bpe_file.h"
#include "tokenizer/tokenizer_encoder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Things that words are made of, and that patterns look at; spaces more often than others. */
static const char *const parts[] = {
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\xc2\xa0",
    "\xe3\x80\x80",
    "a",
    "word",
    "B",
    "'s",
    "'LL",
    "1",
    "12345",
    ".",
    "!?",
    "(",
    "_",
    "e\xcc\x81",
    "\xc3\xa9",
    "\xed\x95\x9c",
    "\xe4\xb8\xad",
    "\xf0\x9f\x98\x80",
    "\xe2\x80\x8b",
    "\xcc\x81",
    "<s>",
    "[MASK]",
    "\x7f",
    "\xc2\x85",
    "\x1f",
    "\u00a8",                    /* NFKC makes it a space and a mark */
    "\ufdfa",                    /* NFKC puts spaces inside */
    "\u3099",                    /* a mark */
    "\u754c \u754c",             /* ideographs */
    "\u0645\u064f \u05d0\u05b0", /* Arabic and Hebrew */
    "\u0e01\u0e33",              /* Thai */
    "\u0928\u094d\u200d\u092e",  /* Devanagari */
    "\u1112\u1161\u11ab",        /* Hangul in parts */
    "\u0416\u0130\u1e9e\u03a3",
    "\ufb01\uff21\u00bd\u2167", /* compatibility characters */
    "\u2581",
    "\U0001f1e9\U0001f1ea", /* a flag */
};

static const char bert_file[] =
    "{\"version\": \"1.0\", \"added_tokens\": [{\"id\": 1, \"content\": \"[MASK]\", "
    "\"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, "
    "\"special\": true}], \"normalizer\": {\"type\": \"BertNormalizer\", \"clean_text\": true, "
    "\"handle_chinese_chars\": true, \"strip_accents\": null, \"lowercase\": true}, "
    "\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, \"post_processor\": null, "
    "\"decoder\": {\"type\": \"WordPiece\", \"prefix\": \"##\", \"cleanup\": true}, "
    "\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", "
    "\"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 100, \"vocab\": "
    "{\"[UNK]\": 0, \"[MASK]\": 1, \"a\": 2, \"##a\": 3, \"word\": 4, \"##word\": 5, \"b\": 6, "
    "\"##b\": 7, \"e\": 8, \"##e\": 9, \".\": 10, \"1\": 11, \"##1\": 12}}}";

/* A tokenizer of a style, whose tokens tell apart how spaces fall to words. */
static void learn_file(const struct yk_bpe_file_preset *style, struct yk_text *out)
{
    static const char *const words[] = {
        " a", "  ", "\n\n", " \n", "\n ", "   ", " word", "\n\n\n", "\t ", " 1", " .", ".\n", " \t",
    };
    struct yk_word_counts *counts = NULL;
    struct yk_bpe_trainer_result result = {0};
    assert_ok(yk_word_counts_create(&counts));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_ok(yk_word_counts_add(counts, words[i], strlen(words[i])));
    }
    const struct yk_bpe_trainer_options lesson = {
        .words = counts,
        .specials = style->specials,
        .special_count = style->special_count,
        .token_count = 400,
    };
    assert_ok(yk_bpe_trainer_train(&lesson, &result));
    yk_bpe_file_append_contents(&result, style, out);
    yk_bpe_trainer_result_free(&result);
    yk_word_counts_destroy(counts);
}

static void make_text(struct yk_random *random, struct yk_text *out)
{
    out->length = 0;
    for (int i = 0; i < 24; i++) {
        const int64_t part = yk_random_below(random, sizeof parts / sizeof parts[0]);
        yk_text_add(out, parts[part]);
    }
}

static void encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                   struct yk_token_ids *out)
{
    assert_ok(
        yk_tokenizer_encoder_encode(encoder, text, length, "text", YK_ADD_SPECIAL_TOKENS_NO, out));
}

/* Cuts the text at every place that is found for one of its beginnings; returns how many. */
static int check_text(struct yk_tokenizer_encoder *encoder,
                      const struct yk_chunk_boundary_rules *cut, const struct yk_text *text)
{
    struct yk_token_ids whole = {0};
    struct yk_token_ids chunks = {0};
    size_t last = 0;
    int cuts = 0;
    encode(encoder, text->bytes, text->length, &whole);
    for (size_t length = 1; length <= text->length; length++) {
        const size_t at = yk_chunk_boundary_find_last(cut, text->bytes, length);
        assert_true(at < length);
        if (at == 0 || at == last) {
            continue;
        }
        last = at;
        cuts++;
        chunks.count = 0;
        encode(encoder, text->bytes, at, &chunks);
        const size_t next = at + cut->omits_space;
        encode(encoder, text->bytes + next, text->length - next, &chunks);
        if (chunks.count != whole.count ||
            memcmp(chunks.items, whole.items, (size_t)whole.count * sizeof *whole.items) != 0) {
            fail_msg("\"%s\" has other tokens when it is cut at byte %zu", text->bytes, at);
        }
    }
    yk_token_ids_free(&whole);
    yk_token_ids_free(&chunks);
    return cuts;
}

/* Whether the rules allow cuts; those in random texts are checked. `*cuts` is their number. */
static bool check_cuts(const char *file, size_t length, int *cuts)
{
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_chunk_boundary_rules cut = {0};
    struct yk_text text = {0};
    struct yk_random random = yk_random_from_seed(5);
    *cuts = 0;
    assert_ok(yk_tokenizer_parse(file, length, "test", &tokenizer));
    assert_ok(yk_chunk_boundary_rules_from_tokenizer(tokenizer, &cut));
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    for (int i = 0; i < 300; i++) {
        make_text(&random, &text);
        *cuts += check_text(encoder, &cut, &text);
    }
    yk_text_free(&text);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
    return cut.possible;
}

static void check_file(const char *file, size_t length, bool some)
{
    int cuts = 0;
    assert_int_equal(check_cuts(file, length, &cuts), some);
    assert_int_equal(cuts > 20, some);
}

static void chunks_have_the_tokens_of_the_whole(void **state)
{
    (void)state;
    static const char *const styles[] = {"pairs", "llama3", "none"};
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        struct yk_text file = {0};
        learn_file(yk_bpe_file_find_preset(styles[i]), &file);
        check_file(file.bytes, file.length, true);
        yk_text_free(&file);
    }
    check_file(bert_file, strlen(bert_file), true);
}

/* The first `from` in a file becomes `to`. */
static void replace(struct yk_text *file, const char *from, const char *to)
{
    struct yk_text changed = {0};
    const char *there = strstr(file->bytes, from);
    assert_non_null(there);
    yk_text_add_bytes(&changed, file->bytes, (size_t)(there - file->bytes));
    yk_text_add(&changed, to);
    yk_text_add(&changed, there + strlen(from));
    yk_text_free(file);
    *file = changed;
}

/* Removes the added tokens, which prevent cuts in many of the fixtures, and what names them. */
static void remove_added_tokens(struct yk_text *file)
{
    struct yk_json *root = NULL;
    assert_ok(yk_json_parse(file->bytes, file->length, &root));
    assert_true(yk_json_node_set_new(root, "added_tokens", yk_json_node_new_array()));
    assert_true(yk_json_node_set_new(root, "post_processor", yk_json_node_new_null()));
    file->length = 0;
    yk_json_node_append_text(root, file);
    yk_json_destroy(root);
}

/* Checks each tokenizer.json of a folder of fixtures, and returns how many of them allow cuts. */
static int check_folder(const char *name, bool added_tokens)
{
    struct yk_text folder = {0};
    struct dirent *entry = NULL;
    int count = 0;
    yk_text_addf(&folder, "%s/tokenizer/fixtures/%s", TESTS_FOLDER, name);
    DIR *listing = opendir(folder.bytes);
    assert_non_null(listing);
    while ((entry = readdir(listing))) {
        struct yk_text path = {0};
        struct yk_text file = {0};
        int cuts = 0;
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".json") != 0) {
            continue;
        }
        yk_text_addf(&path, "%s/%s", folder.bytes, entry->d_name);
        assert_ok(yk_file_read_document(path.bytes, &file));
        if (!added_tokens) {
            remove_added_tokens(&file);
        }
        const bool possible = check_cuts(file.bytes, file.length, &cuts);
        assert_int_equal(cuts > 20, possible);
        count += possible;
        yk_text_free(&path);
        yk_text_free(&file);
    }
    assert_int_equal(closedir(listing), 0);
    yk_text_free(&folder);
    return count;
}

/* The fixtures that scripts in tests/oracle write. */
static void chunks_have_the_tokens_of_the_whole_for_all_fixtures(void **state)
{
    (void)state;
    assert_int_equal(check_folder("tokenizers", true), 1); /* llama3 */
    assert_int_equal(check_folder("components", true), 3); /* roberta, t5, wordpiece */
    assert_int_equal(check_folder("tokenizers", false), 4);
    assert_int_equal(check_folder("components", false), 4); /* and xlm */
}

static void no_text_is_cut_next_to_characters_that_become_white_space(void **state)
{
    (void)state;
    static const char *const normalizers[] = {
        "{\"type\": \"NFC\"}",
        "{\"type\": \"NFKC\"}",
        "{\"type\": \"NFKD\"}",
        "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFD\"}, {\"type\": "
        "\"StripAccents\"}]}",
        "{\"type\": \"BertNormalizer\", \"clean_text\": false, \"handle_chinese_chars\": true, "
        "\"strip_accents\": false, \"lowercase\": false}",
        "{\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": false, "
        "\"strip_accents\": false, \"lowercase\": false}",
        "{\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": true, "
        "\"strip_accents\": null, \"lowercase\": true}",
    };
    static const char *const styles[] = {"pairs", "llama3"};
    for (size_t i = 0; i < 2 * sizeof normalizers / sizeof *normalizers; i++) {
        struct yk_text file = {0};
        struct yk_text member = {0};
        learn_file(yk_bpe_file_find_preset(styles[i % 2]), &file);
        yk_text_addf(&member, "\"normalizer\": %s,", normalizers[i / 2]);
        replace(&file, "\"normalizer\": null,", member.bytes);
        check_file(file.bytes, file.length, true);
        yk_text_free(&file);
        yk_text_free(&member);
    }
}

/* The fixtures that tests/oracle/make_component_cases.py writes. */
static void spaced_words_are_cut_before_single_spaces(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool some;
    } files[] = {{"t5", true},      {"xlm", false},  {"gemma", false}, {"mistral", false},
                 {"llama2", false}, {"clip", false}, {"words", false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct yk_text path = {0};
        struct yk_text file = {0};
        yk_text_addf(&path, "%s/tokenizer/fixtures/components/%s.json", TESTS_FOLDER,
                     files[i].name);
        assert_ok(yk_file_read_document(path.bytes, &file));
        check_file(file.bytes, file.length, files[i].some);
        yk_text_free(&path);
        yk_text_free(&file);
    }
}

/* Llama 2's and Mistral's: one word, whose merges must not cross spaces. */
static void one_word_is_cut_where_no_merge_crosses(void **state)
{
    (void)state;
    static const struct {
        const char *parts; /* the normalizer and the pre-tokenizer */
        const char *merges;
        bool some;
    } files[] = {
        {"\"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": \"\u2581\", "
         "\"prepend_scheme\": \"always\", \"split\": false}",
         "[\"\u2581\", \"a\"], [\"\u2581\", \"\u2581\"]", true},
        {"\"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": \"\u2581\", "
         "\"prepend_scheme\": \"first\", \"split\": false}",
         "\"\u2581 a\", \"\u2581 \u2581\"", true},
        {"\"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": \"\u2581\", "
         "\"prepend_scheme\": \"always\", \"split\": false}",
         "[\"a\", \"\u2581\"]", false},
        {"\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": "
         "\"\u2581\"}",
         "[\"\u2581\", \"a\"]", true},
        {"\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", "
         "\"prepend\": \"\u2581\"}, {\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, "
         "\"content\": \"\u2581\"}]}",
         "[\"\u2581\", \"a\"]", true},
        {"\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Replace\", "
         "\"pattern\": {\"String\": \" \"}, \"content\": \"\u2581\"}, {\"type\": \"Prepend\", "
         "\"prepend\": \"\u2581\"}]}",
         "[\"\u2581\", \"a\"]", false},
        {"\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", "
         "\"prepend\": \"a\"}, {\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, "
         "\"content\": \"\u2581\"}]}",
         "[\"\u2581\", \"a\"]", false},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct yk_text file = {0};
        yk_text_addf(
            &file,
            "{%s, \"model\": {\"type\": \"BPE\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, "
            "\"\u2581\": 1, \"a\": 2, \"\u2581a\": 3, \"\u2581\u2581\": 4, \"a\u2581\": 5, "
            "\"w\": 6, \"1\": 7}, \"merges\": [%s]}}",
            files[i].parts, files[i].merges);
        check_file(file.bytes, file.length, files[i].some);
        yk_text_free(&file);
    }
}

static void a_normalizer_that_strips_is_kept_from_cuts(void **state)
{
    (void)state;
    struct yk_text file = {0};
    learn_file(yk_bpe_file_find_preset("pairs"), &file);
    replace(&file, "\"normalizer\": null,",
            "\"normalizer\": {\"type\": \"Strip\", \"strip_left\": "
            "true, \"strip_right\": false},");
    check_file(file.bytes, file.length, false);
    yk_text_free(&file);
}

static void a_space_added_before_a_text_is_added_before_no_chunk(void **state)
{
    (void)state;
    struct yk_text file = {0};
    learn_file(yk_bpe_file_find_preset("pairs"), &file);
    replace(&file, "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false",
            "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true");
    check_file(file.bytes, file.length, true);
    yk_text_free(&file);
}

static void tokens_that_strip_spaces_are_kept_from_cuts(void **state)
{
    (void)state;
    static const char *const sides[] = {"\"lstrip\": true, \"rstrip\": false",
                                        "\"lstrip\": false, \"rstrip\": true",
                                        "\"lstrip\": true, \"rstrip\": true"};
    for (size_t i = 0; i < 3; i++) {
        struct yk_text file = {0};
        learn_file(yk_bpe_file_find_preset("pairs"), &file);
        /* The first special token is <pad>, the second <s>, which the texts have. */
        replace(&file, "\"<pad>\", \"single_word\": false, \"lstrip\": false, \"rstrip\": false",
                "\"<pad>\", \"single_word\": false, \"lstrip\": false");
        replace(&file, "\"lstrip\": false, \"rstrip\": false", sides[i]);
        replace(&file, "\"lstrip\": false,", "\"lstrip\": false, \"rstrip\": false,");
        check_file(file.bytes, file.length, true);
        yk_text_free(&file);
    }
}

/* Not within or behind several ends of lines, which may be one word or two. */
static void a_text_with_no_spaces_is_cut_behind_a_line(void **state)
{
    (void)state;
    static const char words[] = "\xe4\xb8\xad.\nab\n\ncd\r\nef\n";
    static const char *const prefixes[] = {"false", "true"};
    for (int i = 0; i < 2; i++) {
        struct yk_text file = {0};
        struct yk_json *root = NULL;
        struct yk_chunk_boundary_rules cut = {0};
        yk_text_addf(&file, "{\"type\": \"ByteLevel\", \"add_prefix_space\": %s}", prefixes[i]);
        assert_ok(yk_json_parse(file.bytes, file.length, &root));
        yk_chunk_boundary_rules_from_pre_tokenizer(root, &cut);
        assert_true(cut.possible);
        assert_int_equal(yk_chunk_boundary_find_last(&cut, words, strlen(words)), i == 0 ? 5 : 0);
        yk_json_destroy(root);
        yk_text_free(&file);
    }
}

static void nothing_is_cut_of_which_nothing_is_known(void **state)
{
    (void)state;
    static const char *const edits[][2] = {
        {"\"<s>\", \"single_word\"", "\"< s>\", \"single_word\""},
        {"\"use_regex\": true", "\"use_regex\": false"},
        {"\"normalizer\": null,", "\"normalizer\": {\"type\": \"Lowercase\"},"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct yk_text file = {0};
        struct yk_json *root = NULL;
        struct yk_chunk_boundary_rules cut = {0};
        learn_file(yk_bpe_file_find_preset("pairs"), &file);
        replace(&file, edits[i][0], edits[i][1]);
        if (i == 2) { /* small letters, and a token that a normalized text may hold */
            replace(&file, "\"content\": \"<s>\"", "\"content\": \"S\"");
            replace(&file, "\"normalized\": false", "\"normalized\": true");
            replace(&file, "\"normalized\": false", "\"normalized\": true");
        }
        assert_ok(yk_json_parse(file.bytes, file.length, &root));
        assert_ok(yk_chunk_boundary_rules_from_json(root, &cut));
        assert_false(cut.possible);
        assert_int_equal(yk_chunk_boundary_find_last(&cut, "a b c", 5), 0);
        yk_json_destroy(root);
        yk_text_free(&file);
    }
}

static void a_text_of_characters_is_one_chunk(void **state)
{
    (void)state;
    static const char file[] =
        "{\"yoke\": 1, \"kind\": \"vocabulary\", \"characters\": [\" \", \"a\", \"b\"]}";
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_chunk_boundary_rules cut = {.possible = true};
    assert_ok(yk_tokenizer_parse(file, strlen(file), "test", &tokenizer));
    assert_ok(yk_chunk_boundary_rules_from_tokenizer(tokenizer, &cut));
    assert_false(cut.possible);
    yk_tokenizer_destroy(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_have_the_tokens_of_the_whole),
        cmocka_unit_test(chunks_have_the_tokens_of_the_whole_for_all_fixtures),
        cmocka_unit_test(no_text_is_cut_next_to_characters_that_become_white_space),
        cmocka_unit_test(spaced_words_are_cut_before_single_spaces),
        cmocka_unit_test(one_word_is_cut_where_no_merge_crosses),
        cmocka_unit_test(a_normalizer_that_strips_is_kept_from_cuts),
        cmocka_unit_test(a_space_added_before_a_text_is_added_before_no_chunk),
        cmocka_unit_test(tokens_that_strip_spaces_are_kept_from_cuts),
        cmocka_unit_test(a_text_with_no_spaces_is_cut_behind_a_line),
        cmocka_unit_test(nothing_is_cut_of_which_nothing_is_known),
        cmocka_unit_test(a_text_of_characters_is_one_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
