#include "tokenizer/tokenizer.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/token_decoder.h"
#include "tokenizer/token_map.h"
#include "tokenizer/wordpiece.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The tokenizer owns its components, which are immutable. */
struct yk_tokenizer {
    struct yk_text file;
    struct yk_character_vocabulary
        *vocabulary; /* of a character tokenizer, which has no other component */

    struct yk_normalizer *normalizer; /* NULL means: no normalization */
    struct yk_pre_tokenizer *pre_tokenizer;
    struct yk_token_map *map; /* the vocabulary of the model */
    struct yk_bpe *bpe;       /* the model: either this or `wordpiece` */
    struct yk_wordpiece *wordpiece;
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
        yk_character_vocabulary_destroy(tokenizer->vocabulary);
        yk_normalizer_destroy(tokenizer->normalizer);
        yk_pre_tokenizer_destroy(tokenizer->pre_tokenizer);
        yk_bpe_destroy(tokenizer->bpe);
        yk_wordpiece_destroy(tokenizer->wordpiece);
        yk_token_map_destroy(tokenizer->map);
        yk_added_tokens_destroy(tokenizer->added);
        yk_post_processor_free(&tokenizer->post_processor);
        yk_token_decoder_destroy(tokenizer->decoder);
        free(tokenizer);
    }
}

static yk_status read_vocabulary(const struct yk_json *model, struct yk_token_map **out)
{
    const struct yk_json *list = yk_json_get_member(model, "vocab");
    struct yk_json_member_iterator member = {0};
    if (!yk_json_is_object(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"vocab\" must be an object of tokens and ids, not %s",
                       yk_json_type_name(list));
    }
    YK_TRY(yk_token_map_create(out));
    while (yk_json_next_member(list, &member)) {
        double id = 0;
        if (!yk_json_number_value(member.value, &id) || id != trunc(id)) {
            return yk_fail(YK_ERROR_INPUT, "the id of \"%.*s\" must be a whole number", SHOWN_BYTES,
                           member.name);
        }
        /* A number beyond 64 bits is out of range as well. */
        YK_TRY(yk_token_map_add(*out, member.name, strlen(member.name),
                                fabs(id) < 0x1p53 ? (int64_t)id : INT64_MAX));
    }
    if (yk_token_map_count(*out) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"vocab\" is empty");
    }
    return YK_OK;
}

static yk_status read_model(const struct yk_json *model, struct yk_tokenizer *out)
{
    const char *type = yk_json_string_value(yk_json_get_member(model, "type"));
    /* Old files have no type. */
    if (!type && yk_json_get_member(model, "merges")) {
        type = "BPE";
    }
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\"");
    }
    const bool bpe = strcmp(type, "BPE") == 0;
    if (!bpe && strcmp(type, "WordPiece") != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%.*s\" is not supported; it must be \"BPE\" or \"WordPiece\"",
                       SHOWN_BYTES, type);
    }
    const bool byte_level = yk_pre_tokenizer_is_byte_level(out->pre_tokenizer);
    if (bpe != byte_level) {
        return yk_fail(YK_ERROR_INPUT,
                       bpe ? "BPE without a ByteLevel pre-tokenizer is not supported"
                           : "WordPiece with a ByteLevel pre-tokenizer is not supported");
    }
    YK_TRY(read_vocabulary(model, &out->map));
    return bpe ? yk_bpe_from_json(model, out->map, &out->bpe)
               : yk_wordpiece_from_json(model, out->map, &out->wordpiece);
}

/*
 * The parts of a tokenizer.json:
 *
 *   {"version": "1.0", "truncation": null, "padding": null, "added_tokens": […],
 *    "normalizer": …, "pre_tokenizer": …, "post_processor": …, "decoder": …,
 *    "model": {"type": "BPE", "vocab": {"!": 0, …}, "merges": ["Ġ t", …], …}}
 *
 * "truncation" and "padding" are ignored: the samplers of src/data truncate and pad.
 */
