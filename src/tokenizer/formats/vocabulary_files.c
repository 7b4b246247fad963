#include "tokenizer/formats/vocabulary_files.h"

#include "base/json.h"
#include "tokenizer/formats/tokenizer_json.h"
#include "tokenizer/regex/word_pattern.h"
#include "tokenizer/token_map.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define VOCABULARY_JSON "vocab.json"
#define MERGES_FILE "merges.txt"
#define VOCABULARY_TEXT "vocab.txt"

enum {
    SHOWN_BYTES = 60,
    MOST_NAMES = 12
};

/* Classes that say nothing about the ids. */
#define GENERIC_CLASSES "", "PreTrainedTokenizer", "TokenizersBackend"

/* What the classes of transformers add to the files. */
static const struct tokenizer_class {
    const char *names[MOST_NAMES]; /* a NULL after the last */
    const char *normalizer;        /* JSON; NULL: none */
    const char *word_pattern;      /* NULL: GPT-2's words */
    const char *pre_tokenizer;     /* JSON; instead of a word pattern */
    const char *suffix;            /* of the last token of a word */
    const char *decoder;           /* JSON; NULL: ByteLevel */
    const char *begin; /* before each text, if it is not NULL; config may name another */
    const char *end;   /* after each text */
    bool class_names;  /* they are the cls_token and the sep_token of the config */
    const char *mask;  /* the space before it belongs to it */
    const char *unknown;
} classes[] = {
    {.names = {GENERIC_CLASSES, "GPT2Tokenizer", "CodeGenTokenizer"}, .suffix = ""},
    {.names = {"GPTNeoXTokenizer"}, .suffix = "", .normalizer = "{\"type\":\"NFC\"}"},
    {.names = {"RobertaTokenizer", "BartTokenizer", "LEDTokenizer", "LongformerTokenizer",
               "MvpTokenizer"},
     .suffix = "",
     .begin = "<s>",
     .end = "</s>",
     .mask = "<mask>",
     .class_names = true},
    {.names = {"DebertaTokenizer"},
     .suffix = "",
     .begin = "[CLS]",
     .end = "[SEP]",
     .mask = "[MASK]",
     .class_names = true},
    {.names = {"Qwen2Tokenizer"},
     .suffix = "",
     .normalizer = "{\"type\":\"NFC\"}",
     .word_pattern = yk_word_pattern_qwen2},
    {.names = {"CLIPTokenizer"},
     .suffix = "</w>",
     .decoder =
         "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteLevel\"},{\"type\":\"Replace\","
         "\"pattern\":{\"String\":\"</w>\"},\"content\":\" \"},{\"type\":\"Strip\",\"content\":"
         "\" \",\"start\":1000000,\"stop\":1000000}]}",
     .begin = "<|startoftext|>",
     .end = "<|endoftext|>",
     .unknown = "<|endoftext|>",
     .normalizer =
         "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Replace\","
         "\"pattern\":{\"Regex\":\"\\\\s+\"},\"content\":\" \"},{\"type\":\"Lowercase\"}]}",
     .pre_tokenizer =
         "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":"
         "\"<\\\\|startoftext\\\\|>|<\\\\|endoftext\\\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\\\p{L}]+|"
         "[\\\\p{N}]|[^\\\\s\\\\p{L}\\\\p{N}]+\"},\"behavior\":\"Removed\",\"invert\":true},"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,"
         "\"use_regex\":true}]}"},
};

/* They all read vocab.txt in one way. */
static const char *const bert_classes[MOST_NAMES] = {
    GENERIC_CLASSES,       "BertTokenizer",       "ConvBertTokenizer",
    "DistilBertTokenizer", "ElectraTokenizer",    "LayoutLMTokenizer",
    "LxmertTokenizer",     "MobileBertTokenizer", "SqueezeBertTokenizer",
};

struct conversion {
    const struct yk_tokenizer_config *config;
    const struct tokenizer_class *class;
    struct yk_arena *arena;
    struct yk_token_map *vocabulary;
    int32_t count; /* ids of the vocabulary itself are below */
    struct yk_tokenizer_json_tokens added;
    struct yk_json_writer writer;
};

