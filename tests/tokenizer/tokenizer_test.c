#include "support/files/scratch.h"
#include "support/support.h"

#include "tokenizer/tokenizer_encoder.h"

#include <stdio.h>
#include <string.h>

/* Byte-level BPE of a few letters: parts of a tokenizer.json that tests put together. */
#define VOCAB "\"a\": 0, \"b\": 1, \"ab\": 2, \"\\u0120\": 3"
#define MODEL "\"model\": {\"type\": \"BPE\", \"vocab\": {" VOCAB "}, \"merges\": [\"a b\"]}"
#define BYTE_LEVEL "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}"
#define DECODER "\"decoder\": {\"type\": \"ByteLevel\"}"
#define PLAIN "{" BYTE_LEVEL ", " DECODER ", " MODEL "}"

static struct yk_tokenizer *read_json(const char *json)
{
    struct yk_tokenizer *tokenizer = NULL;
    assert_ok(yk_tokenizer_parse(json, strlen(json), "t.json", &tokenizer));
    return tokenizer;
}

static struct yk_token_ids encode(const struct yk_tokenizer *tokenizer, const char *text,
                                  enum yk_add_special_tokens framing)
{
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_ok(yk_tokenizer_encoder_encode(encoder, text, strlen(text), "text", framing, &ids));
    yk_tokenizer_encoder_destroy(encoder);
    return ids;
}

static void assert_ids(const struct yk_tokenizer *tokenizer, const char *text,
                       enum yk_add_special_tokens framing, const int32_t *expected, int64_t count)
{
    struct yk_token_ids ids = encode(tokenizer, text, framing);
    assert_int_equal(ids.count, count);
    if (count > 0) {
        assert_memory_equal(ids.items, expected, (size_t)count * sizeof *expected);
    }
    yk_token_ids_free(&ids);
}

static void assert_decoded(const struct yk_tokenizer *tokenizer, const int32_t *ids, int64_t count,
                           bool bare, const char *expected)
{
    struct yk_text text = {0};
    assert_ok(yk_tokenizer_decode(tokenizer, ids, count, bare, &text));
    assert_string_equal(yk_text_chars(&text), expected);
    yk_text_free(&text);
}

static void refuse(const char *json, const char *message)
{
    struct yk_tokenizer *tokenizer = NULL;
    assert_fails(yk_tokenizer_parse(json, strlen(json), "t.json", &tokenizer), YK_ERROR_INPUT,
                 message);
    assert_null(tokenizer);
}

static void a_tokenizer_describes_itself(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = read_json(PLAIN);
    struct yk_text words = {0};
    yk_tokenizer_append_description(tokenizer, &words);
    assert_string_equal(words.bytes, "byte-level BPE, 4 tokens");
    words.length = 0;
    yk_tokenizer_append_file_contents(tokenizer, &words);
    assert_string_equal(words.bytes, PLAIN);
    assert_string_equal(yk_tokenizer_file_name(tokenizer), "tokenizer.json");
    assert_int_equal(yk_tokenizer_vocabulary_size(tokenizer), 4);
    assert_int_equal(yk_tokenizer_find_token_id(tokenizer, "ab"), 2);
    assert_int_equal(yk_tokenizer_find_token_id(tokenizer, "ba"), -1);
    assert_null(yk_tokenizer_get_character_vocabulary(tokenizer));
    for (int role = 0; role < YK_TOKEN_ROLE_COUNT; role++) {
        assert_int_equal(yk_tokenizer_find_role_id(tokenizer, (enum yk_token_role)role), -1);
    }
    yk_text_free(&words);
    yk_tokenizer_destroy(tokenizer);
    yk_tokenizer_destroy(NULL);
    yk_tokenizer_encoder_destroy(NULL);
}

