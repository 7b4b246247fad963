#include "tokenizer/formats/sentencepiece_json.h"

#include "tokenizer/formats/sentencepiece_merges.h"
#include "tokenizer/formats/tokenizer_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPACE_MARK "▁"

enum {
    T5_EXTRA_IDS = 100,
    MAX_OWN_TOKENS = 5
};

/* The tokens around a text. */
enum frame {
    FRAME_NONE,
    FRAME_BEGIN,           /* begin; none of its tokens if add_bos_token is false */
    FRAME_END,             /* end */
    FRAME_BEGIN_END,       /* begin, end */
    FRAME_CLASS_SEPARATOR, /* [CLS], [SEP] */
    FRAME_SEPARATOR_CLASS, /* both after the text */
};

/* What the classes of transformers add to a SentencePiece model. */
static const struct tokenizer_class {
    const char *name;
    const char *mask; /* a token that follows the pieces, or NULL */
    /* Tokens that take the place of the first pieces, and how many pieces they replace. */
    const char *own[MAX_OWN_TOKENS];
    int32_t replaced;
    int32_t unknown; /* the number of the unknown token in `own` */
    enum frame frame;
    bool extra_ids;  /* <extra_id_99> to <extra_id_0> follow the pieces */
    bool plain_text; /* texts are in small letters without accents, quotes are ASCII's */
} classes[] = {
    {.name = "LlamaTokenizer", .frame = FRAME_BEGIN},
    {.name = "CodeLlamaTokenizer", .frame = FRAME_BEGIN},
    {.name = "GemmaTokenizer", .frame = FRAME_BEGIN},
    {.name = "T5Tokenizer", .frame = FRAME_END, .extra_ids = true},
    {.name = "AlbertTokenizer", .frame = FRAME_CLASS_SEPARATOR, .plain_text = true},
    {.name = "XLNetTokenizer", .frame = FRAME_SEPARATOR_CLASS, .plain_text = true},
    {.name = "DebertaV2Tokenizer", .frame = FRAME_CLASS_SEPARATOR, .mask = "[MASK]"},
    {.name = "BigBirdTokenizer", .frame = FRAME_CLASS_SEPARATOR},
    {.name = "RemBertTokenizer", .frame = FRAME_CLASS_SEPARATOR},
    {.name = "XLMRobertaTokenizer",
     .frame = FRAME_BEGIN_END,
     .own = {"<s>", "<pad>", "</s>", "<unk>"},
     .replaced = 3,
     .unknown = 3,
     .mask = "<mask>"},
    {.name = "CamembertTokenizer",
     .frame = FRAME_BEGIN_END,
     .own = {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"},
     .replaced = 1,
     .unknown = 3,
     .mask = "<mask>"},
};

/* These have ids of their own, languages, or other rules for texts. Of some, transformers write a
 * tokenizer.json. */
static const struct {
    const char *name;
    bool is_written;
} unsupported_classes[] = {
    {"BarthezTokenizer", true},     {"BartphoTokenizer", false}, {"BertJapaneseTokenizer", false},
    {"CpmTokenizer", false},        {"ErnieMTokenizer", false},  {"FNetTokenizer", true},
    {"GPTSw3Tokenizer", false},     {"LasrTokenizer", true},     {"LayoutXLMTokenizer", true},
    {"M2M100Tokenizer", false},     {"MarianTokenizer", false},  {"MBart50Tokenizer", true},
    {"MBartTokenizer", true},       {"MLukeTokenizer", true},    {"NllbTokenizer", true},
    {"PegasusTokenizer", true},     {"PLBartTokenizer", false},  {"ReformerTokenizer", true},
    {"SeamlessM4TTokenizer", true}, {"SiglipTokenizer", false},  {"Speech2TextTokenizer", false},
    {"SpeechT5Tokenizer", false},   {"Tipsv2Tokenizer", true},   {"UdopTokenizer", true},
    {"VideoPrismTokenizer", true},  {"XGLMTokenizer", true},     {"XLMProphetNetTokenizer", false},
};

struct conversion {
    const struct yk_sentencepiece_model *model;
    const struct yk_tokenizer_config *config;
    const struct tokenizer_class *class;
    struct yk_arena *arena;
    struct yk_sentencepiece *entries; /* the vocabulary by id: pieces and tokens of the class */
    int32_t count;
    int32_t unknown_id;
    struct yk_token_map *vocabulary;
    struct yk_tokenizer_json_tokens added;
    struct yk_sentencepiece_merges merges;
    struct yk_json_writer writer;
};

static yk_status find_class(const struct yk_tokenizer_config *config,
                            const struct tokenizer_class **out)
{
    static const struct tokenizer_class none = {.frame = FRAME_NONE};
    for (size_t i = 0; i < sizeof unsupported_classes / sizeof *unsupported_classes; i++) {
        if (strcmp(config->class_name, unsupported_classes[i].name) == 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "the ids of %s are not supported without a tokenizer.json%s",
                           unsupported_classes[i].name,
                           unsupported_classes[i].is_written
                               ? ", which transformers write with save_pretrained()"
                               : "; learn one for the texts with yoke tokenize --learn");
        }
    }
    *out = &none;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(config->class_name, classes[i].name) == 0) {
            *out = &classes[i];
        }
    }
    return YK_OK;
}

