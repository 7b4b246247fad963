#include "tokenizer/tokenizer.h"

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/formats/tokenizer_files.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/token_decoder.h"
#include "tokenizer/token_map.h"
#include "tokenizer/tokenizer_model.h"
#include "tokenizer/word_cache.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tokenizer owns its components, which are immutable. */
struct yk_tokenizer {
    struct yk_text file;
    struct yk_chat_files chat_files;
    struct yk_character_vocabulary
        *vocabulary; /* of a character tokenizer, which has no other component */

    struct yk_normalizer *normalizer; /* NULL means: no normalization */
    struct yk_pre_tokenizer *pre_tokenizer;
    struct yk_token_map *map; /* the vocabulary of the model */
    struct yk_tokenizer_model *model;
    struct yk_added_tokens *added;
    struct yk_post_processor post_processor;
    struct yk_token_decoder *decoder;
};

static const char json_name[] = "tokenizer.json";
static const char characters_name[] = "vocabulary.json";

enum {
    MAX_NAMES = 4,
    SHOWN_BYTES = 60 /* of a name in messages */
};

static const char *const role_names[YK_TOKEN_ROLE_COUNT][MAX_NAMES] = {
    [YK_TOKEN_PAD] = {"<pad>", "[PAD]", "<|pad|>", "<|finetune_right_pad_id|>"},
    [YK_TOKEN_UNKNOWN] = {"<unk>", "[UNK]"},
    [YK_TOKEN_BEGIN] = {"<s>", "<|begin_of_text|>", "[CLS]"},
    [YK_TOKEN_END] = {"</s>", "<|end_of_text|>", "<|endoftext|>", "[SEP]"},
    [YK_TOKEN_MASK] = {"[MASK]", "<mask>"},
    [YK_TOKEN_CLASS] = {"[CLS]"},
    [YK_TOKEN_SEPARATOR] = {"[SEP]"},
};

void yk_tokenizer_destroy(struct yk_tokenizer *tokenizer)
{
    if (tokenizer) {
        yk_text_free(&tokenizer->file);
        yk_chat_files_free(&tokenizer->chat_files);
        yk_character_vocabulary_destroy(tokenizer->vocabulary);
        yk_normalizer_destroy(tokenizer->normalizer);
        yk_pre_tokenizer_destroy(tokenizer->pre_tokenizer);
        yk_tokenizer_model_destroy(tokenizer->model);
        yk_token_map_destroy(tokenizer->map);
        yk_added_tokens_destroy(tokenizer->added);
        yk_post_processor_free(&tokenizer->post_processor);
        yk_token_decoder_destroy(tokenizer->decoder);
        free(tokenizer);
    }
}

static yk_status read_model(const struct yk_json *root, struct yk_tokenizer *out)
{
    const struct yk_json *model = yk_json_get_member(root, "model");
    YK_TRY(yk_status_prefix_message(yk_tokenizer_model_read_vocabulary(model, &out->map), "model"));
    const enum yk_byte_level_words words = yk_tokenizer_model_reads_bytes(model, out->map)
                                               ? YK_BYTE_LEVEL_WORDS_AS_BYTES
                                               : YK_BYTE_LEVEL_WORDS_AS_CHARACTERS;
    YK_TRY(yk_pre_tokenizer_from_json(yk_json_get_member(root, "pre_tokenizer"), words,
                                      &out->pre_tokenizer));
    const bool bytes = yk_pre_tokenizer_makes_bytes(out->pre_tokenizer);
    return yk_status_prefix_message(
        yk_tokenizer_model_from_json(model, out->map, bytes, &out->model), "model");
}

/* A number that a setting may have. */
struct setting {
    const char *key;
    int64_t max;
};

/* Checks "truncation" or "padding": null, or an object. See tokenizer.h for why it is not applied.
 */
static yk_status check_options(const struct yk_json *root, const char *key,
                               const struct setting *options, size_t count)
{
    const struct yk_json *node = yk_json_get_member(root, key);
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is %s; it must be an object or null", key,
                       yk_json_type_name(node));
    }
    for (size_t i = 0; i < count; i++) {
        int64_t ignored = 0;
        YK_TRY(yk_status_prefix_message(
            yk_json_get_integer(node, options[i].key, 0, options[i].max, &ignored), key));
    }
    const char *side = yk_json_string_value(yk_json_get_member(node, "direction"));
    if (side && strcmp(side, "Left") != 0 && strcmp(side, "Right") != 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: \"direction\" must be \"Left\" or \"Right\"", key);
    }
    return YK_OK;
}

