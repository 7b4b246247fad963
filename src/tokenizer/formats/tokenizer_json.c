#include "tokenizer/formats/tokenizer_json.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void yk_tokenizer_json_tokens_free(struct yk_tokenizer_json_tokens *tokens)
{
    free(tokens->items);
    *tokens = (struct yk_tokenizer_json_tokens){0};
}

yk_status yk_tokenizer_json_add_token(struct yk_tokenizer_json_tokens *tokens,
                                      const struct yk_config_token *token)
{
    YK_TRY_GROW_ARRAY(tokens->items, tokens->capacity, tokens->count);
    tokens->items[tokens->count] = (struct yk_tokenizer_json_token){token, tokens->count};
    tokens->count++;
    return YK_OK;
}

/* Orders by id, and those with the same id as they were added. */
static int compare(const void *a, const void *b)
{
    const struct yk_tokenizer_json_token *left = a;
    const struct yk_tokenizer_json_token *right = b;
    if (left->token->id != right->token->id) {
        return left->token->id < right->token->id ? -1 : 1;
    }
    return left->number < right->number ? -1 : 1;
}

/* The id of a token, which is added to the vocabulary if it is not there. */
static yk_status find_id(const struct yk_config_token *token, struct yk_token_map *vocabulary,
                         int64_t *out)
{
    const size_t length = strlen(token->text);
    const int32_t known = yk_token_map_find_id(vocabulary, token->text, length);
    if (known >= 0) {
        *out = known;
        return YK_OK;
    }
    *out = token->id >= 0 ? token->id : yk_token_map_id_limit(vocabulary);
    return yk_token_map_add(vocabulary, token->text, length, *out);
}

static yk_status add_config_token(struct yk_tokenizer_json_tokens *tokens,
                                  const struct yk_config_token *token,
                                  struct yk_token_map *vocabulary, struct yk_arena *arena)
{
    struct yk_config_token *copy = NULL;
    YK_TRY_NEW(arena, copy, 1);
    *copy = *token;
    YK_TRY(find_id(token, vocabulary, &copy->id));
    return yk_tokenizer_json_add_token(tokens, copy);
}

yk_status yk_tokenizer_json_add_config(struct yk_tokenizer_json_tokens *tokens,
                                       const struct yk_tokenizer_config *config,
                                       struct yk_token_map *vocabulary, struct yk_arena *arena)
{
    /* Tokens with an id come first: the others must not take their ids. */
    for (int with_id = 1; with_id >= 0; with_id--) {
        for (int32_t i = 0; i < config->token_count; i++) {
            const struct yk_config_token *token = &config->tokens[i];
            if ((token->id >= 0) == (with_id == 1)) {
                YK_TRY(add_config_token(tokens, token, vocabulary, arena));
            }
        }
    }
    return YK_OK;
}

void yk_tokenizer_json_begin(struct yk_json_writer *writer, struct yk_tokenizer_json_tokens *tokens)
{
    if (tokens->count > 0) {
        qsort(tokens->items, (size_t)tokens->count, sizeof *tokens->items, compare);
    }
    yk_json_write_begin_object(writer, NULL);
    yk_json_write_string(writer, "version", "1.0");
    yk_json_write_null(writer, "truncation");
    yk_json_write_null(writer, "padding");
    yk_json_write_begin_array(writer, "added_tokens");
    for (int32_t i = 0; i < tokens->count; i++) {
        const struct yk_config_token *token = tokens->items[i].token;
        if (i + 1 < tokens->count && tokens->items[i + 1].token->id == token->id) {
            continue;
        }
        yk_json_write_begin_object(writer, NULL);
        yk_json_write_integer(writer, "id", token->id);
        yk_json_write_string(writer, "content", token->text);
        yk_json_write_bool(writer, "single_word", token->single_word);
        yk_json_write_bool(writer, "lstrip", token->strip_left);
        yk_json_write_bool(writer, "rstrip", token->strip_right);
        yk_json_write_bool(writer, "normalized", token->normalized);
        yk_json_write_bool(writer, "special", token->special);
        yk_json_write_end_object(writer);
    }
    yk_json_write_end_array(writer);
}

static void write_places(struct yk_json_writer *writer, const char *const *tokens, int type)
{
    for (int i = 0; i < YK_TOKENIZER_JSON_MAX_FRAME && tokens[i]; i++) {
        yk_json_write_begin_object(writer, NULL);
        yk_json_write_begin_object(writer, "SpecialToken");
        yk_json_write_string(writer, "id", tokens[i]);
        yk_json_write_integer(writer, "type_id", type);
        yk_json_write_end_object(writer);
        yk_json_write_end_object(writer);
    }
}

static void write_sequence(struct yk_json_writer *writer, const char *name, int type)
{
    yk_json_write_begin_object(writer, NULL);
    yk_json_write_begin_object(writer, "Sequence");
    yk_json_write_string(writer, "id", name);
    yk_json_write_integer(writer, "type_id", type);
    yk_json_write_end_object(writer);
    yk_json_write_end_object(writer);
}

