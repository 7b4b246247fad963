/*
 * BPE merge: the rules of byte-pair encoding, which two neighbouring tokens become which one and in
 * which order (Sennrich, Haddow and Birch 2016), and their application to the tokens of one word.
 *
 * While rules are added they belong to one thread; afterwards any number of threads may look them
 * up. A word belongs to one thread.
 */
#ifndef YK_TOKENIZER_BPE_MERGE_H
#define YK_TOKENIZER_BPE_MERGE_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>

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

struct yk_bpe_symbol;    /* a token of a long word, and its neighbours */
struct yk_bpe_candidate; /* a rule that may be applied at a place */

/* A plain struct that starts as {0} and is freed by yk_bpe_merge_word_free(). */
struct yk_bpe_word {
    int32_t *ids; /* the tokens */
    int32_t count;
    int32_t capacity;

    struct yk_bpe_symbol *symbols;
    int32_t symbol_capacity;
    struct yk_bpe_candidate *steps; /* a heap: the one that is next stands first */
    int32_t step_count;
    int32_t step_capacity;

    const atomic_bool *stop; /* NULL: none; once it is set, merging ends with YK_ERROR_STOPPED */
};

void yk_bpe_merge_word_free(struct yk_bpe_word *word);

enum {
    YK_BPE_WORD_MAX_BYTES = 1 << 24 /* bytes; merging takes up to about 40 times as many */
};

/* Refuses a longer word. */
yk_status yk_bpe_merge_word_check(size_t length) YK_MUST_USE;

/* Makes room for `count` tokens, which the caller then writes into `ids`. */
yk_status yk_bpe_merge_word_reserve(struct yk_bpe_word *word, size_t count) YK_MUST_USE;

/* Joins tokens by the rules until none is left that applies. Of n tokens in time n log n. */
yk_status yk_bpe_merge_word(struct yk_bpe_word *word,
                            const struct yk_bpe_merges *merges) YK_MUST_USE;

#endif