static bool is_named(const struct yk_tokenizer_config *config, const char *const names[MOST_NAMES])
{
    for (int i = 0; i < MOST_NAMES && names[i]; i++) {
        if (strcmp(config->class_name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Other classes read the same files in other ways: as characters, with other words or tokens. */
static yk_status fail_class(const struct yk_tokenizer_config *config)
{
    return yk_fail(YK_ERROR_INPUT,
                   "the ids of %s are not supported without a tokenizer.json; save_pretrained() "
                   "of transformers writes one for most classes",
                   config->class_name);
}

static yk_status find_class(const struct yk_tokenizer_config *config,
                            const struct tokenizer_class **out)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (is_named(config, classes[i].names)) {
            *out = &classes[i];
            return YK_OK;
        }
    }
    return fail_class(config);
}

static yk_status read_vocabulary(struct conversion *c, const struct yk_json *root)
{
    struct yk_json_member_iterator member = {0};
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object of tokens and ids, not %s",
                       yk_json_type_name(root));
    }
    while (yk_json_next_member(root, &member)) {
        double id = 0;
        if (!yk_json_number_value(member.value, &id) || id != trunc(id) || fabs(id) >= 0x1p53) {
            return yk_fail(YK_ERROR_INPUT, "the id of \"%.*s\" must be a whole number", SHOWN_BYTES,
                           member.name);
        }
        YK_TRY(yk_token_map_add(c->vocabulary, member.name, strlen(member.name), (int64_t)id));
    }
    c->count = yk_token_map_id_limit(c->vocabulary);
    return c->count > 0 ? YK_OK : yk_fail(YK_ERROR_INPUT, "there are no tokens in it");
}

/* A token of the file that is special in its class. */
static yk_status add_special(struct conversion *c, const char *text, bool strip_left)
{
    struct yk_config_token *token = NULL;
    const int32_t id = text ? yk_token_map_find_id(c->vocabulary, text, strlen(text)) : -1;
    if (id < 0) {
        return YK_OK;
    }
    YK_TRY_NEW(c->arena, token, 1);
    *token =
        (struct yk_config_token){.text = text, .id = id, .special = true, .strip_left = strip_left};
    return yk_tokenizer_json_add_token(&c->added, token);
}

/* The special tokens of a class need not be in the config. */
static yk_status add_class_tokens(struct conversion *c)
{
    static const char *const framed[] = {"<pad>", "<unk>", "[PAD]", "[UNK]"};
    if (!c->class->begin) {
        return add_special(c, "<|endoftext|>", false);
    }
    YK_TRY(add_special(c, c->class->begin, false));
    YK_TRY(add_special(c, c->class->end, false));
    YK_TRY(add_special(c, c->class->mask, true));
    for (size_t i = 0; i < sizeof framed / sizeof *framed; i++) {
        YK_TRY(add_special(c, framed[i], false));
    }
    return YK_OK;
}

static void write_vocabulary(struct conversion *c)
{
    size_t length = 0;
    yk_json_write_begin_object(&c->writer, "vocab");
    for (int32_t i = 0; i < c->count; i++) {
        const char *token = yk_token_map_get_token(c->vocabulary, i, &length);
        if (token) {
            yk_json_write_integer(&c->writer, token, i);
        }
    }
    yk_json_write_end_object(&c->writer);
}

/* Writes the lines of merges.txt: two tokens with a space between them. The first line may be a
 * comment with the version. */
static yk_status write_merges(struct conversion *c, const struct yk_text *merges)
{
    const char *at = yk_text_chars(merges);
    struct yk_text line = {0};
    yk_status status = YK_OK;
    yk_json_write_begin_array(&c->writer, "merges");
    for (int64_t number = 1; *at && status == YK_OK; number++) {
        const size_t length = strcspn(at, "\n");
        const size_t shown = length > 0 && at[length - 1] == '\r' ? length - 1 : length;
        line.length = 0;
        yk_text_add_bytes(&line, at, shown);
        at += length + (at[length] == '\n');
        const char *text = yk_text_chars(&line);
        if (shown == 0 || (number == 1 && strncmp(text, "#version", strlen("#version")) == 0)) {
            continue;
        }
        const char *space = strchr(text, ' ');
        if (!space || space == text || !space[1] || strchr(space + 1, ' ')) {
            status = yk_fail(YK_ERROR_INPUT,
                             MERGES_FILE ": line %" PRId64
                                         " must be two tokens with a space between them",
                             number);
            break;
        }
        yk_json_write_string(&c->writer, NULL, text);
    }
    yk_json_write_end_array(&c->writer);
    YK_IF_OK(yk_text_status(&line));
    yk_text_free(&line);
    return status;
}