static yk_status write_ids(struct yk_json_writer *writer, const char *const *tokens,
                           const struct yk_token_map *vocabulary)
{
    for (int i = 0; i < YK_TOKENIZER_JSON_MAX_FRAME && tokens[i]; i++) {
        const int64_t id = yk_token_map_find_id(vocabulary, tokens[i], strlen(tokens[i]));
        if (id < 0) {
            return yk_fail(YK_ERROR_INPUT, "the token \"%s\" is not in the vocabulary", tokens[i]);
        }
        yk_json_write_begin_object(writer, tokens[i]);
        yk_json_write_string(writer, "id", tokens[i]);
        yk_json_write_integers(writer, "ids", &id, 1);
        yk_json_write_begin_array(writer, "tokens");
        yk_json_write_string(writer, NULL, tokens[i]);
        yk_json_write_end_array(writer);
        yk_json_write_end_object(writer);
    }
    return YK_OK;
}

yk_status yk_tokenizer_json_write_frame(struct yk_json_writer *writer,
                                        const struct yk_tokenizer_json_frame *frame,
                                        const struct yk_token_map *vocabulary)
{
    if (!frame->before[0] && !frame->after[0]) {
        yk_json_write_null(writer, "post_processor");
        return YK_OK;
    }
    yk_json_write_begin_object(writer, "post_processor");
    yk_json_write_string(writer, "type", "TemplateProcessing");
    yk_json_write_begin_array(writer, "single");
    write_places(writer, frame->before, 0);
    write_sequence(writer, "A", 0);
    write_places(writer, frame->after, 0);
    yk_json_write_end_array(writer);
    yk_json_write_begin_array(writer, "pair");
    write_places(writer, frame->before, 0);
    write_sequence(writer, "A", 0);
    write_places(writer, frame->after, 0);
    write_sequence(writer, "B", 1);
    write_places(writer, frame->after, 1);
    yk_json_write_end_array(writer);
    yk_json_write_begin_object(writer, "special_tokens");
    YK_TRY(write_ids(writer, frame->before, vocabulary));
    const bool same =
        frame->before[0] && frame->after[0] && strcmp(frame->before[0], frame->after[0]) == 0;
    if (!same) {
        YK_TRY(write_ids(writer, frame->after, vocabulary));
    }
    yk_json_write_end_object(writer);
    yk_json_write_end_object(writer);
    return YK_OK;
}

void yk_tokenizer_json_write_byte_level(struct yk_json_writer *writer, const char *key,
                                        struct yk_tokenizer_json_byte_level options)
{
    const int32_t line_indent = writer->line_indent;
    yk_json_write_begin_object(writer, key);
    writer->line_indent = 0;
    yk_json_write_string(writer, "type", "ByteLevel");
    yk_json_write_bool(writer, "add_prefix_space", options.add_prefix_space);
    yk_json_write_bool(writer, "trim_offsets", options.trim_offsets);
    yk_json_write_bool(writer, "use_regex", options.use_regex);
    yk_json_write_end_object(writer);
    writer->line_indent = line_indent;
}

void yk_tokenizer_json_write_word_pattern(struct yk_json_writer *writer, const char *key,
                                          const char *pattern)
{
    const int32_t line_indent = writer->line_indent;
    yk_json_write_begin_object(writer, key);
    writer->line_indent = 0;
    yk_json_write_string(writer, "type", "Sequence");
    yk_json_write_begin_array(writer, "pretokenizers");
    yk_json_write_begin_object(writer, NULL);
    yk_json_write_string(writer, "type", "Split");
    yk_json_write_begin_object(writer, "pattern");
    yk_json_write_string(writer, "Regex", pattern);
    yk_json_write_end_object(writer);
    yk_json_write_string(writer, "behavior", "Isolated");
    yk_json_write_bool(writer, "invert", false);
    yk_json_write_end_object(writer);
    yk_tokenizer_json_write_byte_level(writer, NULL,
                                       (struct yk_tokenizer_json_byte_level){.trim_offsets = true});
    yk_json_write_end_array(writer);
    yk_json_write_end_object(writer);
    writer->line_indent = line_indent;
}

void yk_tokenizer_json_write_base64(struct yk_json_writer *writer, const char *key,
                                    const char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    yk_json_write_key(writer, key);
    yk_text_add(writer->text, "\"");
    for (size_t i = 0; i < length; i += 3) {
        const size_t count = length - i < 3 ? length - i : 3;
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++) {
            group = group << 8 | (j < count ? (unsigned char)bytes[i + j] : 0);
        }
        char four[4] = {'=', '=', '=', '='};
        for (size_t j = 0; j <= count; j++) {
            four[j] = digits[group >> (18 - 6 * j) & 63];
        }
        yk_text_add_bytes(writer->text, four, sizeof four);
    }
    yk_text_add(writer->text, "\"");
}
