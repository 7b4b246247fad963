/*
 * SentencePiece JSON: converts a SentencePiece model to a tokenizer.json.
 *
 * The tokens of a text are those that SentencePiece itself gives, with these exceptions, in which
 * the result is what transformers make of such a file:
 *   - control pieces (<s>), the unknown piece and, except in a unigram model, user-defined pieces
 *     are found in the text before it is normalized; each part between them is a text of its own,
 *     but where pieces are user-defined, only one at the very beginning gets a space in front
 *   - characters are normalized as by the Precompiled of Hugging Face's tokenizers
 *   - a "▁" at the end of a text, which SentencePiece takes for a space, stays
 *   - a word model gives one unknown token for each unknown word
 *   - pieces that are marked as unused are used
 * Merges of BPE, which the file does not list, are all pairs of pieces whose text is a piece, in
 * the order of its score, as SentencePiece merges. (transformers 5 order them by id, which differs
 * where ids do not follow scores.) Of pieces with the same score, as in vocabularies that were
 * extended with a score of 0, the smallest id goes first; SentencePiece takes the leftmost pair.
 *
 * The class of the tokenizer in the config decides which tokens are added around a text, and a
 * few classes have ids of their own, which are not the numbers of the pieces.
 */
#ifndef YK_TOKENIZER_FORMATS_SENTENCEPIECE_JSON_H
#define YK_TOKENIZER_FORMATS_SENTENCEPIECE_JSON_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/formats/sentencepiece_model.h"
#include "tokenizer/formats/tokenizer_config.h"

/* Appends the text of a tokenizer.json to `out`. */
yk_status yk_sentencepiece_json_write(const struct yk_sentencepiece_model *model,
                                      const struct yk_tokenizer_config *config,
                                      struct yk_arena *arena, struct yk_text *out) YK_MUST_USE;

#endif