static void roles_are_known_by_their_names(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = read_json(
        "{\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", \"vocab\": {\"[PAD]\": 0, "
        "\"[UNK]\": 1, \"[CLS]\": 2, \"[SEP]\": 3, \"[MASK]\": 4, \"a\": 9}}}");
    static const int32_t expected[YK_TOKEN_ROLE_COUNT] = {
        [YK_TOKEN_PAD] = 0,  [YK_TOKEN_UNKNOWN] = 1, [YK_TOKEN_BEGIN] = 2,    [YK_TOKEN_END] = 3,
        [YK_TOKEN_MASK] = 4, [YK_TOKEN_CLASS] = 2,   [YK_TOKEN_SEPARATOR] = 3};
    for (int role = 0; role < YK_TOKEN_ROLE_COUNT; role++) {
        assert_int_equal(yk_tokenizer_find_role_id(tokenizer, (enum yk_token_role)role),
                         expected[role]);
    }
    assert_int_equal(yk_tokenizer_vocabulary_size(tokenizer), 10);
    struct yk_text words = {0};
    yk_tokenizer_append_description(tokenizer, &words);
    assert_string_equal(words.bytes, "WordPiece, 6 tokens");
    yk_text_free(&words);
    yk_tokenizer_destroy(tokenizer);

    tokenizer = read_json("{" BYTE_LEVEL ", " MODEL ", \"added_tokens\": ["
                          "{\"id\": 4, \"content\": \"<|begin_of_text|>\"},"
                          "{\"id\": 5, \"content\": \"<|end_of_text|>\"},"
                          "{\"id\": 6, \"content\": \"<|finetune_right_pad_id|>\"}]}");
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_BEGIN), 4);
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_END), 5);
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_PAD), 6);
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_CLASS), -1);
    assert_int_equal(yk_tokenizer_vocabulary_size(tokenizer), 7);
    yk_tokenizer_destroy(tokenizer);
}

static void characters_are_a_tokenizer_too(void **state)
{
    (void)state;
    struct yk_character_vocabulary *vocabulary = NULL;
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_text words = {0};
    struct yk_text file = {0};
    struct yk_token_ids ids = {0};
    assert_ok(yk_character_vocabulary_build("ab\n", 3, "text", &vocabulary));
    assert_ok(yk_tokenizer_create_character_level(vocabulary, &tokenizer));
    assert_ok(yk_character_vocabulary_to_json(vocabulary, &file));
    yk_character_vocabulary_destroy(vocabulary);
    yk_tokenizer_append_file_contents(tokenizer, &words);
    assert_string_equal(words.bytes, file.bytes);
    assert_string_equal(yk_tokenizer_file_name(tokenizer), "vocabulary.json");
    words.length = 0;
    yk_tokenizer_append_description(tokenizer, &words);
    assert_string_equal(words.bytes, "characters, 3 tokens");
    assert_int_equal(yk_tokenizer_find_token_id(tokenizer, "b"), 2);
    assert_int_equal(yk_tokenizer_find_token_id(tokenizer, "ba"), -1);
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_END), -1);
    assert_int_equal(
        yk_character_vocabulary_count(yk_tokenizer_get_character_vocabulary(tokenizer)), 3);
    assert_ids(tokenizer, "ba\n", YK_ADD_SPECIAL_TOKENS_YES, (int32_t[]){2, 1, 0}, 3);
    assert_decoded(tokenizer, (int32_t[]){2, -1, 3, 1}, 4, true, "ba");
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_fails(yk_tokenizer_encoder_encode(encoder, "ab\nac", 5, "new.txt",
                                             YK_ADD_SPECIAL_TOKENS_NO, &ids),
                 YK_ERROR_INPUT, "new.txt:2:2: \"c\" (U+0063) is not in the vocabulary");
    yk_tokenizer_encoder_destroy(encoder);
    yk_token_ids_free(&ids);
    yk_text_free(&words);
    yk_text_free(&file);
    yk_tokenizer_destroy(tokenizer);
}

static void text_must_be_utf8_but_may_hold_zeros(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = read_json(PLAIN);
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_fails(yk_tokenizer_encoder_encode(encoder, "a\nb\xff", 4, "new.txt",
                                             YK_ADD_SPECIAL_TOKENS_NO, &ids),
                 YK_ERROR_INPUT, "new.txt:2:2: byte 0xff is not UTF-8; convert the text first");
    assert_fails(yk_tokenizer_encoder_encode(encoder, "a\0\xc3", 3, "new.txt",
                                             YK_ADD_SPECIAL_TOKENS_NO, &ids),
                 YK_ERROR_INPUT, "new.txt:1:3: byte 0xc3 is not UTF-8; convert the text first");
    ids.count = 0;
    assert_ok(
        yk_tokenizer_encoder_encode(encoder, "a\0b", 3, "new.txt", YK_ADD_SPECIAL_TOKENS_NO, &ids));
    assert_int_equal(ids.count, 2); /* this one has no token for a zero */
    yk_token_ids_free(&ids);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
}

