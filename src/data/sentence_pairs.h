/*
 * Sentence pairs: sentences and their translations as tokens. They are read from two files with one
 * sentence per line (data/lines.h). Line n of one file is the translation of line n of the other.
 * Both the source and the target (the translation) end with an end token, as in Marian
 * (Junczys-Dowmunt et al., 2018). The decoder reads a start token, then the target without the end
 * token.
 *
 * A pair is faulty if the source or the target is empty or too long. Either the first faulty pair
 * is an error, whose message contains the line, or all faulty pairs are skipped and counted. Text
 * that is not UTF-8, and files with different numbers of lines, are always errors. All tokens are
 * held in memory, four bytes each. Sentence pairs are immutable: any number of threads may use
 * them. They do not refer to the request.
 */
#ifndef YK_DATA_SENTENCE_PAIRS_H
#define YK_DATA_SENTENCE_PAIRS_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

/* Callers must not change the members. */
struct yk_sentence_pairs {
    int64_t count;             /* number of pairs */
    int32_t start_id;          /* id of the first token that a decoder reads */
    int32_t source_padding_id; /* padding token of the source's tokenizer, or 0 if there is none */
    int32_t target_padding_id; /* padding token of the target's tokenizer, or 0 */

    struct yk_token_ids ids;
    int64_t *starts; /* (2 count + 1) where in `ids` each text begins: source 0, target 0, source 1,
                        target 1 …; the last element is the end of the last target */
    int64_t *lines;  /* (count) line of each pair, from 1 */
    int64_t skipped; /* number of faulty pairs that were skipped */
};

struct yk_sentence_pairs_request {
    const char *source_path;
    const char *target_path;
    const struct yk_tokenizer *source_tokenizer;
    const struct yk_tokenizer *target_tokenizer; /* may be the same as source_tokenizer */
    int64_t longest; /* maximum number of tokens of a source or a target, including the end token */
    int32_t start_id; /* id of the first token that a decoder reads */
    bool skip_faulty; /* skip faulty pairs; false means: the first one is an error */
    double from;      /* skip this fraction of all lines at the beginning */
    double until; /* stop after this fraction of all lines; 0 means: read to the end. The result may
                     be empty if `from` is above 0. */
};

struct yk_sentence_pair {
    const int32_t *source; /* (source_count) including the end token */
    int64_t source_count;
    const int32_t *target; /* (target_count) including the end token */
    int64_t target_count;
    int64_t line; /* number of the line in both files, from 1 */
};

struct yk_sentence_pair_totals {
    int64_t pairs;
    int64_t skipped; /* faulty pairs that were skipped */
    int64_t source_tokens;
    int64_t target_tokens;
    int64_t longest_source; /* number of tokens of the longest source */
    int64_t longest_target;
};

yk_status yk_sentence_pairs_open(const struct yk_sentence_pairs_request *request,
                                 struct yk_sentence_pairs **out) YK_MUST_USE;
void yk_sentence_pairs_close(struct yk_sentence_pairs *pairs);

struct yk_sentence_pair_totals
yk_sentence_pairs_compute_totals(const struct yk_sentence_pairs *pairs);

/* Returns pair `index`, in the order of the lines. The tokens belong to `pairs`. */
struct yk_sentence_pair yk_sentence_pairs_at(const struct yk_sentence_pairs *pairs, int64_t index);

/* Appends "29000 pairs, 412034 + 430123 tokens, 0 left out". */
void yk_sentence_pairs_describe(const struct yk_sentence_pairs *pairs, struct yk_text *out);

#endif
