/*
 * BPE: byte-level byte-pair encoding, the model of the tokenizers of GPT-2 and Llama 3 (Sennrich,
 * Haddow and Birch 2016). A word starts as one token per byte. The pair of neighbours with the
 * first rule in the file is merged, the leftmost one if it occurs several times, until no rule
 * applies. A model is immutable: any number of threads may share one. Each thread needs its own
 * workspace.
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

/* Reads the "model" of a tokenizer.json. `map` is its vocabulary, which need not outlive the call.
 */
yk_status yk_bpe_read(const struct yk_json *model, const struct yk_token_map *map,
                      struct yk_bpe **out) YK_MUST_USE;
void yk_bpe_destroy(struct yk_bpe *bpe);

yk_status yk_bpe_workspace_create(struct yk_bpe_workspace **out) YK_MUST_USE;
void yk_bpe_workspace_destroy(struct yk_bpe_workspace *workspace);

/* Encoding a long word fails with YK_ERROR_STOPPED once `*stop` is true. NULL means: no flag. */
void yk_bpe_workspace_set_stop(struct yk_bpe_workspace *workspace, const atomic_bool *stop);

/* Appends the tokens of a word to `out`. A workspace must always be used with the same model. */
yk_status yk_bpe_encode(const struct yk_bpe *bpe, struct yk_bpe_workspace *workspace,
                        const char *word, size_t length, struct yk_token_ids *out) YK_MUST_USE;

/* A cache of the tokens of words, with a fixed capacity. It is emptied when it is full. One thread
 * at a time may use it. */
enum {
    YK_BPE_CACHE_MAX_BYTES =
        46 /* the longest word that is stored; longer words rarely occur again */
};

struct yk_bpe_cache;

yk_status yk_bpe_cache_create(struct yk_bpe_cache **out) YK_MUST_USE;
void yk_bpe_cache_destroy(struct yk_bpe_cache *cache);

/* Appends the tokens of a word to `out`. Returns false if the word is not in the cache. */
bool yk_bpe_cache_find(struct yk_bpe_cache *cache, const char *word, size_t length,
                       struct yk_token_ids *out);

/* Stores the tokens of a word right after yk_bpe_cache_find() has not found it. Does not store long
 * words. */
void yk_bpe_cache_store(struct yk_bpe_cache *cache, const char *word, size_t length,
                        const int32_t *ids, int64_t count);

/*
 * BPE merge table: the rules that merge two neighbouring tokens into one, with their priorities,
 * and the function that applies them to a word.
 *
 * While rules are added, one thread may use a table; afterwards any number of threads may read it.
 * One thread at a time may use a word.
 */
struct yk_bpe_merge_table;

struct yk_bpe_merge {
    int32_t rank; /* priority; the smallest is applied first */
    int32_t id;   /* of the merged token */
};

/* Creates a table with capacity for `count` rules. */
yk_status yk_bpe_merge_table_create(int32_t count, struct yk_bpe_merge_table **out) YK_MUST_USE;
void yk_bpe_merge_table_destroy(struct yk_bpe_merge_table *merges);

/* Adds a rule, within the capacity. It replaces an earlier rule for the same pair. */
void yk_bpe_merge_table_add(struct yk_bpe_merge_table *merges, int32_t left, int32_t right,
                            struct yk_bpe_merge merge);

struct yk_bpe_symbol;          /* a token of a long word, linked to its neighbours */
struct yk_bpe_merge_candidate; /* a rule that can be applied at a position */

/* The tokens of a word. A plain struct, initialized with {0} and freed by yk_bpe_merge_word_free().
 */
struct yk_bpe_word {
    int32_t *ids; /* (count) */
    int32_t count;
    int32_t capacity;

    struct yk_bpe_symbol *symbols;
    int32_t symbol_capacity;
    struct yk_bpe_merge_candidate *steps; /* a heap; the next merge is the first element */
    int32_t step_count;
    int32_t step_capacity;

    const atomic_bool
        *stop; /* merging fails with YK_ERROR_STOPPED once this is true; NULL means: no flag */
};

void yk_bpe_merge_word_free(struct yk_bpe_word *word);

enum {
    YK_BPE_WORD_MAX_BYTES = 1 << 24 /* merging takes up to about 40 times as much memory */
};

/* Fails if a word is longer than YK_BPE_WORD_MAX_BYTES. */
yk_status yk_bpe_merge_word_check(size_t length) YK_MUST_USE;

/* Allocates `ids` for `count` tokens, which the caller then writes. */
yk_status yk_bpe_merge_word_reserve(struct yk_bpe_word *word, size_t count) YK_MUST_USE;

/* Applies the rules until none applies. Takes O(n log n) time for n tokens. */
yk_status yk_bpe_merge_word(struct yk_bpe_word *word,
                            const struct yk_bpe_merge_table *merges) YK_MUST_USE;

#endif