/* What Rust's String::from_utf8_lossy() gives. */
static void bytes_that_are_no_utf8_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *token; /* letters of bytes */
        const char *text;
    } cases[] = {
        {"\xc3\x83\xc2\xa9", "\xc3\xa9"},                                     /* c3 a9 */
        {"\xc3\x83", "\xef\xbf\xbd"},                                         /* c3 */
        {"\xc3\x83x", "\xef\xbf\xbdx"},                                       /* c3 78 */
        {"\xc3\xa2\xc4\xa4x", "\xef\xbf\xbdx"},                               /* e2 82 78 */
        {"\xc3\xa0\xc4\xa2", "\xef\xbf\xbd\xef\xbf\xbd"},                     /* e0 80 */
        {"\xc3\xad\xc5\x82\xc4\xa2", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* ed a0 80 */
        {"\xc3\xb0\xc5\x81\xc4\xba", "\xef\xbf\xbd"},                         /* f0 9f 98 */
        {"\xc3\xb4\xc4\xb2\xc4\xa2\xc4\xa2",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* f4 90 80 80 */
        {"\xc3\xbf\xc3\x80", "\xef\xbf\xbd\xef\xbf\xbd"},     /* ff c0 */
        {"\xe6\xbc\xa2", "\xe6\xbc\xa2"}, /* no letters of bytes: stands for itself */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yk_text json = {0};
        yk_text_addf(&json,
                     "{" BYTE_LEVEL ", " DECODER ", \"model\": {\"type\": \"BPE\", \"vocab\": "
                     "{\"%s\": 0}, \"merges\": []}}",
                     cases[i].token);
        struct yk_tokenizer *tokenizer = read_json(json.bytes);
        assert_decoded(tokenizer, (int32_t[]){0}, 1, false, cases[i].text);
        yk_tokenizer_destroy(tokenizer);
        yk_text_free(&json);
    }
}

static void ids_of_nothing_and_special_tokens_are_left_out(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer =
        read_json("{" BYTE_LEVEL ", " DECODER ", " MODEL ", \"added_tokens\": ["
                  "{\"id\": 4, \"content\": \"<x>\", \"special\": true},"
                  "{\"id\": 5, \"content\": \"<y>\", \"special\": false}]}");
    static const int32_t ids[] = {-1, 2, 4, 3, 5, 6, INT32_MAX, 0};
    assert_decoded(tokenizer, ids, 8, false, "ab<x> <y>a");
    assert_decoded(tokenizer, ids, 8, true, "ab <y>a");
    yk_tokenizer_destroy(tokenizer);
    tokenizer = read_json("{" BYTE_LEVEL ", " MODEL "}");
    assert_decoded(tokenizer, ids, 8, true, "ab \xc4\xa0 a");
    assert_decoded(tokenizer, ids, 0, true, "");
    yk_tokenizer_destroy(tokenizer);
}

/* The expected values are those of tokenizers 0.23.2. */
static void the_last_of_added_tokens_with_one_name_counts(void **state)
{
    (void)state;
#define TOKEN(words) "{\"id\": 4, \"content\": \"x\", " words "}"
#define TWICE(first, second)                                                                       \
    "{" BYTE_LEVEL ", " MODEL ", \"added_tokens\": [" TOKEN(first) ", " TOKEN(second) "]}"
    static const int32_t stripped[] = {2, 4, 3, 0};
    static const int32_t whole[] = {2, 3, 4, 3, 0};
    struct yk_tokenizer *tokenizer =
        read_json(TWICE("\"special\": true, \"normalized\": false",
                        "\"special\": false, \"normalized\": false, \"lstrip\": true"));
    assert_ids(tokenizer, "ab x a", YK_ADD_SPECIAL_TOKENS_NO, stripped, 4);
    assert_decoded(tokenizer, stripped, 4, true, "ab \xc4\xa0 a");
    assert_int_equal(yk_tokenizer_vocabulary_size(tokenizer), 5);
    yk_tokenizer_destroy(tokenizer);
    tokenizer = read_json(TWICE("\"special\": false, \"normalized\": true, \"lstrip\": true",
                                "\"special\": true, \"normalized\": false"));
    assert_ids(tokenizer, "ab x a", YK_ADD_SPECIAL_TOKENS_NO, whole, 5);
    assert_decoded(tokenizer, whole, 5, true, "ab \xc4\xa0 \xc4\xa0 a");
    yk_tokenizer_destroy(tokenizer);
#undef TWICE
#undef TOKEN
}

/* As above, for a text with zeros. */
static void tokens_may_contain_zeros(void **state)
{
    (void)state;
    static const char text[] = {'a', 0, 0, 'b'};
    static const int32_t expected[] = {3, 2, 0};
    struct yk_tokenizer *tokenizer =
        read_json("{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": ["
                  "[\"<unk>\", 0], [\"a\", -1], [\"\\u0000\", -2], [\"a\\u0000\", -2.5]]}}");
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    struct yk_text decoded = {0};
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_ok(yk_tokenizer_encoder_encode(encoder, text, sizeof text, "text",
                                          YK_ADD_SPECIAL_TOKENS_NO, &ids));
    assert_int_equal(ids.count, 3);
    assert_memory_equal(ids.items, expected, sizeof expected);
    assert_ok(yk_tokenizer_decode(tokenizer, expected, 3, false, &decoded));
    assert_int_equal(decoded.length, strlen("a. . <unk>"));
    assert_memory_equal(decoded.bytes, "a\0 \0 <unk>", decoded.length);
    yk_text_free(&decoded);
    yk_token_ids_free(&ids);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
}

static void special_tokens_are_added_around_a_text_where_asked_for(void **state)
{
    (void)state;
    static const char *const frames[] = {
        "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"x\"}}, "
        "{\"Sequence\": {\"id\": \"A\"}}, {\"SpecialToken\": {\"id\": \"y\"}}], "
        "\"special_tokens\": {\"x\": {\"ids\": [3]}, \"y\": {\"ids\": [1]}}}",
        "{\"type\": \"BertProcessing\", \"cls\": [\"x\", 3], \"sep\": [\"y\", 1]}",
        "{\"type\": \"Sequence\", \"processors\": [{\"type\": \"ByteLevel\"}, {\"type\": "
        "\"RobertaProcessing\", \"cls\": [\"x\", 3], \"sep\": [\"y\", 1]}]}",
    };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct yk_text json = {0};
        yk_text_addf(&json, "{" BYTE_LEVEL ", " MODEL ", \"post_processor\": %s}", frames[i]);
        struct yk_tokenizer *tokenizer = read_json(json.bytes);
        assert_ids(tokenizer, "aab", YK_ADD_SPECIAL_TOKENS_YES, (int32_t[]){3, 0, 2, 1}, 4);
        assert_ids(tokenizer, "aab", YK_ADD_SPECIAL_TOKENS_NO, (int32_t[]){0, 2}, 2);
        assert_ids(tokenizer, "", YK_ADD_SPECIAL_TOKENS_YES, (int32_t[]){3, 1}, 2);
        assert_ids(tokenizer, "", YK_ADD_SPECIAL_TOKENS_NO, NULL, 0);
        yk_tokenizer_destroy(tokenizer);
        yk_text_free(&json);
    }
}

static void a_folder_gives_its_tokenizer(void **state)
{
    (void)state;
    static const char characters[] =
        "{\"yoke\": 1, \"kind\": \"vocabulary\", \"characters\": [\"a\"]}";
    struct yk_tokenizer *tokenizer = NULL;
    const char *folder = support_scratch_folder();
    char message[256];
    (void)snprintf(message, sizeof message,
                   "%s: there is no tokenizer in it (tokenizer.json, tokenizer.model, vocab.json "
                   "with merges.txt, vocab.txt, vocabulary.json)",
                   folder);
    assert_fails(yk_tokenizer_open(folder, &tokenizer), YK_ERROR_INPUT, message);

    (void)support_scratch_write_text("vocabulary.json", characters);
    assert_ok(yk_tokenizer_open(folder, &tokenizer));
    assert_string_equal(yk_tokenizer_file_name(tokenizer), "vocabulary.json");
    yk_tokenizer_destroy(tokenizer);

    (void)support_scratch_write_text("tokenizer.json", PLAIN);
    assert_ok(yk_tokenizer_open(folder, &tokenizer));
    assert_string_equal(yk_tokenizer_file_name(tokenizer), "tokenizer.json");
    yk_tokenizer_destroy(tokenizer);
    assert_ok(yk_tokenizer_open(support_scratch_path("vocabulary.json"), &tokenizer));
    assert_non_null(yk_tokenizer_get_character_vocabulary(tokenizer));
    yk_tokenizer_destroy(tokenizer);
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = NULL;
    char message[256];
    const char *path = support_scratch_write_text("tokenizer.json", "{\"model\": {}}");
    (void)snprintf(message, sizeof message,
                   "%s: model: this must be an object with a \"type\", which is a string", path);
    assert_fails(yk_tokenizer_open(support_scratch_folder(), &tokenizer), YK_ERROR_INPUT, message);
    assert_int_equal(yk_tokenizer_open(support_scratch_path("none"), &tokenizer), YK_ERROR_INPUT);
    assert_null(tokenizer);
}

/* A token of n ids that is added n times would take n² of them. */
static void special_tokens_beyond_any_text_are_refused(void **state)
{
    enum {
        COUNT = 300
    };
    struct yk_text json = {0};
    (void)state;
    yk_text_addf(&json, "{" BYTE_LEVEL ", " MODEL ", \"post_processor\": "
                        "{\"type\": \"TemplateProcessing\", \"single\": [");
    yk_text_add_repeated(&json, "{\"SpecialToken\": {\"id\": \"x\"}}, ", COUNT);
    yk_text_add(&json,
                "{\"Sequence\": {\"id\": \"A\"}}], \"special_tokens\": {\"x\": {\"ids\": [3");
    yk_text_add_repeated(&json, ", 3", COUNT - 1);
    yk_text_add(&json, "]}}}}");
    refuse(json.bytes,
           "t.json: post_processor: \"single\" adds more than 65536 ids to a side of a text");
    yk_text_free(&json);
}

static void parts_that_are_not_known_are_refused_by_name(void **state)
{
    (void)state;
    refuse("{}", "t.json: neither a tokenizer, which has a \"model\", nor a vocabulary, which has "
                 "\"characters\"");
    refuse("{\"model\": {\"type\": \"Bigram\"}}",
           "t.json: model: \"Bigram\" is not supported; it must be \"BPE\", \"Unigram\", "
           "\"WordPiece\" or \"WordLevel\"");
    refuse("{" MODEL ", \"pre_tokenizer\": {\"type\": \"Other\"}}",
           "t.json: pre_tokenizer: \"Other\" is not supported; known are ByteLevel, Split, Digits, "
           "Metaspace, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, "
           "UnicodeScripts, BertPreTokenizer, FixedLength and Sequence");
    refuse("{" MODEL ", \"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"a\"}, "
           "\"behavior\": \"Moved\"}}",
           "t.json: pre_tokenizer: the behavior \"Moved\" of Split is not supported; it must be "
           "\"Removed\", \"Isolated\", \"MergedWithPrevious\", \"MergedWithNext\" or "
           "\"Contiguous\"");
    refuse("{" BYTE_LEVEL ", " MODEL ", \"decoder\": {\"type\": \"Other\"}}",
           "t.json: decoder: \"Other\" is not supported; known are ByteLevel, WordPiece, "
           "Metaspace, ByteFallback, Fuse, Strip, Replace, BPEDecoder, CTC and Sequence");
    refuse("{" BYTE_LEVEL ", " MODEL ", \"post_processor\": {\"type\": \"Other\"}}",
           "t.json: post_processor: \"Other\" is not supported");
    refuse("{" BYTE_LEVEL ", " MODEL ", \"post_processor\": {\"type\": \"BertProcessing\", "
           "\"cls\": [\"x\", 4], \"sep\": [\"y\", 1]}}",
           "t.json: post_processor: an id must be a whole number from 0 to 3");
}

static void hostile_vocabularies_are_refused(void **state)
{
    (void)state;
#define VOCABULARY(words)                                                                          \
    "{" BYTE_LEVEL ", \"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": " words "}}"
    refuse(VOCABULARY("{\"a\": 0, \"b\": 0}"),
           "t.json: model: \"a\" and \"b\" have the same id, 0");
    refuse(VOCABULARY("{\"a\": -1}"),
           "t.json: model: the id of \"a\" is -1, where 0 to 4194303 are allowed");
    refuse(VOCABULARY("{\"a\": 2147483648}"),
           "t.json: model: the id of \"a\" is 2147483648, where 0 to 4194303 are allowed");
    refuse(VOCABULARY("{\"a\": 0.5}"), "t.json: model: the id of \"a\" must be a whole number");
    refuse(VOCABULARY("{}"), "t.json: model: \"vocab\" is empty");
    refuse(VOCABULARY("[]"), "t.json: model: \"vocab\" must be an object of tokens and ids, not a "
                             "list");