static yk_status add_entry(struct conversion *c, const char *text, float score,
                           enum yk_sentencepiece_type type)
{
    const size_t length = strlen(text);
    YK_TRY(yk_token_map_add(c->vocabulary, text, length, c->count));
    c->entries[c->count++] = (struct yk_sentencepiece){text, length, score, type};
    return YK_OK;
}

/* A token of the config may name a piece anew, such as one that was kept free for it. Sets
 * `*out` to the names by id, of which most are NULL. */
static yk_status list_names(const struct conversion *c, int32_t count, const char ***out)
{
    YK_TRY_NEW(c->arena, *out, count);
    for (int32_t i = 0; i < c->config->token_count; i++) {
        const struct yk_config_token *token = &c->config->tokens[i];
        if (token->id >= 0 && token->id < count) {
            (*out)[token->id] = token->text;
        }
    }
    return YK_OK;
}

static yk_status add_model_tokens(struct conversion *c)
{
    const char **names = NULL;
    YK_TRY(list_names(c, c->count + c->model->count, &names));
    for (int32_t i = c->class->replaced; i < c->model->count; i++) {
        const struct yk_sentencepiece *token = &c->model->tokens[i];
        const bool may_change =
            token->type != YK_SENTENCEPIECE_NORMAL && token->type != YK_SENTENCEPIECE_BYTE;
        const char *name = may_change ? names[c->count] : NULL;
        YK_TRY(add_entry(c, name ? name : token->text, token->score, token->type));
    }
    return YK_OK;
}

static yk_status add_extra_ids(struct conversion *c, int64_t extra)
{
    for (int64_t i = extra - 1; i >= 0; i--) {
        const char *name = yk_arena_format(c->arena, "<extra_id_%" PRId64 ">", i);
        YK_TRY_ALLOCATED(name);
        if (yk_token_map_find_id(c->vocabulary, name, strlen(name)) < 0) {
            YK_TRY(add_entry(c, name, 0, YK_SENTENCEPIECE_CONTROL));
        }
    }
    return YK_OK;
}

/* Lists the vocabulary by id. */
static yk_status list_entries(struct conversion *c)
{
    const struct tokenizer_class *class = c->class;
    const int64_t given = c->config->extra_ids;
    const int64_t extra = !class->extra_ids ? 0 : given >= 0 ? given : T5_EXTRA_IDS;
    if (class->replaced > c->model->count) {
        return yk_fail(YK_ERROR_INPUT, "a %s has more than %" PRId32 " pieces", class->name,
                       c->model->count);
    }
    YK_TRY_NEW(c->arena, c->entries, c->model->count + MAX_OWN_TOKENS + 1 + extra);
    for (int i = 0; i < MAX_OWN_TOKENS && class->own[i]; i++) {
        YK_TRY(
            add_entry(c, class->own[i], 0,
                      i == class->unknown ? YK_SENTENCEPIECE_UNKNOWN : YK_SENTENCEPIECE_CONTROL));
    }
    YK_TRY(add_model_tokens(c));
    c->unknown_id = class->own[0] ? class->unknown : c->model->unknown_id;
    if (class->mask && yk_token_map_find_id(c->vocabulary, class->mask, strlen(class->mask)) < 0) {
        YK_TRY(add_entry(c, class->mask, 0, YK_SENTENCEPIECE_CONTROL));
    }
    return add_extra_ids(c, extra);
}

