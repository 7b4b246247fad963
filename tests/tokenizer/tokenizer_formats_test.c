/* Tokenizers in files of SentencePiece, GPT-2 and BERT, and what sentencepiece and transformers
 * make of some texts with them, recorded by tests/oracle/make_sentencepiece_fixtures.py, whose
 * first comment says what the folders hold. */
#include "support/files/scratch.h"
#include "support/support.h"

#include "base/file.h"
#include "base/json.h"
#include "tokenizer/formats/tokenizer_files.h"
#include "tokenizer/tokenizer_encoder.h"

#include <stdio.h>
#include <string.h>

static const char *const folders[] = {
    "unigram", "unigram-bytes", "unigram-rules", "bpe",     "bpe-bytes",   "bpe-spaces",
    "words",   "characters",    "symbols",       "llama",   "llama-first", "t5",
    "xlmr",    "camembert",     "gpt2",          "roberta", "bert",        "qwen2",
    "clip",
};

static void check_ids(const char *folder, const char *text, const struct yk_token_ids *given,
                      const struct yk_json *expected)
{
    struct yk_text words = {0};
    bool same = (size_t)given->count == yk_json_array_count(expected);
    for (int64_t i = 0; i < given->count; i++) {
        double id = -1;
        (void)yk_json_number_value(yk_json_array_at(expected, (size_t)i), &id);
        same = same && given->items[i] == (int32_t)id;
        yk_text_addf(&words, " %d", given->items[i]);
    }
    if (!same) {
        yk_text_add(&words, "; expected");
        for (size_t i = 0; i < yk_json_array_count(expected); i++) {
            double id = -1;
            (void)yk_json_number_value(yk_json_array_at(expected, i), &id);
            yk_text_addf(&words, " %.0f", id);
        }
        fail_msg("%s: \"%s\":%s", folder, text, yk_text_chars(&words));
    }
    yk_text_free(&words);
}

/* [text, ids, what they are decoded to, or null] */
static void check_case(const char *folder, const struct yk_tokenizer *tokenizer,
                       struct yk_tokenizer_encoder *encoder, const struct yk_json *node)
{
    const char *text = yk_json_string_value(yk_json_array_at(node, 0));
    const char *expected = yk_json_string_value(yk_json_array_at(node, 2));
    struct yk_token_ids ids = {0};
    struct yk_text decoded = {0};
    assert_non_null(text);
    assert_ok(yk_tokenizer_encoder_encode(encoder, text, strlen(text), folder,
                                          YK_ADD_SPECIAL_TOKENS_YES, &ids));
    check_ids(folder, text, &ids, yk_json_array_at(node, 1));
    assert_ok(yk_tokenizer_decode(tokenizer, ids.items, ids.count, false, &decoded));
    if (expected && strcmp(yk_text_chars(&decoded), expected) != 0) {
        fail_msg("%s: \"%s\" is decoded as \"%s\", expected \"%s\"", folder, text,
                 yk_text_chars(&decoded), expected);
    }
    yk_token_ids_free(&ids);
    yk_text_free(&decoded);
}

static void check_folder(const char *name)
{
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_json *root = NULL;
    struct yk_text path = {0};
    struct yk_text file = {0};
    yk_text_addf(&path, "%s/tokenizer/fixtures/formats/%s", TESTS_FOLDER, name);
    assert_ok(yk_tokenizer_open(path.bytes, &tokenizer));
    assert_string_equal(yk_tokenizer_file_name(tokenizer), "tokenizer.json");
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    yk_text_add(&path, "/cases.json");
    assert_ok(yk_file_read_document(path.bytes, &file));
    assert_ok(yk_json_parse(file.bytes, file.length, &root));
    const struct yk_json *cases = yk_json_get_member(root, "cases");
    assert_true(yk_json_array_count(cases) > 20);
    for (size_t i = 0; i < yk_json_array_count(cases); i++) {
        check_case(name, tokenizer, encoder, yk_json_array_at(cases, i));
    }
    yk_json_destroy(root);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
    yk_text_free(&file);
    yk_text_free(&path);
}

static void texts_have_the_ids_that_sentencepiece_and_transformers_give(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        check_folder(folders[i]);
    }
}

/* A SentencePiece model with the given bytes is refused with this message. */
#define ASSERT_REFUSED(bytes, expected)                                                            \
    do {                                                                                           \
        struct yk_tokenizer *refused_ = NULL;                                                      \
        char message_[512];                                                                        \
        const char *path_ = support_scratch_write("tokenizer.model", (bytes), sizeof(bytes) - 1);  \
        (void)snprintf(message_, sizeof message_, "%s: %s", path_, (expected));                    \
        assert_fails(yk_tokenizer_open(path_, &refused_), YK_ERROR_INPUT, message_);               \
    } while (0)

