/*
 * Tokenizer parts: what a tokenizer consists of, for tokenizer.c, which reads and owns it, and
 * tokenizer_encoder.c, which runs it. Parts are immutable: any number of threads may share them.
 */
#ifndef YK_TOKENIZER_TOKENIZER_PARTS_H
#define YK_TOKENIZER_TOKENIZER_PARTS_H

#include "base/text.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/character_vocabulary.h"
#include "tokenizer/chat/chat_files.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/token_decoder.h"
#include "tokenizer/token_map.h"
#include "tokenizer/tokenizer_model.h"

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

#endif