static yk_status list_added_tokens(struct conversion *c)
{
    for (int32_t i = 0; i < c->count; i++) {
        const enum yk_sentencepiece_type type = c->entries[i].type;
        const bool special = type == YK_SENTENCEPIECE_CONTROL || type == YK_SENTENCEPIECE_UNKNOWN;
        const bool symbol =
            type == YK_SENTENCEPIECE_USER_DEFINED && c->model->kind != YK_SENTENCEPIECE_UNIGRAM;
        if (!special && !symbol) {
            continue;
        }
        struct yk_config_token *token = NULL;
        YK_TRY_NEW(c->arena, token, 1);
        token->text = c->entries[i].text;
        token->id = i;
        token->special = special;
        /* The space before a masked word belongs to the mask. */
        token->strip_left = c->class->own[0] && strcmp(token->text, "<mask>") == 0;
        YK_TRY(yk_tokenizer_json_add_token(&c->added, token));
    }
    return yk_tokenizer_json_add_config(&c->added, c->config, c->vocabulary, c->arena);
}

static bool adds_prefix(const struct conversion *c)
{
    return yk_tokenizer_config_get(c->config, YK_TOKENIZER_ADD_PREFIX_SPACE, c->model->add_prefix);
}

static bool has_user_defined_tokens(const struct yk_sentencepiece_model *model)
{
    bool found = false;
    for (int32_t i = 0; i < model->count && model->kind != YK_SENTENCEPIECE_UNIGRAM; i++) {
        found |= model->tokens[i].type == YK_SENTENCEPIECE_USER_DEFINED;
    }
    return found;
}

/* Whether only the first part of a text, which added tokens split, gets a space. User-defined
 * pieces, such as punctuation, are added tokens here, but do not split the text for SentencePiece.
 */
static bool adds_prefix_once(const struct conversion *c)
{
    return adds_prefix(c) && (!yk_tokenizer_config_get(c->config, YK_TOKENIZER_LEGACY, true) ||
                              has_user_defined_tokens(c->model));
}

/* Whether no piece goes beyond a space, so that a text can be split at its spaces. */
static bool can_split(const struct conversion *c)
{
    for (int32_t i = 0; i < c->model->count; i++) {
        const struct yk_sentencepiece *token = &c->model->tokens[i];
        if (token->type != YK_SENTENCEPIECE_CONTROL && token->length > 1 &&
            strstr(token->text + 1, SPACE_MARK)) {
            return false;
        }
    }
    return true;
}

static void write_type(struct conversion *c, const char *key, const char *type)
{
    yk_json_write_begin_object(&c->writer, key);
    yk_json_write_string(&c->writer, "type", type);
}

static void write_bare_type(struct conversion *c, const char *type)
{
    write_type(c, NULL, type);
    yk_json_write_end_object(&c->writer);
}

/* `kind` is "String" or "Regex". */
static void write_replace(struct conversion *c, const char *kind, const char *pattern,
                          const char *content)
{
    write_type(c, NULL, "Replace");
    yk_json_write_begin_object(&c->writer, "pattern");
    yk_json_write_string(&c->writer, kind, pattern);
    yk_json_write_end_object(&c->writer);
    yk_json_write_string(&c->writer, "content", content);
    yk_json_write_end_object(&c->writer);
}

/* What transformers do with a text before SentencePiece gets it. */
static void write_preparation(struct conversion *c)
{
    const bool albert = c->class->frame == FRAME_CLASS_SEPARATOR && c->class->plain_text;
    if (c->class->plain_text) {
        write_replace(c, "String", "``", "\"");
        write_replace(c, "String", "''", "\"");
        if (!yk_tokenizer_config_get(c->config, YK_TOKENIZER_KEEP_ACCENTS, false)) {
            write_bare_type(c, "NFKD");
            write_bare_type(c, "StripAccents");
        }
    }
    if (yk_tokenizer_config_get(c->config, YK_TOKENIZER_LOWERCASE, albert)) {
        write_bare_type(c, "Lowercase");
    }
}

static void write_normalizer(struct conversion *c)
{
    const struct yk_sentencepiece_model *model = c->model;
    write_type(c, "normalizer", "Sequence");
    yk_json_write_begin_array(&c->writer, "normalizers");
    write_preparation(c);
    if (model->character_map_length > 0) {
        write_type(c, NULL, "Precompiled");
        yk_tokenizer_json_write_base64(&c->writer, "precompiled_charsmap", model->character_map,
                                       model->character_map_length);
        yk_json_write_end_object(&c->writer);
    }
    if (model->remove_extra_spaces) {
        write_replace(c, "Regex", " {2,}", " ");
        write_replace(c, "Regex", "\\A | \\z", "");
    }
    if (adds_prefix(c) && !adds_prefix_once(c)) {
        write_type(c, NULL, "Prepend");
        yk_json_write_string(&c->writer, "prepend", SPACE_MARK);
        yk_json_write_end_object(&c->writer);
    }
    if (!adds_prefix_once(c)) {
        write_replace(c, "String", " ", SPACE_MARK);
    }
    yk_json_write_end_array(&c->writer);
    yk_json_write_end_object(&c->writer);
}

