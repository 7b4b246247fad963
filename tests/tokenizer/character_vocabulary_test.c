#include "support/support.h"

#include "tokenizer/character_vocabulary.h"

#include <string.h>

static struct yk_character_vocabulary *build(const char *text)
{
    struct yk_character_vocabulary *vocabulary = NULL;
    assert_ok(yk_character_vocabulary_build(text, strlen(text), "text", &vocabulary));
    return vocabulary;
}

static void characters_are_numbered_by_code_point(void **state)
{
    (void)state;
    /* Python: sorted(set("한 banane\né😀")). */
    static const uint32_t sorted[] = {0x0a, 0x20, 0x61, 0x62, 0x65, 0x6e, 0xe9, 0xd55c, 0x1f600};
    struct yk_character_vocabulary *vocabulary =
        build("\xed\x95\x9c banane\n\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(yk_character_vocabulary_count(vocabulary), 9);
    for (int32_t i = 0; i < 9; i++) {
        assert_int_equal(yk_character_vocabulary_find_id(vocabulary, sorted[i]), i);
    }
    assert_int_equal(yk_character_vocabulary_find_id(vocabulary, 'c'), -1);
    assert_int_equal(yk_character_vocabulary_find_id(vocabulary, 0x1f601), -1);
    yk_character_vocabulary_destroy(vocabulary);
}

static void text_becomes_ids_and_text_again(void **state)
{
    (void)state;
    static const int32_t expected[] = {2, 1, 3, 1, 3, 1, 0, 4};
    struct yk_character_vocabulary *vocabulary = build("banana \xc3\xa9");
    struct yk_token_ids ids = {0};
    struct yk_text text = {0};
    assert_ok(yk_character_vocabulary_encode(vocabulary, "banana \xc3\xa9", 9, "text", &ids));
    assert_int_equal(ids.count, 8);
    assert_memory_equal(ids.items, expected, sizeof expected);
    assert_ok(yk_character_vocabulary_decode(vocabulary, ids.items, ids.count, &text));
    assert_string_equal(yk_text_chars(&text), "banana \xc3\xa9");
    yk_text_free(&text);
    yk_token_ids_free(&ids);
    yk_character_vocabulary_destroy(vocabulary);
}

static void a_character_that_is_not_in_it_is_named_with_its_place(void **state)
{
    (void)state;
    struct yk_character_vocabulary *vocabulary = build("ab\n");
    struct yk_token_ids ids = {0};
    assert_fails(yk_character_vocabulary_encode(vocabulary, "ab\na\xc3\xa9", 6, "new.txt", &ids),
                 YK_ERROR_INPUT, "new.txt:2:2: \"\xc3\xa9\" (U+00E9) is not in the vocabulary");
    assert_fails(yk_character_vocabulary_encode(vocabulary, "a\t", 2, "new.txt", &ids),
                 YK_ERROR_INPUT, "new.txt:1:2: U+0009 is not in the vocabulary");
    assert_fails(yk_character_vocabulary_encode(vocabulary, "a\xff", 2, "new.txt", &ids),
                 YK_ERROR_INPUT, "new.txt:1:2: byte 0xff is not UTF-8; convert the text first");
    yk_token_ids_free(&ids);
    yk_character_vocabulary_destroy(vocabulary);
}

static void ids_beyond_the_vocabulary_are_skipped(void **state)
{
    (void)state;
    static const int32_t ids[] = {0, 2, -1, 1};
    struct yk_character_vocabulary *vocabulary = build("ab");
    struct yk_text text = {0};
    assert_ok(yk_character_vocabulary_decode(vocabulary, ids, 4, &text));
    assert_string_equal(yk_text_chars(&text), "ab");
    yk_text_free(&text);
    yk_character_vocabulary_destroy(vocabulary);
}

static void what_is_no_text_makes_no_vocabulary(void **state)
{
    (void)state;
    struct yk_character_vocabulary *vocabulary = NULL;
    assert_fails(yk_character_vocabulary_build("", 0, "text", &vocabulary), YK_ERROR_INPUT,
                 "text: the text is empty");
    assert_fails(yk_character_vocabulary_build("a\n\xc3", 3, "text", &vocabulary), YK_ERROR_INPUT,
                 "text:2:1: byte 0xc3 is not UTF-8; convert the text first");
    assert_fails(yk_character_vocabulary_build("a\0b", 3, "text", &vocabulary), YK_ERROR_INPUT,
                 "text:1:2: a zero byte: this is no text");
}

static void its_file_reads_back(void **state)
{
    (void)state;
    struct yk_character_vocabulary *vocabulary =
        build("\x01\t\n \"\\</abcdefghijklmnop\x7f\xc2\x80\xed\x95\x9c\xf0\x9f\x98\x80");
    struct yk_character_vocabulary *again = NULL;
    struct yk_text text = {0};
    struct yk_text written_again = {0};
    assert_ok(yk_character_vocabulary_to_json(vocabulary, &text));
    assert_ok(yk_character_vocabulary_parse(text.bytes, text.length, "file", &again));
    assert_int_equal(yk_character_vocabulary_count(again), 28);
    assert_ok(yk_character_vocabulary_to_json(again, &written_again));
    assert_string_equal(yk_text_chars(&written_again), yk_text_chars(&text));
    yk_text_free(&written_again);
    yk_text_free(&text);
    yk_character_vocabulary_destroy(again);
    yk_character_vocabulary_destroy(vocabulary);
}

static void its_file_looks_like_this(void **state)
{
    (void)state;
    struct yk_character_vocabulary *vocabulary = build("b a\n");
    struct yk_text text = {0};
    assert_ok(yk_character_vocabulary_to_json(vocabulary, &text));
    assert_string_equal(yk_text_chars(&text),
                        "{\n  \"yoke\": 1,\n  \"kind\": \"vocabulary\",\n  \"characters\": [\n"
                        "    \"\\n\", \" \", \"a\", \"b\"\n  ]\n}\n");
    yk_text_free(&text);
    yk_character_vocabulary_destroy(vocabulary);
}

#define FORM(characters) "{\"yoke\":1,\"kind\":\"vocabulary\",\"characters\":" characters "}"

static void files_of_the_wrong_form_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *message;
    } cases[] = {
        {FORM("[]"), "file: a vocabulary without characters"},
        {FORM("[\"b\", \"a\"]"),
         "file: U+0061 comes after U+0062; characters must be in rising order, none twice"},
        {FORM("[\"a\", \"a\"]"),
         "file: U+0061 comes after U+0061; characters must be in rising order, none twice"},
        {FORM("[\"a\", \"bc\"]"), "file: characters[1]: must be a string of one character"},
        {FORM("[\"\"]"), "file: characters[0]: must be a string of one character"},
        {FORM("[7]"), "file: characters[0]: must be a string of one character"},
        {FORM("\"ab\""), "file: \"characters\" must be a list, not a string"},
        {"{\"yoke\":1,\"kind\":\"plan\"}",
         "file: \"kind\" is \"plan\", but a \"vocabulary\" is needed here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yk_character_vocabulary *vocabulary = NULL;
        assert_fails(yk_character_vocabulary_parse(cases[i].json, strlen(cases[i].json), "file",
                                                   &vocabulary),
                     YK_ERROR_INPUT, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_numbered_by_code_point),
        cmocka_unit_test(text_becomes_ids_and_text_again),
        cmocka_unit_test(a_character_that_is_not_in_it_is_named_with_its_place),
        cmocka_unit_test(ids_beyond_the_vocabulary_are_skipped),
        cmocka_unit_test(what_is_no_text_makes_no_vocabulary),
        cmocka_unit_test(its_file_reads_back),
        cmocka_unit_test(its_file_looks_like_this),
        cmocka_unit_test(files_of_the_wrong_form_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
