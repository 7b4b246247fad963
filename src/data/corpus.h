/*
 * Corpus: a sequence of tokens to train on. The path of a corpus is one of these:
 *   a text file      UTF-8 text; a tokenizer makes the tokens, or every character is a token
 *   a folder         the text files in it and in its subfolders, in the order of data/file_list.h;
 *                    a warning says which files are left out, because they are not text
 *   a .bin file      tokens in llm.c's format (data/token_shard.h)
 *   a folder in which all files are .bin files
 *                    the tokens of these files, in the order of data/file_list.h
 * The tokens of a text are held in memory, two or four bytes each. The tokens of .bin files
 * (shards) are read from disk. An open corpus is immutable: any number of threads may read from the
 * same corpus.
 */
#ifndef YK_DATA_CORPUS_H
#define YK_DATA_CORPUS_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

struct yk_corpus;

struct yk_corpus_request {
    const char *path;
    double part; /* use only this fraction of the data, from the beginning: above 0, up to 1 */
    /* Only for text. NULL means: every character is a token. The tokenizer must outlive the corpus.
     */
    const struct yk_tokenizer *tokenizer;
};

/* `count` tokens of a corpus, beginning at token `first`, such as the training set or the
 * evaluation set. */
struct yk_corpus_range {
    const struct yk_corpus *corpus;
    int64_t first;
    int64_t count;
};

yk_status yk_corpus_open(const struct yk_corpus_request *request,
                         struct yk_corpus **out) YK_MUST_USE;
void yk_corpus_close(struct yk_corpus *corpus);

/* Returns the tokenizer of the text: the tokenizer of the request, or one that the corpus created
 * and owns. Returns NULL for token shards. */
const struct yk_tokenizer *yk_corpus_tokenizer(const struct yk_corpus *corpus);

/* Finds the largest token id: for text, the largest id of the tokenizer; for shards, the largest id
 * in the data (reads all tokens). The embedding of a model needs at least `*out` + 1 rows. */
yk_status yk_corpus_find_max_token_id(const struct yk_corpus *corpus, int32_t *out) YK_MUST_USE;

/* Reads tokens `first` to `first` + `count` - 1. Fails if one of these tokens is out of range. */
yk_status yk_corpus_read_tokens(const struct yk_corpus *corpus, int64_t first, int64_t count,
                                int32_t *out) YK_MUST_USE;

/* Appends "3 files, 1.2MB, 94 characters" (94 different characters occur in the text),
 * "3 files, 1.2MB, 310000 tokens" or "2 shards, 200000 tokens". */
void yk_corpus_describe(const struct yk_corpus *corpus, struct yk_text *out);

/* Returns the range of all tokens. */
struct yk_corpus_range yk_corpus_full_range(const struct yk_corpus *corpus);

/* Splits a corpus into two ranges. `part` is a fraction from 0 to below 1. The end of the corpus,
 * this fraction of all tokens, is for evaluation; all tokens before it are for training. */
void yk_corpus_split_train_eval(const struct yk_corpus *corpus, double part,
                                struct yk_corpus_range *training,
                                struct yk_corpus_range *evaluation);

#endif