static void write_pre_tokenizer(struct conversion *c)
{
    const bool split = c->model->kind == YK_SENTENCEPIECE_WORD || can_split(c);
    if (!split && !adds_prefix_once(c)) {
        yk_json_write_null(&c->writer, "pre_tokenizer");
        return;
    }
    write_type(c, "pre_tokenizer", "Metaspace");
    yk_json_write_string(&c->writer, "replacement", SPACE_MARK);
    yk_json_write_string(&c->writer, "prepend_scheme", adds_prefix_once(c) ? "first" : "never");
    yk_json_write_bool(&c->writer, "split", split);
    yk_json_write_end_object(&c->writer);
}

static void write_decoder(struct conversion *c)
{
    write_type(c, "decoder", "Sequence");
    yk_json_write_begin_array(&c->writer, "decoders");
    write_replace(c, "String", SPACE_MARK, " ");
    if (c->model->byte_fallback) {
        write_bare_type(c, "ByteFallback");
    }
    write_bare_type(c, "Fuse");
    if (adds_prefix(c)) {
        write_type(c, NULL, "Strip");
        yk_json_write_string(&c->writer, "content", " ");
        yk_json_write_integer(&c->writer, "start", 1);
        yk_json_write_integer(&c->writer, "stop", 0);
        yk_json_write_end_object(&c->writer);
    }
    yk_json_write_end_array(&c->writer);
    yk_json_write_end_object(&c->writer);
}

static yk_status write_frame(struct conversion *c)
{
    const struct yk_tokenizer_config *config = c->config;
    const enum frame frame = c->class->frame;
    const char *begin = yk_tokenizer_config_get_name(config, YK_NAMED_TOKEN_BEGIN, c->model->begin);
    const char *end = yk_tokenizer_config_get_name(config, YK_NAMED_TOKEN_END, c->model->end);
    const bool classes_too = frame == FRAME_CLASS_SEPARATOR || frame == FRAME_SEPARATOR_CLASS;
    const bool xlnet = frame == FRAME_SEPARATOR_CLASS;
    if (classes_too) {
        begin =
            yk_tokenizer_config_get_name(config, YK_NAMED_TOKEN_CLASS, xlnet ? "<cls>" : "[CLS]");
        end = yk_tokenizer_config_get_name(config, YK_NAMED_TOKEN_SEPARATOR,
                                           xlnet ? "<sep>" : "[SEP]");
    }
    const bool fixed = frame == FRAME_BEGIN_END || classes_too;
    const bool begins =
        fixed || yk_tokenizer_config_get(config, YK_TOKENIZER_ADD_BEGIN, frame == FRAME_BEGIN);
    const bool ends =
        fixed || yk_tokenizer_config_get(config, YK_TOKENIZER_ADD_END, frame == FRAME_END);
    const struct yk_tokenizer_json_frame tokens = {
        .before = {begins && !xlnet ? begin : NULL},
        .after = {ends ? end : NULL, xlnet ? begin : NULL},
    };
    return yk_tokenizer_json_write_frame(&c->writer, &tokens, c->vocabulary);
}

struct score_range {
    double min;
    double max;
};

static struct score_range find_scores(const struct conversion *c)
{
    struct score_range range = {INFINITY, -INFINITY};
    for (int32_t i = 0; i < c->count; i++) {
        if (c->entries[i].type == YK_SENTENCEPIECE_NORMAL) {
            range.min = fmin(range.min, (double)c->entries[i].score);
            range.max = fmax(range.max, (double)c->entries[i].score);
        }
    }
    return range;
}

/* A user-defined piece gets the score that SentencePiece gives it instead of its own, so that it is
 * better than any split of its text. The lowest score of all stays, because that of unknown
 * characters follows from it. */
static double score_of(const struct yk_sentencepiece *token, struct score_range range)
{
    if (token->type != YK_SENTENCEPIECE_USER_DEFINED || range.max < range.min) {
        return (double)token->score;
    }
    size_t characters = 0;
    for (size_t i = 0; i < token->length; i++) {
        characters += ((unsigned char)token->text[i] & 0xc0) != 0x80;
    }
    return fmax((double)characters * range.max - 0.1, range.min);
}