static yk_status write_frame(struct conversion *c)
{
    const struct tokenizer_class *class = c->class;
    const enum yk_named_token first =
        class->class_names ? YK_NAMED_TOKEN_CLASS : YK_NAMED_TOKEN_BEGIN;
    const enum yk_named_token last =
        class->class_names ? YK_NAMED_TOKEN_SEPARATOR : YK_NAMED_TOKEN_END;
    const bool begins =
        yk_tokenizer_config_get(c->config, YK_TOKENIZER_ADD_BEGIN, class->begin != NULL);
    const bool ends = yk_tokenizer_config_get(c->config, YK_TOKENIZER_ADD_END, class->end != NULL);
    const struct yk_tokenizer_json_frame frame = {
        .before = {begins ? yk_tokenizer_config_get_name(c->config, first, class->begin) : NULL},
        .after = {ends ? yk_tokenizer_config_get_name(c->config, last, class->end) : NULL},
    };
    return yk_tokenizer_json_write_frame(&c->writer, &frame, c->vocabulary);
}

static yk_status write_bpe(struct conversion *c, const struct yk_text *merges)
{
    const struct yk_tokenizer_json_byte_level byte_level = {
        .add_prefix_space =
            yk_tokenizer_config_get(c->config, YK_TOKENIZER_ADD_PREFIX_SPACE, false),
        .trim_offsets = true,
        .use_regex = true,
    };
    yk_tokenizer_json_begin(&c->writer, &c->added);
    yk_json_write_raw(&c->writer, "normalizer",
                      c->class->normalizer ? c->class->normalizer : "null");
    if (c->class->pre_tokenizer) {
        yk_json_write_raw(&c->writer, "pre_tokenizer", c->class->pre_tokenizer);
    } else if (c->class->word_pattern) {
        yk_tokenizer_json_write_word_pattern(&c->writer, "pre_tokenizer", c->class->word_pattern);
    } else {
        yk_tokenizer_json_write_byte_level(&c->writer, "pre_tokenizer", byte_level);
    }
    YK_TRY(write_frame(c));
    if (c->class->decoder) {
        yk_json_write_raw(&c->writer, "decoder", c->class->decoder);
    } else {
        yk_tokenizer_json_write_byte_level(&c->writer, "decoder", byte_level);
    }
    yk_json_write_begin_object(&c->writer, "model");
    yk_json_write_string(&c->writer, "type", "BPE");
    yk_json_write_null(&c->writer, "dropout");
    yk_json_write_string(&c->writer, "unk_token", c->class->unknown);
    yk_json_write_string(&c->writer, "continuing_subword_prefix", "");
    yk_json_write_string(&c->writer, "end_of_word_suffix", c->class->suffix);
    yk_json_write_bool(&c->writer, "fuse_unk", false);
    yk_json_write_bool(&c->writer, "byte_fallback", false);
    write_vocabulary(c);
    YK_TRY(write_merges(c, merges));
    yk_json_write_end_object(&c->writer);
    yk_json_write_end_object(&c->writer);
    return yk_text_status(c->writer.text);
}

static yk_status convert_bpe(struct conversion *c, const struct yk_text *vocabulary,
                             const struct yk_text *merges)
{
    YK_TRY(find_class(c->config, &c->class));
    if (memchr(yk_text_chars(merges), '\0', merges->length)) {
        return yk_fail(YK_ERROR_INPUT, MERGES_FILE ": there is a zero in it");
    }
    YK_TRY_WITH_PARSED_FOREIGN_JSON(root, yk_text_chars(vocabulary), vocabulary->length,
                                    VOCABULARY_JSON, read_vocabulary(c, root));
    YK_TRY(add_class_tokens(c));
    YK_TRY(yk_tokenizer_json_add_config(&c->added, c->config, c->vocabulary, c->arena));
    return write_bpe(c, merges);
}

/* Adds the lines of vocab.txt. Like transformers, keeps empty lines, which count as ids. */
static yk_status read_lines(struct conversion *c, const struct yk_text *vocabulary)
{
    const char *at = yk_text_chars(vocabulary);
    if (memchr(at, '\0', vocabulary->length)) {
        return yk_fail(YK_ERROR_INPUT, "there is a zero in it");
    }
    for (int64_t id = 0; *at; id++) {
        const size_t length = strcspn(at, "\n");
        const size_t used = length > 0 && at[length - 1] == '\r' ? length - 1 : length;
        if (used > 0) {
            YK_TRY(yk_token_map_add(c->vocabulary, at, used, id));
        }
        at += length + (at[length] == '\n');
    }
    c->count = yk_token_map_id_limit(c->vocabulary);
    return c->count > 0 ? YK_OK : yk_fail(YK_ERROR_INPUT, "there are no tokens in it");
}

