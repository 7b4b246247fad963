/*
 * SentencePiece merges: the merges of a BPE model of SentencePiece, whose file has only scores.
 * Merging two pieces gives another one; the higher its score, the earlier it is merged.
 */
#ifndef YK_TOKENIZER_FORMATS_SENTENCEPIECE_MERGES_H
#define YK_TOKENIZER_FORMATS_SENTENCEPIECE_MERGES_H

#include "base/status.h"
#include "tokenizer/formats/sentencepiece_model.h"
#include "tokenizer/token_map.h"

#include <stdint.h>

struct yk_sentencepiece_merge {
    float score;
    int32_t token;      /* id of the result */
    size_t left_length; /* bytes of the piece that are the left half */
};

struct yk_sentencepiece_merges {
    struct yk_sentencepiece_merge *items;
    int32_t count;
    int32_t capacity;
};

void yk_sentencepiece_merges_free(struct yk_sentencepiece_merges *merges);

/* Adds all merges in their order. `vocabulary` maps the texts of the pieces to their ids. Fails if
 * the pieces are too long to try all their halves. */
yk_status yk_sentencepiece_merges_find(const struct yk_sentencepiece_model *model,
                                       const struct yk_token_map *vocabulary,
                                       struct yk_sentencepiece_merges *out) YK_MUST_USE;

#endif