static yk_status check_lengths(const struct yk_json *root)
{
    static const struct setting truncation[] = {{"max_length", INT64_MAX}, {"stride", INT64_MAX}};
    static const struct setting padding[] = {{"pad_id", YK_TOKEN_MAP_MAX_TOKENS - 1},
                                             {"pad_type_id", INT32_MAX}};
    YK_TRY(check_options(root, "truncation", truncation, sizeof truncation / sizeof *truncation));
    return check_options(root, "padding", padding, sizeof padding / sizeof *padding);
}

/*
 * The parts of a tokenizer.json:
 *
 *   {"version": "1.0", "truncation": null, "padding": null, "added_tokens": […],
 *    "normalizer": …, "pre_tokenizer": …, "post_processor": …, "decoder": …,
 *    "model": {"type": "BPE", "vocab": {"!": 0, …}, "merges": ["Ġ t", …], …}}
 */
static yk_status read_parts(const struct yk_json *root, struct yk_tokenizer *out)
{
    YK_TRY(check_lengths(root));
    YK_TRY(yk_normalizer_from_json(yk_json_get_member(root, "normalizer"), &out->normalizer));
    YK_TRY(read_model(root, out));
    YK_TRY(yk_added_tokens_from_json(yk_json_get_member(root, "added_tokens"), out->map,
                                     out->normalizer, &out->added));
    YK_TRY(yk_post_processor_from_json(yk_json_get_member(root, "post_processor"),
                                       yk_tokenizer_vocabulary_size(out), &out->post_processor));
    return yk_token_decoder_from_json(yk_json_get_member(root, "decoder"), &out->decoder);
}

static yk_status read_root(const struct yk_json *root, const char *source, struct yk_tokenizer *out)
{
    if (yk_json_get_member(root, "model")) {
        const yk_status status = read_parts(root, out);
        return yk_status_prefix_message(status, source);
    }
    if (!yk_json_get_member(root, "characters")) {
        return yk_fail(
            YK_ERROR_INPUT,
            "%s: neither a tokenizer, which has a \"model\", nor a vocabulary, which has "
            "\"characters\"",
            source);
    }
    return yk_character_vocabulary_parse(out->file.bytes, out->file.length, source,
                                         &out->vocabulary);
}

yk_status yk_tokenizer_parse(const char *bytes, size_t length, const char *source,
                             struct yk_tokenizer **out)
{
    struct yk_json *root = NULL;
    struct yk_tokenizer *tokenizer = calloc(1, sizeof *tokenizer);
    YK_TRY_ALLOCATED(tokenizer);
    yk_text_add_bytes(&tokenizer->file, bytes, length);
    yk_status status = yk_text_status(&tokenizer->file);
    YK_IF_OK(yk_status_prefix_message(yk_json_parse_foreign(bytes, length, &root), source));
    YK_IF_OK(read_root(root, source, tokenizer));
    yk_json_destroy(root);
    YK_TRY_OR_CLEAN_UP(status, yk_tokenizer_destroy(tokenizer));
    *out = tokenizer;
    return YK_OK;
}

yk_status yk_tokenizer_read_chat_files(struct yk_tokenizer *tokenizer, const char *folder)
{
    return yk_chat_files_read_folder(folder, &tokenizer->chat_files);
}

yk_status yk_tokenizer_read_chat_template(struct yk_tokenizer *tokenizer, const char *path)
{
    return yk_chat_files_read_template(&tokenizer->chat_files, path);
}

const struct yk_chat_files *yk_tokenizer_get_chat_files(const struct yk_tokenizer *tokenizer)
{
    return &tokenizer->chat_files;
}

/* Reads the chat files of the folder of a file. */
static yk_status read_neighbours(struct yk_tokenizer *tokenizer, const char *path)
{
    struct yk_text folder = {0};
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0) {
        return YK_OK;
    }
    yk_text_add_bytes(&folder, slash ? path : ".", slash ? (size_t)(slash - path) : 1);
    yk_text_add(&folder, folder.length == 0 ? "/" : "");
    yk_status status = yk_text_status(&folder);
    YK_IF_OK(yk_tokenizer_read_chat_files(tokenizer, yk_text_chars(&folder)));
    yk_text_free(&folder);
    return status;
}

