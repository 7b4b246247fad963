/*
 * Unigram: splits a word into the tokens whose scores, which are logarithms of probabilities, have
 * the largest sum (Kudo 2018). The best way up to each character is found from left to right
 * (Viterbi's algorithm). A character without a token costs ten more than the lowest score;
 * neighbouring ones are one unknown token or, with "byte_fallback", a token for each of their
 * bytes. A model is immutable: any number of threads may share it. Each thread needs its own
 * workspace. The token map must outlive the model.
 */
#ifndef YK_TOKENIZER_MODELS_UNIGRAM_H
#define YK_TOKENIZER_MODELS_UNIGRAM_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_map.h"
#include "tokenizer/token_spans.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct yk_unigram;

/* Reads the "model" of a tokenizer.json. `map` is its vocabulary. */
yk_status yk_unigram_from_json(const struct yk_json *model, const struct yk_token_map *map,
                               struct yk_unigram **out) YK_MUST_USE;
void yk_unigram_destroy(struct yk_unigram *unigram);

/* Returns the unknown token, or -1 if there is none. */
int32_t yk_unigram_unknown_id(const struct yk_unigram *unigram);

struct yk_unigram_place; /* the best way to one byte of a word */

/* A plain struct: initialize it with {0} and free it with yk_unigram_workspace_free(). */
struct yk_unigram_workspace {
    struct yk_unigram_place *places;
    size_t capacity;
    const atomic_bool *stop; /* encoding fails with YK_ERROR_STOPPED once this is true; NULL means:
                                no flag */
};

void yk_unigram_workspace_free(struct yk_unigram_workspace *workspace);

/* Appends the tokens of a word, which is UTF-8, to `out` and, unless it is NULL, their spans to
 * `spans`. Fails if a character has no token and there is no unknown token. */
yk_status yk_unigram_encode(const struct yk_unigram *unigram,
                            struct yk_unigram_workspace *workspace, const char *word, size_t length,
                            struct yk_token_ids *out, struct yk_token_spans *spans) YK_MUST_USE;

#endif
