/*
 * BPE: byte-level byte-pair encoding, the model of GPT-2's and Llama 3's tokenizers. A word begins
 * as one token a byte; the two neighbours whose rule stands first in the file are joined, the
 * leftmost of equal ones, until no rule applies (Sennrich, Haddow and Birch 2016).
 * A model does not change once it is made: any number of threads may share one. Each thread needs a
 * workspace of its own.
 */
#ifndef YK_TOKENIZER_BPE_H
#define YK_TOKENIZER_BPE_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_map.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_bpe;
struct yk_bpe_workspace;

/* The "model" of a tokenizer.json whose vocabulary is `map`, which is looked at here alone. */
yk_status yk_bpe_read(const struct yk_json *model, const struct yk_token_map *map,
                      struct yk_bpe **out) YK_MUST_USE;
void yk_bpe_destroy(struct yk_bpe *bpe);

yk_status yk_bpe_workspace_create(struct yk_bpe_workspace **out) YK_MUST_USE;
void yk_bpe_workspace_destroy(struct yk_bpe_workspace *workspace);

/* Once the flag is set, encoding a long word ends with YK_ERROR_STOPPED. NULL: none. */
void yk_bpe_workspace_set_stop(struct yk_bpe_workspace *workspace, const atomic_bool *stop);

/* Adds the tokens of a word, given as its bytes, to `out`. A room serves one model. */
yk_status yk_bpe_encode(const struct yk_bpe *bpe, struct yk_bpe_workspace *workspace,
                        const char *word, size_t length, struct yk_token_ids *out) YK_MUST_USE;

/* The tokens of words that were encoded before: a bounded number of words, emptied when it is full.
 * One thread at a time. */
enum {
    YK_BPE_CACHE_MAX_BYTES = 46 /* of a word that is kept; longer ones seldom come again */
};

struct yk_bpe_cache;

yk_status yk_bpe_cache_create(struct yk_bpe_cache **out) YK_MUST_USE;
void yk_bpe_cache_destroy(struct yk_bpe_cache *cache);

/* Adds the tokens of a word to `out`; false where the word is not known. */
bool yk_bpe_cache_find(struct yk_bpe_cache *cache, const char *word, size_t length,
                       struct yk_token_ids *out);

/* Keeps the tokens of the word that was last looked for and not found; of some, nothing is kept. */
void yk_bpe_cache_store(struct yk_bpe_cache *cache, const char *word, size_t length,
                        const int32_t *ids, int64_t count);

/*
 * BPE merge: the rules of byte-pair encoding, which two neighbouring tokens become which one and in
 * which order, and their application to the tokens of one word.
 *
 * While rules are added they belong to one thread; afterwards any number of threads may look them
 * up. A word belongs to one thread.
 */
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
