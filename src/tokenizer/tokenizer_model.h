/*
 * Tokenizer model: converts a word to tokens. The "model" of a tokenizer.json is one of these:
 *   BPE         byte-pair encoding, of bytes or of characters (tokenizer/models/bpe.h)
 *   Unigram     the most probable tokens (tokenizer/models/unigram.h)
 *   WordPiece   the longest tokens from left to right (tokenizer/models/wordpiece.h)
 *   WordLevel   each word is a token (tokenizer/models/wordlevel.h)
 * Each kind is a table of functions. A model is immutable: any number of threads may share it. Each
 * thread needs its own workspace.
 */
#ifndef YK_TOKENIZER_TOKENIZER_MODEL_H
#define YK_TOKENIZER_TOKENIZER_MODEL_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_map.h"
#include "tokenizer/token_spans.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_tokenizer_model;
struct yk_tokenizer_model_workspace;

/* Reads the vocabulary of the "model" of a tokenizer.json. */
yk_status yk_tokenizer_model_read_vocabulary(const struct yk_json *model,
                                             struct yk_token_map **out) YK_MUST_USE;

/* Returns whether the model can encode words that are bytes: its vocabulary is byte-level, that is,
 * it has a token for each of the 256 bytes. */
bool yk_tokenizer_model_reads_bytes(const struct yk_json *model, const struct yk_token_map *map);

/* Reads the "model" of a tokenizer.json. `map` is its vocabulary, which must outlive the model. If
 * `bytes`, words are bytes, which yk_tokenizer_model_reads_bytes() must allow. */
yk_status yk_tokenizer_model_from_json(const struct yk_json *model, const struct yk_token_map *map,
                                       bool bytes, struct yk_tokenizer_model **out) YK_MUST_USE;
void yk_tokenizer_model_destroy(struct yk_tokenizer_model *model);

/* Returns the name of the kind, such as "BPE". */
const char *yk_tokenizer_model_type(const struct yk_tokenizer_model *model);

/* Returns the token that is called by the text that it stands for instead of by its name in the
 * vocabulary: the unknown token of a Unigram model. Returns -1 if there is none. */
int32_t yk_tokenizer_model_token_named_by_text(const struct yk_tokenizer_model *model);

/* A workspace must always be used with the same model. */
yk_status
yk_tokenizer_model_workspace_create(struct yk_tokenizer_model_workspace **out) YK_MUST_USE;
void yk_tokenizer_model_workspace_destroy(struct yk_tokenizer_model_workspace *workspace);
/* Sets a flag that stops the encoding of a long word: yk_tokenizer_model_encode() fails with
 * YK_ERROR_STOPPED once `*stop` is true. NULL means: no flag. */
void yk_tokenizer_model_workspace_set_stop_flag(struct yk_tokenizer_model_workspace *workspace,
                                                const atomic_bool *stop);

/* Appends the tokens of a word to `out` and, unless `spans` is NULL, the bytes of the word that
 * each token stands for to `spans`. */
yk_status yk_tokenizer_model_encode(const struct yk_tokenizer_model *model,
                                    struct yk_tokenizer_model_workspace *workspace,
                                    const char *word, size_t length, struct yk_token_ids *out,
                                    struct yk_token_spans *spans) YK_MUST_USE;

#endif
