/*
 * Tokenizer parts: what a tokenizer is made of, for the files that make and use one and encode with
 * it (data/tokenizer.h).
 *
 * The parts belong to the tokenizer and do not change once it is made.
 */
#ifndef YK_DATA_TOKENIZER_PARTS_H
#define YK_DATA_TOKENIZER_PARTS_H

#include "base/text.h"
#include "data/added_tokens.h"
#include "data/bpe.h"
#include "data/decoder.h"
#include "data/normalise.h"
#include "data/pre_tokenizer.h"
#include "data/token_frame.h"
#include "data/token_map.h"
#include "data/tokenizer.h"
#include "data/wordpiece.h"

struct yk_tokenizer {
    struct yk_text file;
    struct yk_vocabulary *vocabulary; /* of one by characters, which has none of what follows */

    struct yk_normaliser *normaliser; /* NULL: a text stays as it is */
    struct yk_pre_tokenizer *pre_tokenizer;
    struct yk_token_map *map; /* the model's tokens */
    struct yk_bpe *bpe;       /* the model: one of the two */
    struct yk_wordpiece *wordpiece;
    struct yk_added_tokens *added;
    struct yk_token_frame frame;
    struct yk_decoder *decoder;
};

#endif
