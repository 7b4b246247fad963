/*
 * Tokenizer JSON: writes the parts of a tokenizer.json that all conversions to this format share.
 * Files of other formats are converted to the text of a tokenizer.json, so that there is one way to
 * read a tokenizer, and a run that saves its tokenizer saves a tokenizer.json.
 */
#ifndef YK_TOKENIZER_FORMATS_TOKENIZER_JSON_H
#define YK_TOKENIZER_FORMATS_TOKENIZER_JSON_H

#include "base/json_write.h"
#include "base/status.h"
#include "tokenizer/formats/tokenizer_config.h"
#include "tokenizer/token_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_TOKENIZER_JSON_MAX_FRAME = 2
};

/* The added tokens of a tokenizer: those of its vocabulary and those of the config. */
struct yk_tokenizer_json_tokens {
    struct yk_tokenizer_json_token {
        const struct yk_config_token *token; /* its id is ≥ 0 */
        int32_t number;                      /* counted as they are added */
    } * items;
    int32_t count;
    int32_t capacity;
};

void yk_tokenizer_json_tokens_free(struct yk_tokenizer_json_tokens *tokens);

/* Adds a token. It replaces tokens with the same id. */
yk_status yk_tokenizer_json_add_token(struct yk_tokenizer_json_tokens *tokens,
                                      const struct yk_config_token *token) YK_MUST_USE;

/*
 * Adds the tokens of the config. Those without an id get that of the token in `vocabulary`, or
 * the next free id, and are added to `vocabulary` too. The ids are allocated in the arena.
 */
yk_status yk_tokenizer_json_add_config(struct yk_tokenizer_json_tokens *tokens,
                                       const struct yk_tokenizer_config *config,
                                       struct yk_token_map *vocabulary,
                                       struct yk_arena *arena) YK_MUST_USE;

/* Begins the document, up to "added_tokens". The caller writes the other parts. */
void yk_tokenizer_json_begin(struct yk_json_writer *writer,
                             struct yk_tokenizer_json_tokens *tokens);

/* The tokens before and after a text. NULL means: none. */
struct yk_tokenizer_json_frame {
    const char *before[YK_TOKENIZER_JSON_MAX_FRAME];
    const char *after[YK_TOKENIZER_JSON_MAX_FRAME];
};

/* Writes the post-processor that adds a frame. Fails if a token is not in `vocabulary`. */
yk_status yk_tokenizer_json_write_frame(struct yk_json_writer *writer,
                                        const struct yk_tokenizer_json_frame *frame,
                                        const struct yk_token_map *vocabulary) YK_MUST_USE;

/* The options of a ByteLevel component. */
struct yk_tokenizer_json_byte_level {
    bool add_prefix_space;
    bool trim_offsets;
    bool use_regex;
};

/* Writes a ByteLevel component on one line. */
void yk_tokenizer_json_write_byte_level(struct yk_json_writer *writer, const char *key,
                                        struct yk_tokenizer_json_byte_level options);

/* Writes, on one line, the pre-tokenizer that splits a text by a word pattern before ByteLevel. */
void yk_tokenizer_json_write_word_pattern(struct yk_json_writer *writer, const char *key,
                                          const char *pattern);

/* Writes a member whose value is the base64 of `bytes`. */
void yk_tokenizer_json_write_base64(struct yk_json_writer *writer, const char *key,
                                    const char *bytes, size_t length);

#endif
