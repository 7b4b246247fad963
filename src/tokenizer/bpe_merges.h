/*
 * Merges: which two neighbouring tokens become which one, and in which order: the rules of
 * byte-pair encoding (Sennrich, Haddow and Birch 2016).
 *
 * While rules are added they belong to one thread; afterwards any number of threads may look them
 * up.
 */
#ifndef YK_TOKENIZER_BPE_MERGES_H
#define YK_TOKENIZER_BPE_MERGES_H

#include "base/status.h"

#include <stdint.h>

struct yk_bpe_merges;

struct yk_bpe_merge {
    int32_t rank; /* lower ones come first */
    int32_t id;   /* of the token that the two become */
};

/* Room for `count` rules. */
yk_status yk_bpe_merges_create(int32_t count, struct yk_bpe_merges **out) YK_MUST_USE;
void yk_bpe_merges_destroy(struct yk_bpe_merges *merges);

/* Adds a rule, at most as many as there is room for; a later one for the same pair replaces it. */
void yk_bpe_merges_add(struct yk_bpe_merges *merges, int32_t left, int32_t right,
                       struct yk_bpe_merge merge);

/* What the pair becomes; NULL where it stays two. */
const struct yk_bpe_merge *yk_bpe_merges_find(const struct yk_bpe_merges *merges, int32_t left,
                                              int32_t right);

#endif