static void write_bert_normalizer(struct conversion *c)
{
    const int8_t accents = c->config->given[YK_TOKENIZER_STRIP_ACCENTS];
    yk_json_write_begin_object(&c->writer, "normalizer");
    yk_json_write_string(&c->writer, "type", "BertNormalizer");
    yk_json_write_bool(&c->writer, "clean_text", true);
    yk_json_write_bool(&c->writer, "handle_chinese_chars",
                       yk_tokenizer_config_get(c->config, YK_TOKENIZER_SPLIT_CHINESE, true));
    yk_json_write_raw(&c->writer, "strip_accents",
                      accents == 0  ? "null"
                      : accents > 0 ? "true"
                                    : "false");
    yk_json_write_bool(&c->writer, "lowercase",
                       yk_tokenizer_config_get(c->config, YK_TOKENIZER_LOWERCASE, true));
    yk_json_write_end_object(&c->writer);
}

static yk_status write_wordpiece(struct conversion *c, const char *const *names)
{
    const struct yk_tokenizer_json_frame frame = {.before = {names[YK_NAMED_TOKEN_CLASS]},
                                                  .after = {names[YK_NAMED_TOKEN_SEPARATOR]}};
    yk_tokenizer_json_begin(&c->writer, &c->added);
    write_bert_normalizer(c);
    yk_json_write_raw(&c->writer, "pre_tokenizer", "{\"type\":\"BertPreTokenizer\"}");
    YK_TRY(yk_tokenizer_json_write_frame(&c->writer, &frame, c->vocabulary));
    yk_json_write_raw(&c->writer, "decoder",
                      "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}");
    yk_json_write_begin_object(&c->writer, "model");
    yk_json_write_string(&c->writer, "type", "WordPiece");
    yk_json_write_string(&c->writer, "unk_token", names[YK_NAMED_TOKEN_UNKNOWN]);
    yk_json_write_string(&c->writer, "continuing_subword_prefix", "##");
    yk_json_write_integer(&c->writer, "max_input_chars_per_word", 100);
    write_vocabulary(c);
    yk_json_write_end_object(&c->writer);
    yk_json_write_end_object(&c->writer);
    return yk_text_status(c->writer.text);
}

static yk_status convert_wordpiece(struct conversion *c, const struct yk_text *vocabulary)
{
    static const char *const usual[YK_NAMED_TOKEN_COUNT] = {
        [YK_NAMED_TOKEN_UNKNOWN] = "[UNK]", [YK_NAMED_TOKEN_SEPARATOR] = "[SEP]",
        [YK_NAMED_TOKEN_PADDING] = "[PAD]", [YK_NAMED_TOKEN_CLASS] = "[CLS]",
        [YK_NAMED_TOKEN_MASK] = "[MASK]",
    };
    const char *names[YK_NAMED_TOKEN_COUNT];
    if (!is_named(c->config, bert_classes)) {
        return fail_class(c->config);
    }
    YK_TRY(yk_status_prefix_message(read_lines(c, vocabulary), VOCABULARY_TEXT));
    for (int i = 0; i < YK_NAMED_TOKEN_COUNT; i++) {
        names[i] = yk_tokenizer_config_get_name(c->config, (enum yk_named_token)i, usual[i]);
        YK_TRY(add_special(c, names[i], false));
    }
    YK_TRY(yk_tokenizer_json_add_config(&c->added, c->config, c->vocabulary, c->arena));
    return write_wordpiece(c, names);
}

yk_status yk_vocabulary_files_bpe_to_json(const struct yk_text *vocabulary,
                                          const struct yk_text *merges,
                                          const struct yk_tokenizer_config *config,
                                          struct yk_arena *arena, struct yk_text *out)
{
    struct conversion conversion = {.config = config, .arena = arena, .writer.text = out};
    yk_status status = yk_token_map_create(&conversion.vocabulary);
    YK_IF_OK(convert_bpe(&conversion, vocabulary, merges));
    yk_token_map_destroy(conversion.vocabulary);
    yk_tokenizer_json_tokens_free(&conversion.added);
    return status;
}

yk_status yk_vocabulary_files_wordpiece_to_json(const struct yk_text *vocabulary,
                                                const struct yk_tokenizer_config *config,
                                                struct yk_arena *arena, struct yk_text *out)
{
    struct conversion conversion = {.config = config, .arena = arena, .writer.text = out};
    yk_status status = yk_token_map_create(&conversion.vocabulary);
    YK_IF_OK(convert_wordpiece(&conversion, vocabulary));
    yk_token_map_destroy(conversion.vocabulary);
    yk_tokenizer_json_tokens_free(&conversion.added);
    return status;
}