yk_status yk_tokenizer_open(const char *path, struct yk_tokenizer **out)
{
    struct yk_text chosen = {0};
    struct yk_text bytes = {0};
    struct yk_tokenizer *tokenizer = NULL;
    yk_status status = yk_tokenizer_files_read(path, &bytes, &chosen);
    YK_IF_OK(yk_tokenizer_parse(yk_text_chars(&bytes), bytes.length, yk_text_chars(&chosen),
                                &tokenizer));
    YK_IF_OK(read_neighbours(tokenizer, yk_text_chars(&chosen)));
    yk_text_free(&bytes);
    yk_text_free(&chosen);
    YK_TRY_OR_CLEAN_UP(status, yk_tokenizer_destroy(tokenizer));
    *out = tokenizer;
    return YK_OK;
}

yk_status yk_tokenizer_create_character_level(const struct yk_character_vocabulary *vocabulary,
                                              struct yk_tokenizer **out)
{
    struct yk_text file = {0};
    yk_status status = yk_character_vocabulary_to_json(vocabulary, &file);
    YK_IF_OK(yk_tokenizer_parse(file.bytes, file.length, characters_name, out));
    yk_text_free(&file);
    return status;
}

int32_t yk_tokenizer_vocabulary_size(const struct yk_tokenizer *tokenizer)
{
    if (tokenizer->vocabulary) {
        return yk_character_vocabulary_count(tokenizer->vocabulary);
    }
    const int32_t model = yk_token_map_id_limit(tokenizer->map);
    const int32_t added = yk_added_tokens_id_limit(tokenizer->added);
    return added > model ? added : model;
}

/* The id of a token that is one character, or −1. */
static int32_t character_id(const struct yk_character_vocabulary *vocabulary, const char *token)
{
    uint32_t character = 0;
    const size_t length = strlen(token);
    const size_t used = yk_utf8_decode(token, length, &character);
    return used > 0 && used == length ? yk_character_vocabulary_find_id(vocabulary, character) : -1;
}

int32_t yk_tokenizer_find_token_id(const struct yk_tokenizer *tokenizer, const char *token)
{
    if (tokenizer->vocabulary) {
        return character_id(tokenizer->vocabulary, token);
    }
    const int32_t id = yk_added_tokens_find_id(tokenizer->added, token, strlen(token));
    return id >= 0 ? id : yk_token_map_find_id(tokenizer->map, token, strlen(token));
}

int32_t yk_tokenizer_find_role_id(const struct yk_tokenizer *tokenizer, enum yk_token_role role)
{
    for (int i = 0; i < MAX_NAMES && role_names[role][i]; i++) {
        const int32_t id = yk_tokenizer_find_token_id(tokenizer, role_names[role][i]);
        if (id >= 0) {
            return id;
        }
    }
    return -1;
}

int32_t yk_tokenizer_padding_id_or_zero(const struct yk_tokenizer *tokenizer)
{
    const int32_t id = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_PAD);
    return id >= 0 ? id : 0;
}

const struct yk_character_vocabulary *
yk_tokenizer_get_character_vocabulary(const struct yk_tokenizer *tokenizer)
{
    return tokenizer->vocabulary;
}

void yk_tokenizer_append_description(const struct yk_tokenizer *tokenizer, struct yk_text *out)
{
    if (tokenizer->vocabulary) {
        yk_text_addf(out, "characters, %" PRId32 " tokens",
                     yk_character_vocabulary_count(tokenizer->vocabulary));
        return;
    }
    const bool byte_level = yk_pre_tokenizer_is_byte_level(tokenizer->pre_tokenizer);
    yk_text_addf(out, "%s%s, %" PRId32 " tokens", byte_level ? "byte-level " : "",
                 yk_tokenizer_model_type(tokenizer->model),
                 yk_token_map_count(tokenizer->map) + yk_added_tokens_count_new(tokenizer->added));
}

void yk_tokenizer_append_file_contents(const struct yk_tokenizer *tokenizer, struct yk_text *out)
{
    yk_text_add_bytes(out, yk_text_chars(&tokenizer->file), tokenizer->file.length);
}

const char *yk_tokenizer_file_name(const struct yk_tokenizer *tokenizer)
{
    return tokenizer->vocabulary ? characters_name : json_name;
}

