/*
 * BPE: byte-pair encoding (Sennrich, Haddow and Birch 2016). At first, each character of a word is
 * one token; in the byte-level vocabularies of GPT-2 and Llama 3, each byte. Then two neighbouring
 * tokens are merged into one, again and again, until no merge rule applies. Of all rules that
 * apply, the rule that comes first in the file is used. If this rule applies at several places of
 * the word, it is used at the leftmost place. With "ignore_merges", a word that is in the
 * vocabulary becomes this one token, without merges. A character without a token becomes a token
 * for each of its bytes ("byte_fallback"), the unknown token, or nothing.
 *
 * Tokenizers like that of Llama 2 have no pre-tokenizer: a whole text is one word, with "▁" for
 * each space. Such a word can be cut where no merge crosses, because the tokens of both parts are
 * then those of the whole: a rule merges only tokens next to each other, so what happens on one
 * side has no effect on the other. Tokens that meet at a place end and begin with the two
 * characters there. So a word can be cut between two ASCII characters if no rule merges tokens that
 * end and begin with them, and before a "▁" behind another character if all rules whose second
 * token begins with "▁" have "▁" alone as the first. Each part is then found in the cache again.
 *
 * A model is immutable: any number of threads may share it. Each thread needs its own cache and
 * yk_bpe_word. The token map must outlive the model.
 */
#ifndef YK_TOKENIZER_MODELS_BPE_H
#define YK_TOKENIZER_MODELS_BPE_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/models/word_cache.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_map.h"
#include "tokenizer/token_spans.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_bpe;
struct yk_bpe_word;

/* Returns whether words may be given as bytes: the vocabulary has a token for each byte of
 * UTF-8 text, also with the suffix of words if there is one, and no prefix is added to characters.
 */
bool yk_bpe_reads_bytes(const struct yk_json *model, const struct yk_token_map *map);

/* Reads the "model" of a tokenizer.json. `map` is the vocabulary of the model. If `bytes`, words
 * are given as bytes; otherwise they are UTF-8. */
yk_status yk_bpe_from_json(const struct yk_json *model, const struct yk_token_map *map, bool bytes,
                           struct yk_bpe **out) YK_MUST_USE;
void yk_bpe_destroy(struct yk_bpe *bpe);

/* Appends the tokens of a word to `out`. A cache must always be used with the same model. */
yk_status yk_bpe_encode(const struct yk_bpe *bpe, struct yk_word_cache *cache,
                        struct yk_bpe_word *word, const char *bytes, size_t length,
                        struct yk_token_ids *out) YK_MUST_USE;

/* Does the same without a cache and also appends the bytes of the word that each token stands for
 * to `spans`. */
yk_status yk_bpe_encode_with_spans(const struct yk_bpe *bpe, struct yk_bpe_word *word,
                                   const char *bytes, size_t length, struct yk_token_ids *out,
                                   struct yk_token_spans *spans) YK_MUST_USE;

/*
 * BPE merge table: the rules that merge two neighbouring tokens into one, with their priorities.
 * yk_bpe_merge_word() applies the rules to a word.
 *
 * While rules are added, only one thread may use a table. Afterwards, any number of threads may
 * read it. Only one thread at a time may use a word.
 */
struct yk_bpe_merge_table;

struct yk_bpe_merge_rank_and_id {
    int32_t rank; /* priority; the rule with the smallest rank is applied first */
    int32_t id;   /* id of the merged token */
};

/* Creates a table with capacity for `count` rules. */
yk_status yk_bpe_merge_table_create(int32_t count, struct yk_bpe_merge_table **out) YK_MUST_USE;
void yk_bpe_merge_table_destroy(struct yk_bpe_merge_table *merges);

/* Adds a rule that merges `left` and `right`. Replaces an earlier rule for the same pair. The table
 * must have capacity for the rule. */
void yk_bpe_merge_table_add(struct yk_bpe_merge_table *merges, int32_t left, int32_t right,
                            struct yk_bpe_merge_rank_and_id merge);

struct yk_bpe_symbol;          /* a token of a long word, in a linked list */
struct yk_bpe_merge_candidate; /* a rule that can be applied at some position of a word */

/* The tokens of a word. A plain struct: initialize it with {0} and free it with
 * yk_bpe_merge_word_free(). */
struct yk_bpe_word {
    int32_t *ids;     /* (count) */
    int32_t *lengths; /* (count); how many bytes each token stands for; kept if `tracked` */
    int32_t count;
    int32_t capacity;
    bool tracked;

    struct yk_bpe_symbol *symbols;
    int32_t symbol_capacity;
    struct yk_bpe_merge_candidate *steps; /* a heap; its first element is applied next */
    int32_t step_count;
    int32_t step_capacity;

    const atomic_bool
        *stop; /* merging fails with YK_ERROR_STOPPED once this is true; NULL means: no flag */
};

void yk_bpe_merge_word_free(struct yk_bpe_word *word);

enum {
    /* Limited, because merging needs up to 40 times as much memory as the word. */
    YK_BPE_WORD_MAX_BYTES = 1 << 24
};

/* Fails if a word is longer than YK_BPE_WORD_MAX_BYTES. */
yk_status yk_bpe_merge_word_check_length(size_t length) YK_MUST_USE;

/* Allocates `ids` and `lengths` for `count` tokens. The caller then writes the tokens. Also sets
 * word->count. */
yk_status yk_bpe_merge_word_resize(struct yk_bpe_word *word, size_t count) YK_MUST_USE;

/* Applies the rules until no rule applies. Takes O(n log n) time for n tokens. */
yk_status yk_bpe_merge_word(struct yk_bpe_word *word,
                            const struct yk_bpe_merge_table *merges) YK_MUST_USE;

#endif
