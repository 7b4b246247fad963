/*
 * Corpus: a long row of tokens to train on. A path is
 *   a text file        UTF-8, cut into tokens by a tokenizer, or else into its characters,
 *   a folder           the text files in it and below, in the order of data/file_list.h,
 *   a .bin file        tokens that llm.c wrote (data/token_shard.h),
 *   a folder of these  one after the other.
 * Text is kept in memory as ids of two or four bytes; tokens of shards stay on the disk. A corpus
 * does not change once it is open: any number of threads may read from one.
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
    double part;                          /* of it, from the beginning: above 0, up to 1 */
    const struct yk_tokenizer *tokenizer; /* of text; NULL: the characters that are in it. It must
                                             outlive the corpus. */
};

/* Tokens of a corpus from `first` on: what is trained on, or what is kept for evaluation. */
struct yk_corpus_range {
    const struct yk_corpus *corpus;
    int64_t first;
    int64_t count;
};

yk_status yk_corpus_open(const struct yk_corpus_request *request,
                         struct yk_corpus **out) YK_MUST_USE;
void yk_corpus_close(struct yk_corpus *corpus);

/* The tokenizer of the text, given or the corpus's own; NULL for tokens of shards. */
const struct yk_tokenizer *yk_corpus_tokenizer(const struct yk_corpus *corpus);

/* The largest token there is: a model needs more rows than that. Reads all of a corpus of shards.
 */
yk_status yk_corpus_max_token(const struct yk_corpus *corpus, int32_t *out) YK_MUST_USE;

/* Tokens `first` to `first` + `count` - 1, which must be there. */
yk_status yk_corpus_read(const struct yk_corpus *corpus, int64_t first, int64_t count,
                         int32_t *out) YK_MUST_USE;

/* "3 files, 1.2MB, 94 characters", "3 files, 1.2MB, 310000 tokens" or "2 shards, 200000 tokens".
 */
void yk_corpus_describe(const struct yk_corpus *corpus, struct yk_text *out);

/* All of it. */
struct yk_corpus_range yk_corpus_all(const struct yk_corpus *corpus);

/* The last `part` of it, from 0 to below 1, for evaluation, and what is before it for training. */
void yk_corpus_split(const struct yk_corpus *corpus, double part, struct yk_corpus_range *training,
                     struct yk_corpus_range *evaluation);

#endif
