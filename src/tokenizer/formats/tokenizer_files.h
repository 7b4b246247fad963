/*
 * Tokenizer files: finds the file of a tokenizer in a folder, and reads it as the text of a
 * tokenizer.json. Files of other formats are converted. A folder may contain, in this order:
 *   tokenizer.json              of Hugging Face's tokenizers
 *   tokenizer.model             of SentencePiece; also spiece.model, sentencepiece.bpe.model,
 *                               sentencepiece.model, spm.model
 *   vocab.json and merges.txt   of GPT-2
 *   vocab.txt                   of BERT
 *   vocabulary.json             of a character tokenizer
 */
#ifndef YK_TOKENIZER_FORMATS_TOKENIZER_FILES_H
#define YK_TOKENIZER_FORMATS_TOKENIZER_FILES_H

#include "base/status.h"
#include "base/text.h"

/* Returns the name of the tokenizer's file in a folder, or NULL if there is none. */
const char *yk_tokenizer_files_find(const char *folder);

/*
 * Reads the tokenizer at `path`, a file or a folder. Appends the text of a tokenizer.json, or of a
 * vocabulary.json, to `out`, and the path of the file to `source`. The path "-" means: a
 * tokenizer.json on standard input.
 */
yk_status yk_tokenizer_files_read(const char *path, struct yk_text *out,
                                  struct yk_text *source) YK_MUST_USE;

#endif