yk_status yk_tokenizer_decode(const struct yk_tokenizer *tokenizer, const int32_t *ids,
                              int64_t count, bool skip_special, struct yk_text *out)
{
    if (tokenizer->vocabulary) {
        return yk_character_vocabulary_decode(tokenizer->vocabulary, ids, count, out);
    }
    struct yk_string_list tokens = {0};
    for (int64_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *token = yk_added_tokens_get_text(tokenizer->added, ids[i], &length);
        if (token && skip_special && yk_added_tokens_is_special(tokenizer->added, ids[i])) {
            continue;
        }
        token = token ? token : yk_token_map_get_token(tokenizer->map, ids[i], &length);
        if (token) {
            yk_string_list_add(&tokens, token, length);
        }
    }
    const yk_status status = yk_token_decoder_decode(tokenizer->decoder, &tokens, out);
    yk_string_list_free(&tokens);
    return status;
}

/* Encoding: finds the added tokens that are not normalized, normalizes the text between them, finds
 * the other added tokens in it, and splits the rest into words, which the model converts to tokens.
 */
struct yk_tokenizer_encoder {
    const struct yk_tokenizer *tokenizer;
    struct yk_regex_workspace *regex;
    struct yk_pre_tokenizer_workspace words;
    struct yk_normalizer_workspace normalizer;
    struct yk_tokenizer_model_workspace *model;
    struct yk_word_cache *parts; /* NULL means: parts are words, which the model caches */
    const atomic_bool *stop;     /* or NULL */
};

/* The state of one call. */
struct encoding {
    struct yk_tokenizer_encoder *encoder;
    const char *text;
    struct yk_token_ids *out;
    struct yk_token_spans *spans; /* NULL means: no spans are asked for */
    int64_t first;                /* index in `out` of the first token of the text */
};

yk_status yk_tokenizer_encoder_create(const struct yk_tokenizer *tokenizer,
                                      struct yk_tokenizer_encoder **out)
{
    struct yk_tokenizer_encoder *encoder = calloc(1, sizeof *encoder);
    YK_TRY_ALLOCATED(encoder);
    encoder->tokenizer = tokenizer;
    yk_status status = yk_regex_workspace_create(&encoder->regex);
    YK_IF_OK(yk_tokenizer_model_workspace_create(&encoder->model));
    if (tokenizer->pre_tokenizer && yk_pre_tokenizer_has_parts(tokenizer->pre_tokenizer)) {
        YK_IF_OK(yk_word_cache_create(&encoder->parts));
    }
    YK_TRY_OR_CLEAN_UP(status, yk_tokenizer_encoder_destroy(encoder));
    encoder->words.regex = encoder->regex;
    encoder->normalizer.regex = encoder->regex;
    *out = encoder;
    return YK_OK;
}

void yk_tokenizer_encoder_destroy(struct yk_tokenizer_encoder *encoder)
{
    if (encoder) {
        yk_regex_workspace_destroy(encoder->regex);
        yk_pre_tokenizer_workspace_free(&encoder->words);
        yk_normalizer_workspace_free(&encoder->normalizer);
        yk_tokenizer_model_workspace_destroy(encoder->model);
        yk_word_cache_destroy(encoder->parts);
        free(encoder);
    }
}

void yk_tokenizer_encoder_set_stop_flag(struct yk_tokenizer_encoder *encoder,
                                        const atomic_bool *stop)
{
    encoder->stop = stop;
    yk_tokenizer_model_workspace_set_stop_flag(encoder->model, stop);
}

/* Zeros are valid characters here, as in Hugging Face's tokenizers. */
static yk_status check_text(const char *text, size_t length, const char *source)
{
    for (size_t at = 0; at < length; at++) {
        at += yk_utf8_valid_prefix_length(text + at, length - at);
        if (at < length && text[at] != '\0') {
            return yk_character_vocabulary_unknown_error(text, length, at, source);
        }
    }
    return YK_OK;
}

/* Converts a span of a segment to the span of the source that it stands for, and trims it. */
static void finish_span(const struct encoding *encoding, const struct yk_aligned_segment *segment,
                        const char *token, size_t token_length, int64_t index,
                        struct yk_token_span *span)
{
    if (span->begin < span->end) {
        span->begin = segment->origins[span->begin].begin;
        span->end = segment->origins[span->end - 1].end;
    } else {
        span->begin += segment->origins[0].begin;
        span->end = span->begin;
    }
    yk_post_processor_trim_span(&encoding->encoder->tokenizer->post_processor, token, token_length,
                                index - encoding->first, encoding->text, span);
}

