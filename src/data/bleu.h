/*
 * BLEU: a score for machine translations against human reference translations (Papineni, Roukos,
 * Ward and Zhu, "BLEU: a Method for Automatic Evaluation of Machine Translation", ACL 2002). It is
 * computed for a whole corpus with one reference per sentence, as sacreBLEU does by default (Post,
 * "A Call for Clarity in Reporting BLEU Scores", WMT 2018): words by tokenizer 13a, n-grams of one
 * to four words, exponential smoothing of orders without a match. Any thread may call this.
 *
 *   score = 100 · BP · exp(¼ Σ ln pₙ),  BP = min(1, exp(1 − reference words / hypothesis words))
 */
#ifndef YK_DATA_BLEU_H
#define YK_DATA_BLEU_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_BLEU_MAX_NGRAM = 4
};

struct yk_bleu_options {
    bool lowercase; /* ignore case */
};

struct yk_bleu_result {
    double score;                         /* 0 to 100 */
    double precisions[YK_BLEU_MAX_NGRAM]; /* in percent, for n = 1 … 4, after smoothing */
    double brevity_penalty;               /* BP above; 1 if the hypotheses are not shorter */
    int64_t hypothesis_length;            /* in words */
    int64_t reference_length;             /* in words */
    int64_t matches[YK_BLEU_MAX_NGRAM];   /* n-grams of hypotheses that the reference contains */
    int64_t totals[YK_BLEU_MAX_NGRAM];    /* all n-grams of the hypotheses */
};

/* Scores `count` hypotheses. Hypothesis i is compared with reference i. */
yk_status yk_bleu_compute(const char *const *hypotheses, const char *const *references,
                          int64_t count, bool lowercase, struct yk_bleu_result *out) YK_MUST_USE;

/* Adds the line that sacreBLEU prints:
 * "BLEU = 34.21 66.0/41.2/27.8/19.0 (BP = 0.987 ratio = 0.987 hyp_len = 11234 ref_len = 11380)". */
void yk_bleu_add_summary(const struct yk_bleu_result *bleu, struct yk_text *out);

/* Words of the hypotheses divided by words of the references; 0 if the references are empty. */
double yk_bleu_length_ratio(const struct yk_bleu_result *bleu);

/* Adds the signature of the score in sacreBLEU's format, with the version of sacreBLEU that this
 * code reproduces: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0". */
void yk_bleu_add_signature(const struct yk_bleu_options *options, struct yk_text *out);

/*
 * The words of a sentence as BLEU counts them: those of mteval-v13a.pl by NIST and WMT, byte for
 * byte equal to sacreBLEU's tokenizer "13a". XML entities are decoded. Each ASCII punctuation
 * character is a word of its own, except full stops and commas between digits, and hyphens that do
 * not follow a digit. Words are separated by any Unicode white space, as in Python's str.split().
 *
 * A plain struct, initialized with {0} and reused for one sentence after another. One thread at a
 * time may use it.
 */
struct yk_bleu_tokens {
    struct yk_text words; /* separated by single spaces */
    struct yk_text spare; /* second buffer, which each rule writes into */
};

/* Replaces `tokens` with the words of a sentence. Bytes that are not UTF-8 are parts of words. */
yk_status yk_bleu_tokens_split(const char *sentence, size_t length,
                               struct yk_bleu_tokens *tokens) YK_MUST_USE;

void yk_bleu_tokens_free(struct yk_bleu_tokens *tokens);

#endif
