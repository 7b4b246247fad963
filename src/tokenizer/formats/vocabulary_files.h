/*
 * Vocabulary files: converts the older files of tokenizers to a tokenizer.json:
 *   vocab.json and merges.txt   byte-level BPE, as of GPT-2, RoBERTa, Qwen 2 and CLIP
 *   vocab.txt                   WordPiece, as of BERT: one token on each line
 */
#ifndef YK_TOKENIZER_FORMATS_VOCABULARY_FILES_H
#define YK_TOKENIZER_FORMATS_VOCABULARY_FILES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/formats/tokenizer_config.h"

/* Appends the text of a tokenizer.json to `out`. `vocabulary` and `merges` are the contents of the
 * files. Messages of errors contain the names of the files, but not that of their folder. */
yk_status yk_vocabulary_files_bpe_to_json(const struct yk_text *vocabulary,
                                          const struct yk_text *merges,
                                          const struct yk_tokenizer_config *config,
                                          struct yk_arena *arena, struct yk_text *out) YK_MUST_USE;

yk_status yk_vocabulary_files_wordpiece_to_json(const struct yk_text *vocabulary,
                                                const struct yk_tokenizer_config *config,
                                                struct yk_arena *arena,
                                                struct yk_text *out) YK_MUST_USE;

#endif