#undef VOCABULARY
}

static void hostile_added_tokens_are_refused(void **state)
{
    (void)state;
#define ADDED(words) "{" BYTE_LEVEL ", " MODEL ", \"added_tokens\": " words "}"
    refuse(ADDED("7"), "t.json: added_tokens: this must be a list, not a number");
    refuse(ADDED("[{\"id\": 7, \"content\": \"x\"}]"),
           "t.json: added_tokens: the id of \"x\" is 7, but as the next after \"vocab\" it has 4");
    refuse(ADDED("[{\"id\": 4, \"content\": \"ab\"}]"),
           "t.json: added_tokens: the id of \"ab\" is 4, but as a token of \"vocab\" it has 2");
    refuse(ADDED("[{\"id\": 4, \"content\": \"x\"}, {\"id\": 5, \"content\": \"x\"}]"),
           "t.json: added_tokens: the id of \"x\" is 5, but as an earlier added token it has 4");
    refuse(ADDED("[{\"id\": 4}]"),
           "t.json: added_tokens: this must be an object with a \"content\"");
    refuse(ADDED("[{\"id\": 4, \"content\": \"x\", \"special\": 1}]"),
           "t.json: added_tokens: \"special\" must be true or false, not a number");
#undef ADDED
}

static void a_pattern_that_never_ends_stops_with_a_sentence(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = read_json(
        "{" MODEL ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
        "\"Split\", \"pattern\": {\"Regex\": \"(a+)+(a+)+(a+)+b(?=c)\"}, \"behavior\": "
        "\"Isolated\"}, {\"type\": \"ByteLevel\"}]}}");
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    char text[60];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 'b';
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_fails(yk_tokenizer_encoder_encode(encoder, text, sizeof text, "new.txt",
                                             YK_ADD_SPECIAL_TOKENS_NO, &ids),
                 YK_ERROR_INPUT,
                 "new.txt: the tokenizer's pattern that cuts words takes too long on this text");
    yk_token_ids_free(&ids);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tokenizer_describes_itself),
        cmocka_unit_test(roles_are_known_by_their_names),
        cmocka_unit_test(characters_are_a_tokenizer_too),
        cmocka_unit_test(text_must_be_utf8_but_may_hold_zeros),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(ids_of_nothing_and_special_tokens_are_left_out),
        cmocka_unit_test(the_last_of_added_tokens_with_one_name_counts),
        cmocka_unit_test(tokens_may_contain_zeros),
        cmocka_unit_test(special_tokens_are_added_around_a_text_where_asked_for),
        cmocka_unit_test(special_tokens_beyond_any_text_are_refused),
        cmocka_unit_test_setup_teardown(a_folder_gives_its_tokenizer, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_named, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test(parts_that_are_not_known_are_refused_by_name),
        cmocka_unit_test(hostile_vocabularies_are_refused),
        cmocka_unit_test(hostile_added_tokens_are_refused),
        cmocka_unit_test(a_pattern_that_never_ends_stops_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
