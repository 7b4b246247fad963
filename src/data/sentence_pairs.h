/*
 * Sentence pairs: sentences and their translations as tokens, from two files with one sentence per
 * line (data/lines.h). Line n of one file is the translation of line n of the other. Both source
 * and target end with an end token, as in Marian (Junczys-Dowmunt et al., 2018). The decoder reads
 * a start token and the target without its end token.
 *
 * A pair is faulty if a side is empty or too long. The first faulty pair is an error that names its
 * line, or all are skipped and counted. Text that is not UTF-8, and files with different numbers of
 * lines, are always errors. All tokens are kept in memory, four bytes each. An open list of pairs
 * is immutable: any number of threads may use one. It does not refer to the request.
 */
#ifndef YK_DATA_SENTENCE_PAIRS_H
#define YK_DATA_SENTENCE_PAIRS_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

/* Callers only read it. */
struct yk_sentence_pairs {
    int64_t count;             /* of pairs */
    int32_t start_id;          /* the first token that a decoder reads */
    int32_t source_padding_id; /* the padding token of the tokenizer, or 0 if it has none */
    int32_t target_padding_id;

    struct yk_token_ids ids;
    int64_t *starts; /* (2 count + 1) index in `ids`: source, target, source … and the end */
    int64_t *lines;  /* (count) */
    int64_t skipped; /* faulty pairs */
};

struct yk_sentence_pairs_request {
    const char *source_path;
    const char *target_path;
    const struct yk_tokenizer *source_tokenizer;
    const struct yk_tokenizer *target_tokenizer; /* may be the same */
    int64_t longest;  /* the most tokens of a side, including its end token */
    int32_t start_id; /* the first token that a decoder reads */
    bool skip_faulty; /* skip faulty pairs; else the first one is an error */
    double from;      /* read the lines from this fraction of all lines … */
    double until; /* … up to this fraction; 0 means: to the end. If `from` is above 0, the result
                     may be empty. */
};

struct yk_sentence_pair {
    const int32_t *source; /* (source_count) including the end token */
    int64_t source_count;
    const int32_t *target; /* (target_count) including the end token */
    int64_t target_count;
    int64_t line; /* in both files, from 1 */
};

struct yk_sentence_pair_totals {
    int64_t pairs;
    int64_t skipped;
    int64_t source_tokens;
    int64_t target_tokens;
    int64_t longest_source; /* tokens of the longest source */
    int64_t longest_target;
    double mean_longer_side; /* mean tokens of the longer side of a pair */
};

yk_status yk_sentence_pairs_open(const struct yk_sentence_pairs_request *request,
                                 struct yk_sentence_pairs **out) YK_MUST_USE;
void yk_sentence_pairs_close(struct yk_sentence_pairs *pairs);

struct yk_sentence_pair_totals yk_sentence_pairs_totals(const struct yk_sentence_pairs *pairs);

/* Pair `index`, in the order of the lines. The tokens belong to the list. */
struct yk_sentence_pair yk_sentence_pairs_at(const struct yk_sentence_pairs *pairs, int64_t index);

/* Adds "29000 pairs, 412034 + 430123 tokens, 0 left out". */
void yk_sentence_pairs_describe(const struct yk_sentence_pairs *pairs, struct yk_text *out);

#endif