static void write_unigram(struct conversion *c)
{
    const struct score_range range = find_scores(c);
    yk_json_write_string(&c->writer, "type", "Unigram");
    yk_json_write_integer(&c->writer, "unk_id", c->unknown_id);
    yk_json_write_bool(&c->writer, "byte_fallback", c->model->byte_fallback);
    yk_json_write_begin_array(&c->writer, "vocab");
    for (int32_t i = 0; i < c->count; i++) {
        yk_json_write_begin_array(&c->writer, NULL);
        yk_json_write_string(&c->writer, NULL, c->entries[i].text);
        yk_json_write_number(&c->writer, NULL, score_of(&c->entries[i], range));
        yk_json_write_end_array(&c->writer);
    }
    yk_json_write_end_array(&c->writer);
}

static void write_vocabulary(struct conversion *c)
{
    yk_json_write_begin_object(&c->writer, "vocab");
    for (int32_t i = 0; i < c->count; i++) {
        yk_json_write_integer(&c->writer, c->entries[i].text, i);
    }
    yk_json_write_end_object(&c->writer);
}

/* A merge as an array of its halves, which may contain spaces. */
static yk_status write_merge(struct conversion *c, const struct yk_sentencepiece_merge *merge)
{
    const struct yk_sentencepiece *token = &c->model->tokens[merge->token];
    struct yk_text left = {0};
    yk_text_add_bytes(&left, token->text, merge->left_length);
    yk_json_write_begin_array(&c->writer, NULL);
    yk_json_write_string(&c->writer, NULL, yk_text_chars(&left));
    yk_json_write_string(&c->writer, NULL, token->text + merge->left_length);
    yk_json_write_end_array(&c->writer);
    const yk_status status = yk_text_status(&left);
    yk_text_free(&left);
    return status;
}

/* A model of characters is a BPE without merges. */
static yk_status write_bpe(struct conversion *c)
{
    if (c->model->kind == YK_SENTENCEPIECE_BPE) {
        YK_TRY(yk_sentencepiece_merges_find(c->model, c->vocabulary, &c->merges));
    }
    yk_json_write_string(&c->writer, "type", "BPE");
    yk_json_write_null(&c->writer, "dropout");
    yk_json_write_string(&c->writer, "unk_token", c->entries[c->unknown_id].text);
    yk_json_write_null(&c->writer, "continuing_subword_prefix");
    yk_json_write_null(&c->writer, "end_of_word_suffix");
    yk_json_write_bool(&c->writer, "fuse_unk", true);
    yk_json_write_bool(&c->writer, "byte_fallback", c->model->byte_fallback);
    write_vocabulary(c);
    yk_json_write_begin_array(&c->writer, "merges");
    for (int32_t i = 0; i < c->merges.count; i++) {
        YK_TRY(write_merge(c, &c->merges.items[i]));
    }
    yk_json_write_end_array(&c->writer);
    return YK_OK;
}

static yk_status write_model(struct conversion *c)
{
    const enum yk_sentencepiece_kind kind = c->model->kind;
    yk_status status = YK_OK;
    yk_json_write_begin_object(&c->writer, "model");
    if (kind == YK_SENTENCEPIECE_UNIGRAM) {
        write_unigram(c);
    } else if (kind == YK_SENTENCEPIECE_WORD) {
        yk_json_write_string(&c->writer, "type", "WordLevel");
        write_vocabulary(c);
        yk_json_write_string(&c->writer, "unk_token", c->entries[c->unknown_id].text);
    } else {
        status = write_bpe(c);
    }
    yk_json_write_end_object(&c->writer);
    return status;
}

static yk_status convert(struct conversion *c)
{
    YK_TRY(find_class(c->config, &c->class));
    if (c->class->own[0] && c->model->kind != YK_SENTENCEPIECE_UNIGRAM) {
        return yk_fail(YK_ERROR_INPUT, "a %s must be a unigram model", c->class->name);
    }
    YK_TRY(yk_token_map_create(&c->vocabulary));
    YK_TRY(list_entries(c));
    YK_TRY(list_added_tokens(c));
    yk_tokenizer_json_begin(&c->writer, &c->added);
    write_normalizer(c);
    write_pre_tokenizer(c);
    YK_TRY(write_frame(c));
    write_decoder(c);
    YK_TRY(write_model(c));
    yk_json_write_end_object(&c->writer);
    return yk_text_status(c->writer.text);
}

yk_status yk_sentencepiece_json_write(const struct yk_sentencepiece_model *model,
                                      const struct yk_tokenizer_config *config,
                                      struct yk_arena *arena, struct yk_text *out)
{
    struct conversion conversion = {
        .model = model, .config = config, .arena = arena, .writer.text = out};
    const yk_status status = convert(&conversion);
    yk_token_map_destroy(conversion.vocabulary);
    yk_tokenizer_json_tokens_free(&conversion.added);
    yk_sentencepiece_merges_free(&conversion.merges);
    return status;
}