#define UNKNOWN "\012\x09\012\x05<unk>\x18\x02" /* a piece: text, type */
#define TOKEN_A                                                                                    \
    "\012\x08\012\x01"                                                                             \
    "a\x15\x00\x00\x80\xbf" /* text, score −1 */

static void files_that_are_no_sentencepiece_model_end_with_a_sentence(void **state)
{
    (void)state;
    ASSERT_REFUSED("", "not a SentencePiece model: there are no pieces in it");
    ASSERT_REFUSED("\x12\x00", "not a SentencePiece model: there are no pieces in it");
    ASSERT_REFUSED("IQ== 0\nIg== 1\n",
                   "this is a vocabulary of tiktoken, not a SentencePiece model; give the "
                   "tokenizer.json of the model");
    ASSERT_REFUSED("PK\x03\x04", "not a SentencePiece model: the field at byte 2 has the "
                                 "number 0");
}

static void truncated_models_end_with_a_sentence(void **state)
{
    (void)state;
    ASSERT_REFUSED(UNKNOWN "\012\x20"
                           "a",
                   "not a SentencePiece model: a field at byte 13 is 32 bytes long, more than "
                   "what follows (1)");
    ASSERT_REFUSED(UNKNOWN "\x80\x80",
                   "not a SentencePiece model: the file is truncated: a field at byte 11 is not "
                   "complete");
    ASSERT_REFUSED(UNKNOWN "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                   "not a SentencePiece model: the number at byte 12 has more than 64 bits");
    ASSERT_REFUSED(UNKNOWN "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                   "not a SentencePiece model: a field at byte 22 is 18446744073709551615 bytes "
                   "long, more than what follows (0)");
}

static void models_with_impossible_tokens_end_with_a_sentence(void **state)
{
    (void)state;
    ASSERT_REFUSED(TOKEN_A, "not a SentencePiece model: no piece stands for unknown characters");
    ASSERT_REFUSED(UNKNOWN UNKNOWN, "not a SentencePiece model: the pieces 0 and 1 are both "
                                    "unknown");
    ASSERT_REFUSED(UNKNOWN TOKEN_A TOKEN_A, "the token \"a\" stands there twice");
    ASSERT_REFUSED(UNKNOWN "\012\x00", "not a SentencePiece model: piece 1: it has no text");
    ASSERT_REFUSED(UNKNOWN "\012\x03\012\x01\xff",
                   "not a SentencePiece model: piece 1: its text is not UTF-8 or contains a zero");
    ASSERT_REFUSED(UNKNOWN "\012\x08\012\x01"
                           "a\x15\x00\x00\x80\x7f",
                   "not a SentencePiece model: piece 1: its score is not a finite number");
    ASSERT_REFUSED(UNKNOWN "\012\x05\012\x01"
                           "a\x18\x09",
                   "not a SentencePiece model: piece 1: its type is 9, where 1 to 6 are known");
    ASSERT_REFUSED(UNKNOWN "\x12\x03\x98\x02\x01",
                   "not a SentencePiece model: byte_fallback needs a piece for each byte, but "
                   "there is no <0x00>");
    ASSERT_REFUSED(UNKNOWN "\x12\x03\xc0\x01\x01",
                   "not a SentencePiece model: treat_whitespace_as_suffix is not supported");
}

static void add_varint(struct yk_text *out, int number)
{
    for (; number >= 128; number >>= 7) {
        yk_text_add_bytes(out, &(char){(char)(number | 0x80)}, 1);
    }
    yk_text_add_bytes(out, &(char){(char)number}, 1);
}

/* Of n pieces "a", "aa", … each is a merge of any two shorter ones: n³/3 bytes in all. */
static void too_many_merges_end_with_a_sentence(void **state)
{
    enum {
        MOST = 600
    };
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_text bytes = {0};
    char message[512];
    (void)state;
    yk_text_add_bytes(&bytes, UNKNOWN, sizeof UNKNOWN - 1);
    for (int length = 1; length <= MOST; length++) {
        const int coded = length < 128 ? 1 : 2; /* bytes of a number below 2¹⁴ */
        const int all = 1 + coded + length;
        yk_text_add(&bytes, "\012");
        add_varint(&bytes, all);
        yk_text_add(&bytes, "\012");
        add_varint(&bytes, length);
        yk_text_add_repeated(&bytes, "a", (size_t)length);
    }
    yk_text_add(&bytes, "\x12\x02\x18\x02"); /* the kind of model: BPE */
    const char *path = support_scratch_write("tokenizer.model", bytes.bytes, bytes.length);
    (void)snprintf(message, sizeof message, "%s: its pieces are too long to find the merges", path);
    assert_fails(yk_tokenizer_open(path, &tokenizer), YK_ERROR_INPUT, message);
    yk_text_free(&bytes);
}

/* A model of the class in the folder of the test is refused; `advice` ends the message. */
static void assert_class_refused(const char *class_name, const char *file, const char *advice)
{
    struct yk_tokenizer *tokenizer = NULL;
    char config[128];
    char message[512];
    (void)snprintf(config, sizeof config, "{\"tokenizer_class\": \"%s\"}", class_name);
    (void)support_scratch_write_text("tokenizer_config.json", config);
    const char *path = support_scratch_write(file, UNKNOWN TOKEN_A, sizeof UNKNOWN TOKEN_A - 1);
    (void)snprintf(message, sizeof message,
                   "%s: the ids of %s are not supported without a tokenizer.json%s", path,
                   class_name, advice);
    assert_fails(yk_tokenizer_open(path, &tokenizer), YK_ERROR_INPUT, message);
}

static void classes_with_ids_of_their_own_are_refused(void **state)
{
    (void)state;
    assert_class_refused("MBartTokenizer", "tokenizer.model",
                         ", which transformers write with save_pretrained()");
    assert_class_refused("FNetTokenizer", "spiece.model",
                         ", which transformers write with save_pretrained()");
    assert_class_refused("MarianTokenizer", "source.spm",
                         "; learn one for the texts with yoke tokenize --learn");
    /* XLM's vocab.json has characters for bytes, and MPNet frames texts with other tokens. */
    (void)support_scratch_write_text("merges.txt", "");
    assert_class_refused("XLMTokenizer", "vocab.json",
                         "; save_pretrained() of transformers writes one for most classes");
    assert_class_refused("MPNetTokenizer", "vocab.txt",
                         "; save_pretrained() of transformers writes one for most classes");
}

static void assert_class_encodes(const char *class_name, const char *text, const char *expected)
{
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    struct yk_text given = {0};
    char config[128];
    (void)snprintf(config, sizeof config, "{\"tokenizer_class\": \"%s\"}", class_name);
    (void)support_scratch_write_text("tokenizer_config.json", config);
    assert_ok(yk_tokenizer_open(support_scratch_folder(), &tokenizer));
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_ok(yk_tokenizer_encoder_encode(encoder, text, strlen(text), class_name,
                                          YK_ADD_SPECIAL_TOKENS_YES, &ids));
    for (int64_t i = 0; i < ids.count; i++) {
        yk_text_addf(&given, " %d", ids.items[i]);
    }
    assert_string_equal(yk_text_chars(&given), expected);
    yk_text_free(&given);
    yk_token_ids_free(&ids);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
}

/* The ids that AutoTokenizer gives: it reads LED's files as RoBERTa's, CodeGen's as GPT-2's. */
static void classes_of_one_kind_give_the_same_ids(void **state)
{
    (void)state;
    static const char vocabulary[] = "{\"<s>\": 0, \"<pad>\": 1, \"</s>\": 2, \"<unk>\": 3, "
                                     "\"a\": 4, \"b\": 5, \"ab\": 6, \"<mask>\": 7, "
                                     "\"<|endoftext|>\": 8, \"\u00c3\": 9, \"\u00a9\": 10}";
    (void)support_scratch_write_text("vocab.json", vocabulary);
    (void)support_scratch_write_text("merges.txt", "#version: 0.2\na b\n");
    static const char *const roberta[] = {"RobertaTokenizer", "BartTokenizer",
                                          "LEDTokenizer",     "LongformerTokenizer",
                                          "MvpTokenizer",     "LEDTokenizerFast"};
    static const char *const gpt2[] = {"GPT2Tokenizer", "CodeGenTokenizer",
                                       "PreTrainedTokenizerFast"};
    for (size_t i = 0; i < sizeof roberta / sizeof *roberta; i++) {
        assert_class_encodes(roberta[i], "aba<mask>", " 0 6 4 7 2");
    }
    for (size_t i = 0; i < sizeof gpt2 / sizeof *gpt2; i++) {
        assert_class_encodes(gpt2[i], "aba<|endoftext|>e\u0301", " 6 4 8");
    }
    /* It composes characters: e and its accent become the bytes 0xC3 and 0xA9, tokens 9 and 10. */
    assert_class_encodes("GPTNeoXTokenizerFast", "aba<|endoftext|>e\u0301", " 6 4 8 9 10");
}

/* The ids that transformers gives with each of them. */
static void classes_like_bert_give_the_same_ids(void **state)
{
    (void)state;
    static const char *const names[] = {
        "BertTokenizer",     "ConvBertTokenizer",   "DistilBertTokenizer", "ElectraTokenizerFast",
        "LayoutLMTokenizer", "LxmertTokenizerFast", "MobileBertTokenizer", "SqueezeBertTokenizer",
    };
    (void)support_scratch_write_text("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_class_encodes(names[i], "AB c [MASK]", " 2 5 6 1 4 3");
    }
}

/* transformers write it for every tokenizer without a limit. */
static void a_length_beyond_64_bits_in_a_config_is_read(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = NULL;
    static const char config[] = "{\"model_max_length\": 1000000000000000019884624838656}";
    (void)support_scratch_write_text("tokenizer_config.json", config);
    assert_ok(yk_tokenizer_open(
        support_scratch_write("tokenizer.model", UNKNOWN TOKEN_A, sizeof UNKNOWN TOKEN_A - 1),
        &tokenizer));
    assert_int_equal(yk_tokenizer_vocabulary_size(tokenizer), 2);
    yk_tokenizer_destroy(tokenizer);
}

/* transformers fails with each of these, too. */
static void members_of_a_config_have_the_right_types(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        const char *text;
        const char *message;
    } cases[] = {
        {"tokenizer_config.json", "[]", "it must be an object, not a list"},
        {"tokenizer_config.json", "{\"do_lower_case\": \"no\"}",
         "\"do_lower_case\" must be true or false, not a string"},
        {"tokenizer_config.json", "{\"do_lower_case\": null}",
         "\"do_lower_case\" must be true or false, not null"},
        {"tokenizer_config.json", "{\"strip_accents\": \"no\"}",
         "\"strip_accents\" must be true, false or null, not a string"},
        {"tokenizer_config.json", "{\"added_tokens_decoder\": [5]}",
         "\"added_tokens_decoder\" must be an object, not a list"},
        {"special_tokens_map.json", "[\"[UNK]\"]", "it must be an object, not a list"},
    };
    struct yk_tokenizer *tokenizer = NULL;
    const char *folder = support_scratch_folder();
    (void)support_scratch_write_text("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[512];
        const char *path = support_scratch_write_text(cases[i].file, cases[i].text);
        (void)snprintf(message, sizeof message, "%s: %s", path, cases[i].message);
        assert_fails(yk_tokenizer_open(folder, &tokenizer), YK_ERROR_INPUT, message);
        (void)support_scratch_write_text(cases[i].file, "{}");
    }
    /* Members of other types that real files have are ignored. */
    (void)support_scratch_write_text("tokenizer_config.json",
                                     "{\"do_lower_case\": false, \"strip_accents\": null, "
                                     "\"add_bos_token\": null, \"tokenize_chinese_chars\": 1, "
                                     "\"extra_special_tokens\": {}, \"added_tokens_decoder\": {}}");
    assert_ok(yk_tokenizer_open(folder, &tokenizer));
    assert_int_equal(yk_tokenizer_vocabulary_size(tokenizer), 6);
    yk_tokenizer_destroy(tokenizer);
}

