#include "support/support.h"

#include "tokenizer/normalizer.h"

#include <string.h>

/* clang-format off */
struct sample {
    const char *text;
    size_t length;
    const char *expected;
    size_t expected_length;
};

struct options {
    const char *json;
    const struct sample *samples; /* up to one without a text */
};

/* Hugging Face's tokenizers. */
static const struct options cases[] = {
#include "normalizer_cases.inc"
};
/* clang-format on */

static struct yk_normalizer *read_normalizer(const char *json)
{
    struct yk_json *node = NULL;
    struct yk_normalizer *normalizer = NULL;
    assert_ok(yk_json_parse(json, strlen(json), &node));
    assert_ok(yk_normalizer_from_json(node, &normalizer));
    yk_json_destroy(node);
    return normalizer;
}

static void check(const struct yk_normalizer *normalizer, const struct sample *sample,
                  const char *json)
{
    struct yk_text text = {0};
    yk_text_add(&text, "before ");
    assert_ok(yk_normalizer_apply(normalizer, sample->text, sample->length, &text));
    const char *got = yk_text_chars(&text) + strlen("before ");
    const size_t length = text.length - strlen("before ");
    if (length != sample->expected_length || memcmp(got, sample->expected, length) != 0) {
        fail_msg("%s made \"%s\" of \"%s\", not \"%s\"", json, got, sample->text, sample->expected);
    }
    yk_text_free(&text);
}

static void texts_of_all_scripts_become_what_hugging_face_makes_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_normalizer *normalizer = read_normalizer(cases[i].json);
        for (const struct sample *sample = cases[i].samples; sample->text; sample++) {
            check(normalizer, sample, cases[i].json);
        }
        yk_normalizer_destroy(normalizer);
    }
}

static void a_long_text_is_normalized_as_its_parts_are(void **state)
{
    (void)state;
    /* "e" with an acute accent, apart, 1000 times: NFC joins each pair (U+00E9). */
    struct yk_normalizer *normalizer = read_normalizer("{\"type\": \"NFC\"}");
    struct yk_text apart = {0};
    struct yk_text joined = {0};
    struct yk_text expected = {0};
    yk_text_add_repeated(&apart, "e\xcc\x81\xe1\x84\x80\xe1\x85\xa1", 1000);
    yk_text_add_repeated(&expected, "\xc3\xa9\xea\xb0\x80", 1000);
    assert_ok(yk_normalizer_apply(normalizer, apart.bytes, apart.length, &joined));
    assert_string_equal(yk_text_chars(&joined), yk_text_chars(&expected));
    yk_text_free(&apart);
    yk_text_free(&joined);
    yk_text_free(&expected);
    yk_normalizer_destroy(normalizer);
}

/* Unicode Standard, section 3.12: a final consonant is U+11A8 to U+11C2, so U+11A7 stays. */
static void what_lies_before_the_final_consonants_of_hangul_is_not_joined(void **state)
{
    (void)state;
    static const char syllable[] = "\xeb\xaf\xb8\xe1\x86\xa7";   /* U+BBF8, U+11A7 */
    static const char with_final[] = "\xeb\xaf\xb8\xe1\x86\xa8"; /* U+BBF8, U+11A8 */
    static const struct sample samples[] = {
        {syllable, sizeof syllable - 1, syllable, sizeof syllable - 1},
        {with_final, sizeof with_final - 1, "\xeb\xaf\xb9", 3}, /* U+BBF9 */
    };
    static const char *const forms[] = {"{\"type\": \"NFC\"}", "{\"type\": \"NFKC\"}"};
    for (size_t i = 0; i < 2; i++) {
        struct yk_normalizer *normalizer = read_normalizer(forms[i]);
        check(normalizer, &samples[0], forms[i]);
        check(normalizer, &samples[1], forms[i]);
        yk_normalizer_destroy(normalizer);
    }
}

static void no_normalizer_leaves_a_text_as_it_is(void **state)
{
    (void)state;
    struct yk_json *nothing = NULL;
    struct yk_normalizer *normalizer = NULL;
    struct yk_text text = {0};
    assert_ok(yk_normalizer_from_json(NULL, &normalizer));
    assert_null(normalizer);
    assert_ok(yk_json_parse("[null]", 6, &nothing));
    assert_ok(yk_normalizer_from_json(yk_json_array_at(nothing, 0), &normalizer));
    assert_null(normalizer);
    assert_ok(yk_normalizer_apply(normalizer, "A\xcc\x81\n", 4, &text));
    assert_string_equal(yk_text_chars(&text), "A\xcc\x81\n");
    yk_text_free(&text);
    yk_json_destroy(nothing);
}

static void check_refused(const char *json, const char *message)
{
    struct yk_json *node = NULL;
    struct yk_normalizer *normalizer = NULL;
    assert_ok(yk_json_parse(json, strlen(json), &node));
    assert_fails(yk_normalizer_from_json(node, &normalizer), YK_ERROR_INPUT, message);
    yk_json_destroy(node);
}

static void what_is_not_known_is_refused_by_its_name(void **state)
{
    (void)state;
    check_refused(
        "{\"type\": \"Uppercase\"}",
        "normalizer: a normalizer \"Uppercase\"; known are BertNormalizer, NFC, NFD, NFKC, NFKD, "
        "Lowercase, Strip, StripAccents, Replace, Prepend, Nmt, Precompiled, ByteLevel and "
        "Sequence");
    check_refused("{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {}]}",
                  "normalizer: the normalizer has no \"type\"");
    check_refused("{\"type\": \"Sequence\"}",
                  "normalizer: \"normalizers\" of a Sequence is nothing; it must be a list");
    check_refused(
        "{\"type\": \"BertNormalizer\", \"lowercase\": 1}",
        "normalizer: \"lowercase\" of the normalizer is a number; it must be true or false");
}

static void sequences_inside_each_other_end_somewhere(void **state)
{
    (void)state;
    struct yk_text json = {0};
    yk_text_add_repeated(&json, "{\"type\": \"Sequence\", \"normalizers\": [", 18);
    yk_text_add_repeated(&json, "]}", 18);
    check_refused(yk_text_chars(&json), "normalizer: more than 16 normalizers inside each other");
    yk_text_free(&json);
}

static void text_that_is_no_utf8_is_refused(void **state)
{
    (void)state;
    static const char *const kinds[] = {"{\"type\": \"Lowercase\"}", "{\"type\": \"NFKC\"}"};
    for (size_t i = 0; i < 2; i++) {
        struct yk_normalizer *normalizer = read_normalizer(kinds[i]);
        struct yk_text text = {0};
        assert_fails(yk_normalizer_apply(normalizer, "a\xff", 2, &text), YK_ERROR_INPUT,
                     "the text is not UTF-8; convert it first");
        yk_text_free(&text);
        yk_normalizer_destroy(normalizer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_all_scripts_become_what_hugging_face_makes_of_them),
        cmocka_unit_test(a_long_text_is_normalized_as_its_parts_are),
        cmocka_unit_test(what_lies_before_the_final_consonants_of_hangul_is_not_joined),
        cmocka_unit_test(no_normalizer_leaves_a_text_as_it_is),
        cmocka_unit_test(what_is_not_known_is_refused_by_its_name),
        cmocka_unit_test(sequences_inside_each_other_end_somewhere),
        cmocka_unit_test(text_that_is_no_utf8_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
