/*
 * BPE word: the tokens of one word while rules of merging are applied to it. One thread at a time.
 */
#ifndef YK_TOKENIZER_BPE_WORD_H
#define YK_TOKENIZER_BPE_WORD_H

#include "base/status.h"
#include "tokenizer/bpe_merges.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

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
