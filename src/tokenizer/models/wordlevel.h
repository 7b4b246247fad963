/*
 * WordLevel: each word is a token. A word that is not in the vocabulary becomes the unknown token.
 * A model is immutable: any number of threads may share it. The token map must outlive the model.
 */
#ifndef YK_TOKENIZER_MODELS_WORDLEVEL_H
#define YK_TOKENIZER_MODELS_WORDLEVEL_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_map.h"
#include "tokenizer/token_spans.h"

#include <stddef.h>

struct yk_wordlevel;

/* Reads the "model" of a tokenizer.json whose vocabulary is `map`. */
yk_status yk_wordlevel_from_json(const struct yk_json *model, const struct yk_token_map *map,
                                 struct yk_wordlevel **out) YK_MUST_USE;
void yk_wordlevel_destroy(struct yk_wordlevel *wordlevel);

/* Appends the token of a word to `out` and, unless it is NULL, its span to `spans`. Fails if
 * neither the word nor the unknown token is in the vocabulary. */
yk_status yk_wordlevel_encode(const struct yk_wordlevel *wordlevel, const char *word, size_t length,
                              struct yk_token_ids *out, struct yk_token_spans *spans) YK_MUST_USE;

#endif
