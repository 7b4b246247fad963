/*
 * WordPiece: splits a word into tokens from left to right, and always takes the longest token of
 * the vocabulary that matches (Schuster and Nakajima 2012; Devlin et al. 2019). Tokens that do
 * not begin a word have a prefix ("##") in the vocabulary. If a word is too long, or cannot be
 * split into tokens of the vocabulary, it becomes the unknown token. A model is immutable: any
 * number of threads may share it. The token map must outlive the model.
 */
#ifndef YK_TOKENIZER_MODELS_WORDPIECE_H
#define YK_TOKENIZER_MODELS_WORDPIECE_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_map.h"
#include "tokenizer/token_spans.h"

#include <stddef.h>

struct yk_wordpiece;

/* Reads the "model" of a tokenizer.json whose vocabulary is `map`. */
yk_status yk_wordpiece_from_json(const struct yk_json *model, const struct yk_token_map *map,
                                 struct yk_wordpiece **out) YK_MUST_USE;
void yk_wordpiece_destroy(struct yk_wordpiece *wordpiece);

/* Appends the tokens of a word to `out` and, unless it is NULL, their spans to `spans`. Fails if a
 * word is unknown and the vocabulary has no unknown token. */
yk_status yk_wordpiece_encode(const struct yk_wordpiece *wordpiece, const char *word, size_t length,
                              struct yk_token_ids *out, struct yk_token_spans *spans) YK_MUST_USE;

#endif
