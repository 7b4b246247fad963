#include "tokenizer/tokenizer.h"

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/formats/tokenizer_files.h"
#include "tokenizer/tokenizer_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

bool yk_tokenizer_is_special_id(const struct yk_tokenizer *tokenizer, int32_t id)
{
    return tokenizer->added && yk_added_tokens_is_special(tokenizer->added, id);
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