static yk_status read_parts(const struct yk_json *root, struct yk_tokenizer *out)
{
    YK_TRY(yk_normalizer_from_json(yk_json_get_member(root, "normalizer"), &out->normalizer));
    YK_TRY(
        yk_pre_tokenizer_from_json(yk_json_get_member(root, "pre_tokenizer"), &out->pre_tokenizer));
    YK_TRY(yk_status_prefix_message(read_model(yk_json_get_member(root, "model"), out), "model"));
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
    YK_IF_OK(yk_status_prefix_message(yk_json_parse(bytes, length, &root), source));
    YK_IF_OK(read_root(root, source, tokenizer));
    yk_json_destroy(root);
    YK_TRY_OR_CLEAN_UP(status, yk_tokenizer_destroy(tokenizer));
    *out = tokenizer;
    return YK_OK;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* Finds the file to read: `path` itself, or one of the two names in that folder. */
static yk_status choose_file(const char *path, struct yk_text *out)
{
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        yk_text_add(out, path);
        return yk_text_status(out);
    }
    const char *const names[] = {json_name, characters_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        out->length = 0;
        yk_text_addf(out, "%s/%s", path, names[i]);
        YK_TRY(yk_text_status(out));
        if (is_file(out->bytes)) {
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT, "%s: there is neither a %s nor a %s in it", path, json_name,
                   characters_name);
}

yk_status yk_tokenizer_open(const char *path, struct yk_tokenizer **out)
{
    struct yk_text chosen = {0};
    struct yk_text bytes = {0};
    yk_status status = choose_file(path, &chosen);
    YK_IF_OK(yk_file_read_with_limit(yk_text_chars(&chosen), YK_FILE_MAX_TOKENIZER_BYTES, &bytes));
    YK_IF_OK(yk_tokenizer_parse(yk_text_chars(&bytes), bytes.length, yk_text_chars(&chosen), out));
    yk_text_free(&bytes);
    yk_text_free(&chosen);
    return status;
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
    yk_text_addf(out, "%s, %" PRId32 " tokens", tokenizer->bpe ? "byte-level BPE" : "WordPiece",
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
    struct yk_token_decoder_stream stream = {.decoder = tokenizer->decoder, .out = out};
    for (int64_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *token = yk_added_tokens_get_text(tokenizer->added, ids[i], &length);
        if (token && skip_special && yk_added_tokens_is_special(tokenizer->added, ids[i])) {
            continue;
        }
        token = token ? token : yk_token_map_get_token(tokenizer->map, ids[i], &length);
        if (token) {
            yk_token_decoder_stream_add_token(&stream, token, length);
        }
    }
    return yk_token_decoder_stream_finish(&stream);
}

/* Encoding: finds the added tokens that are not normalized, normalizes the text between them, finds
 * the other added tokens in it, and splits the rest into words, which the model converts to tokens.
 */
struct yk_tokenizer_encoder {
    const struct yk_tokenizer *tokenizer;
    struct yk_pre_tokenizer_workspace workspace;
    struct yk_bpe_workspace *bpe;
    struct yk_text normalized;
    const atomic_bool *stop; /* or NULL */
};

/* The argument of encode_word(). */
struct word_output {
    struct yk_tokenizer_encoder *encoder;
    struct yk_token_ids *out;
};

yk_status yk_tokenizer_encoder_create(const struct yk_tokenizer *tokenizer,
                                      struct yk_tokenizer_encoder **out)
{
    struct yk_tokenizer_encoder *encoder = calloc(1, sizeof *encoder);
    YK_TRY_ALLOCATED(encoder);
    encoder->tokenizer = tokenizer;
    yk_status status = yk_regex_workspace_create(&encoder->workspace.regex);
    YK_IF_OK(yk_bpe_workspace_create(&encoder->bpe));
    YK_TRY_OR_CLEAN_UP(status, yk_tokenizer_encoder_destroy(encoder));
    *out = encoder;
    return YK_OK;
}

void yk_tokenizer_encoder_destroy(struct yk_tokenizer_encoder *encoder)
{
    if (encoder) {
        yk_regex_workspace_destroy(encoder->workspace.regex);
        yk_text_free(&encoder->workspace.prefixed);
        yk_bpe_workspace_destroy(encoder->bpe);
        yk_text_free(&encoder->normalized);
        free(encoder);
    }
}

void yk_tokenizer_encoder_set_stop_flag(struct yk_tokenizer_encoder *encoder,
                                        const atomic_bool *stop)
{
    encoder->stop = stop;
    yk_bpe_workspace_set_stop_flag(encoder->bpe, stop);
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

static yk_status encode_word(void *argument, const char *word, size_t length)
{
    const struct word_output *output = argument;
    const struct yk_tokenizer *tokenizer = output->encoder->tokenizer;
    if (output->encoder->stop && atomic_load(output->encoder->stop)) {
        return yk_fail(YK_ERROR_STOPPED, "stopped between two words");
    }
    if (tokenizer->bpe) {
        return yk_bpe_encode(tokenizer->bpe, output->encoder->bpe, word, length, output->out);
    }
    yk_wordpiece_encode(tokenizer->wordpiece, word, length, output->out);
    return YK_OK;
}

static yk_status add_text(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                          bool normalized, struct yk_token_ids *out);

/* Adds the tokens of text without added tokens. Text that is not normalized yet may contain added
 * tokens afterwards. */
static yk_status add_segment(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                             bool normalized, struct yk_token_ids *out)
{
    const struct yk_tokenizer *tokenizer = encoder->tokenizer;
    struct yk_text *buffer = &encoder->normalized;
    if (normalized) {
        struct word_output output = {.encoder = encoder, .out = out};
        return yk_pre_tokenizer_split(tokenizer->pre_tokenizer, &encoder->workspace, text, length,
                                      encode_word, &output);
    }
    if (!tokenizer->normalizer || length == 0) {
        return add_text(encoder, text, length, true, out);
    }
    buffer->length = 0;
    YK_TRY(yk_normalizer_apply(tokenizer->normalizer, text, length, buffer));
    return add_text(encoder, yk_text_chars(buffer), buffer->length, true, out);
}

static yk_status add_text(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                          bool normalized, struct yk_token_ids *out)
{
    struct yk_added_tokens_search search = {
        .text = text, .length = length, .normalized = normalized};
    do {
        YK_TRY(yk_added_tokens_find_next(encoder->tokenizer->added, encoder->workspace.regex,
                                         &search));
        YK_TRY(
            add_segment(encoder, text + search.begin, search.end - search.begin, normalized, out));
        if (search.id >= 0) {
            yk_token_ids_add(out, search.id);
        }
    } while (search.id >= 0);
    return YK_OK;
}

yk_status yk_tokenizer_encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                              const char *source, enum yk_add_special_tokens special,
                              struct yk_token_ids *out)
{
    const struct yk_tokenizer *tokenizer = encoder->tokenizer;
    const struct yk_post_processor *processor = &tokenizer->post_processor;
    if (tokenizer->vocabulary) {
        return yk_character_vocabulary_encode(tokenizer->vocabulary, text, length, source, out);
    }
    YK_TRY(check_text(text, length, source));
    if (special == YK_ADD_SPECIAL_TOKENS_YES) {
        yk_token_ids_add_all(out, processor->prefix.items, processor->prefix.count);
    }
    YK_TRY(yk_status_prefix_message(add_text(encoder, text, length, false, out), source));
    if (special == YK_ADD_SPECIAL_TOKENS_YES) {
        yk_token_ids_add_all(out, processor->suffix.items, processor->suffix.count);
    }
    return yk_token_ids_status(out);
}