static yk_status encode_with_spans(struct encoding *encoding, const struct yk_aligned_segment *word)
{
    const struct yk_tokenizer *tokenizer = encoding->encoder->tokenizer;
    struct yk_token_spans *spans = encoding->spans;
    const int64_t first_id = encoding->out->count;
    const int64_t first_span = spans->count;
    YK_TRY(yk_tokenizer_model_encode(tokenizer->model, encoding->encoder->model, word->bytes,
                                     word->length, encoding->out, spans));
    YK_TRY(yk_token_ids_status(encoding->out));
    YK_TRY(yk_token_spans_status(spans));
    const int32_t named_by_text = yk_tokenizer_model_token_named_by_text(tokenizer->model);
    for (int64_t i = 0; i < spans->count - first_span; i++) {
        struct yk_token_span *span = &spans->items[first_span + i];
        size_t length = 0;
        const int32_t id = encoding->out->items[first_id + i];
        const char *name = yk_token_map_get_token(tokenizer->map, id, &length);
        if (id == named_by_text) {
            name = word->bytes + span->begin;
            length = span->end - span->begin;
        }
        finish_span(encoding, word, name, length, first_id + i, span);
    }
    return YK_OK;
}

static yk_status check_stop(const struct yk_tokenizer_encoder *encoder)
{
    return encoder->stop && atomic_load(encoder->stop)
               ? yk_fail(YK_ERROR_STOPPED, "stopped between two words")
               : YK_OK;
}

static yk_status encode_word(void *argument, const struct yk_aligned_segment *word)
{
    struct encoding *encoding = argument;
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    YK_TRY(check_stop(encoder));
    return encoding->spans
               ? encode_with_spans(encoding, word)
               : yk_tokenizer_model_encode(encoder->tokenizer->model, encoder->model, word->bytes,
                                           word->length, encoding->out, NULL);
}

/* Encodes a part of a segment, which always gives the same tokens. */
static yk_status encode_part(void *argument, const struct yk_aligned_segment *part)
{
    struct encoding *encoding = argument;
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    struct yk_token_ids *out = encoding->out;
    const int64_t first = out->count;
    YK_TRY(check_stop(encoder));
    if (yk_word_cache_find(encoder->parts, part->bytes, part->length, out)) {
        return YK_OK;
    }
    YK_TRY(yk_pre_tokenizer_split_part(encoder->tokenizer->pre_tokenizer, &encoder->words, part,
                                       encode_word, encoding));
    YK_TRY(yk_token_ids_status(out));
    if (out->count > first) {
        yk_word_cache_store(encoder->parts, part->bytes, part->length, out->items + first,
                            out->count - first);
    }
    return YK_OK;
}

static yk_status encode_segment(struct encoding *encoding, const struct yk_aligned_segment *segment)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    const struct yk_pre_tokenizer *pre_tokenizer = encoder->tokenizer->pre_tokenizer;
    return encoder->parts && !encoding->spans
               ? yk_pre_tokenizer_split_into_parts(pre_tokenizer, &encoder->words, segment,
                                                   encode_part, encoding)
               : yk_pre_tokenizer_split(pre_tokenizer, &encoder->words, segment, encode_word,
                                        encoding);
}

static void add_added_token(struct encoding *encoding, const struct yk_aligned_segment *segment,
                            const struct yk_added_tokens_search *search)
{
    if (encoding->spans) {
        struct yk_token_span span = {.begin = search->end, .end = search->done};
        finish_span(encoding, segment, segment->bytes + span.begin, span.end - span.begin,
                    encoding->out->count, &span);
        yk_token_spans_add(encoding->spans, span.begin, span.end);
    }
    yk_token_ids_add(encoding->out, search->id);
}

/* Encodes normalized text. */
static yk_status add_normalized(struct encoding *encoding, const struct yk_aligned_segment *text)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    struct yk_added_tokens_search search = {
        .text = text->bytes, .length = text->length, .normalized = true};
    do {
        YK_TRY(yk_added_tokens_find_next(encoder->tokenizer->added, encoder->regex, &search));
        const struct yk_aligned_segment segment =
            yk_aligned_text_slice_segment(text, search.begin, search.end);
        YK_TRY(encode_segment(encoding, &segment));
        if (search.id >= 0) {
            add_added_token(encoding, text, &search);
        }
    } while (search.id >= 0);
    return YK_OK;
}

/* How many of the first bytes of a text have an origin that begins at byte 0 of the source. */
static size_t count_start_bytes(const struct yk_aligned_segment *text)
{
    size_t count = 0;
    while (count < text->length && text->origins[count].begin == 0) {
        count++;
    }
    return count;
}

