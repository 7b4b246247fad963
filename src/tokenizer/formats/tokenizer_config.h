/*
 * Tokenizer config: what the files beside a vocabulary say about its tokenizer, in folders in
 * Hugging Face format without a tokenizer.json:
 *   tokenizer_config.json     class, special tokens, options, "added_tokens_decoder"
 *   special_tokens_map.json   special tokens; older
 *   added_tokens.json         ids of tokens that are not in the vocabulary; older
 *   config.json               the kind of the model, which tells the class if nothing else does
 * Each file may be missing. It is allocated in the arena of the caller and is immutable.
 */
#ifndef YK_TOKENIZER_FORMATS_TOKENIZER_CONFIG_H
#define YK_TOKENIZER_FORMATS_TOKENIZER_CONFIG_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_tokenizer_option {
    YK_TOKENIZER_ADD_BEGIN,        /* add_bos_token */
    YK_TOKENIZER_ADD_END,          /* add_eos_token */
    YK_TOKENIZER_ADD_PREFIX_SPACE, /* add_prefix_space */
    YK_TOKENIZER_LEGACY,        /* legacy: a space before each part of a text, not only the first */
    YK_TOKENIZER_LOWERCASE,     /* do_lower_case */
    YK_TOKENIZER_KEEP_ACCENTS,  /* keep_accents */
    YK_TOKENIZER_STRIP_ACCENTS, /* strip_accents */
    YK_TOKENIZER_SPLIT_CHINESE, /* tokenize_chinese_chars */
    YK_TOKENIZER_OPTION_COUNT
};

enum yk_named_token {
    YK_NAMED_TOKEN_BEGIN,     /* bos_token */
    YK_NAMED_TOKEN_END,       /* eos_token */
    YK_NAMED_TOKEN_UNKNOWN,   /* unk_token */
    YK_NAMED_TOKEN_SEPARATOR, /* sep_token */
    YK_NAMED_TOKEN_PADDING,   /* pad_token */
    YK_NAMED_TOKEN_CLASS,     /* cls_token */
    YK_NAMED_TOKEN_MASK,      /* mask_token */
    YK_NAMED_TOKEN_COUNT
};

/* A token that is found in the text before it is split, as in "added_tokens" of a tokenizer.json.
 */
struct yk_config_token {
    const char *text;
    int64_t id; /* −1: that of the token in the vocabulary, else the next one that is free */
    bool single_word;
    bool strip_left;
    bool strip_right;
    bool normalized;
    bool special;
};

struct yk_tokenizer_config {
    const char *class_name; /* without "Fast" at the end; "" means: none is named */
    int8_t given[YK_TOKENIZER_OPTION_COUNT]; /* 0 not given, 1 true, −1 false */
    const char *named[YK_NAMED_TOKEN_COUNT]; /* or NULL */
    int64_t extra_ids;                       /* −1: not given */
    struct yk_config_token *tokens;          /* none twice */
    int32_t token_count;
};

/* Reads the files in a folder. */
yk_status yk_tokenizer_config_read(const char *folder, struct yk_arena *arena,
                                   struct yk_tokenizer_config *out) YK_MUST_USE;

/* Returns the value of an option, or `otherwise` if it is not given. */
bool yk_tokenizer_config_get(const struct yk_tokenizer_config *config,
                             enum yk_tokenizer_option option, bool otherwise);

/* Returns the token of this name, or `otherwise` if there is none. */
const char *yk_tokenizer_config_get_name(const struct yk_tokenizer_config *config,
                                         enum yk_named_token name, const char *otherwise);

#endif
