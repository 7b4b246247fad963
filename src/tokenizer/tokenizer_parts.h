/*
 * Tokenizer parts: what a tokenizer is made of, for the files that make and use one and encode with
 * it (tokenizer/tokenizer.h).
 *
 * The parts belong to the tokenizer and do not change once it is made.
 */
#ifndef YK_TOKENIZER_TOKENIZER_PARTS_H
#define YK_TOKENIZER_TOKENIZER_PARTS_H

#include "base/text.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/decoder.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/token_map.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/wordpiece.h"

struct yk_tokenizer {
    struct yk_text file;
    struct yk_vocabulary *vocabulary; /* of one by characters, which has none of what follows */

    struct yk_normalizer *normaliser; /* NULL: a text stays as it is */
    struct yk_pre_tokenizer *pre_tokenizer;
    struct yk_token_map *map; /* the model's tokens */
    struct yk_bpe *bpe;       /* the model: one of the two */
    struct yk_wordpiece *wordpiece;
    struct yk_added_tokens *added;
    struct yk_post_processor frame;
    struct yk_decoder *decoder;
};

#endif