static void lines_of_merges_are_checked(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = NULL;
    const char *folder = support_scratch_folder();
    static const char vocabulary[] = "{\"a\": 0, \"b\": 1, \"ab\": 2}";
    static const char merges[] = "#version: 0.2\na b\nab\n";
    char message[512];
    (void)support_scratch_write_text("merges.txt", merges);
    const char *path = support_scratch_write_text("vocab.json", vocabulary);
    (void)snprintf(message, sizeof message,
                   "%s: merges.txt: line 3 must be two tokens with a space between them", path);
    assert_fails(yk_tokenizer_open(folder, &tokenizer), YK_ERROR_INPUT, message);
}

static void a_folder_is_searched_in_the_order_of_the_formats(void **state)
{
    (void)state;
    const char *folder = support_scratch_folder();
    static const char *const names[] = {"vocabulary.json", "vocab.txt",           "vocab.json",
                                        "spm.model",       "sentencepiece.model", "tokenizer.model",
                                        "tokenizer.json"};
    assert_null(yk_tokenizer_files_find(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)support_scratch_write_text(names[i], "");
        /* vocab.json without merges.txt is no tokenizer */
        const char *expected = strcmp(names[i], "vocab.json") == 0 ? "vocab.txt" : names[i];
        assert_string_equal(yk_tokenizer_files_find(folder), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_the_ids_that_sentencepiece_and_transformers_give),
        cmocka_unit_test_setup_teardown(files_that_are_no_sentencepiece_model_end_with_a_sentence,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(truncated_models_end_with_a_sentence, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test_setup_teardown(models_with_impossible_tokens_end_with_a_sentence,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(too_many_merges_end_with_a_sentence, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test_setup_teardown(classes_with_ids_of_their_own_are_refused,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(classes_of_one_kind_give_the_same_ids, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test_setup_teardown(classes_like_bert_give_the_same_ids, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test_setup_teardown(a_length_beyond_64_bits_in_a_config_is_read,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(members_of_a_config_have_the_right_types,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(lines_of_merges_are_checked, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test_setup_teardown(a_folder_is_searched_in_the_order_of_the_formats,
                                        support_scratch_make, support_scratch_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