/* Encodes the text from `begin` to `end`, which has no added token that is not normalized. */
static yk_status add_section(struct encoding *encoding, size_t begin, size_t end)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    const struct yk_normalizer *normalizer = encoder->tokenizer->normalizer;
    const bool needs_start =
        begin == 0 && yk_pre_tokenizer_depends_on_start(encoder->tokenizer->pre_tokenizer);
    const bool tracked = encoding->spans || (needs_start && normalizer);
    struct yk_aligned_segment text = {0};
    if (begin == end) {
        return YK_OK;
    }
    YK_TRY(yk_normalizer_run(normalizer, &encoder->normalizer, encoding->text + begin, end - begin,
                             begin, tracked, &text));
    if (!encoding->spans) {
        text.start_bytes = tracked ? count_start_bytes(&text) : needs_start;
        text.origins = NULL;
    }
    return add_normalized(encoding, &text);
}

static yk_status add_text(struct encoding *encoding, size_t length)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    struct yk_added_tokens_search search = {.text = encoding->text, .length = length};
    do {
        YK_TRY(yk_added_tokens_find_next(encoder->tokenizer->added, encoder->regex, &search));
        YK_TRY(add_section(encoding, search.begin, search.end));
        if (search.id >= 0 && encoding->spans) {
            struct yk_token_span span = {.begin = search.end, .end = search.done};
            yk_post_processor_trim_span(&encoder->tokenizer->post_processor,
                                        encoding->text + span.begin, span.end - span.begin,
                                        encoding->out->count - encoding->first, encoding->text,
                                        &span);
            yk_token_spans_add(encoding->spans, span.begin, span.end);
        }
        if (search.id >= 0) {
            yk_token_ids_add(encoding->out, search.id);
        }
    } while (search.id >= 0);
    return YK_OK;
}

/* Adds the tokens of a character tokenizer. */
static yk_status add_character_tokens(const struct yk_tokenizer *tokenizer, const char *text,
                                      size_t length, const char *source, struct yk_token_ids *out,
                                      struct yk_token_spans *spans)
{
    YK_TRY(yk_character_vocabulary_encode(tokenizer->vocabulary, text, length, source, out));
    for (size_t at = 0; spans && at < length;) {
        uint32_t ignored = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &ignored);
        yk_token_spans_add(spans, at, at + (used ? used : 1));
        at += used ? used : 1;
    }
    return YK_OK;
}

static void add_special(const struct yk_token_ids *special, struct yk_token_ids *out,
                        struct yk_token_spans *spans)
{
    yk_token_ids_add_all(out, special->items, special->count);
    if (spans) {
        yk_token_spans_add_repeated(spans, (struct yk_token_span){0}, (size_t)special->count);
    }
}

static yk_status encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                        const char *source, enum yk_add_special_tokens special,
                        struct yk_token_ids *out, struct yk_token_spans *spans)
{
    const struct yk_tokenizer *tokenizer = encoder->tokenizer;
    const struct yk_post_processor *processor = &tokenizer->post_processor;
    if (tokenizer->vocabulary) {
        return add_character_tokens(tokenizer, text, length, source, out, spans);
    }
    YK_TRY(check_text(text, length, source));
    if (special == YK_ADD_SPECIAL_TOKENS_YES) {
        add_special(&processor->prefix, out, spans);
    }
    struct encoding encoding = {
        .encoder = encoder, .text = text, .out = out, .spans = spans, .first = out->count};
    YK_TRY(yk_status_prefix_message(add_text(&encoding, length), source));
    if (special == YK_ADD_SPECIAL_TOKENS_YES) {
        add_special(&processor->suffix, out, spans);
    }
    return yk_token_ids_status(out);
}

yk_status yk_tokenizer_encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                              const char *source, enum yk_add_special_tokens special,
                              struct yk_token_ids *out)
{
    return encode(encoder, text, length, source, special, out, NULL);
}

yk_status yk_tokenizer_encode_with_offsets(struct yk_tokenizer_encoder *encoder, const char *text,
                                           size_t length, const char *source,
                                           enum yk_add_special_tokens special,
                                           struct yk_token_ids *out, struct yk_token_spans *spans)
{
    YK_TRY(encode(encoder, text, length, source, special, out, spans));
    return yk_token_spans_status(spans);
}
