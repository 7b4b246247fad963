/*
 * BLEU: a score for machine translations (hypotheses). They are compared with human translations,
 * the references (Papineni, Roukos, Ward and Zhu, "BLEU: a Method for Automatic Evaluation of
 * Machine Translation", ACL 2002). The score is computed for a whole corpus with one reference per
 * sentence, in the same way as sacreBLEU computes it by default (Post, "A Call for Clarity in
 * Reporting BLEU Scores", WMT 2018): tokenizer 13a splits sentences into words, n-grams have one to
 * four words, and precisions that would be 0 are smoothed exponentially. Any thread may call these
 * functions.
 *
 *   score = 100 · BP · exp(¼ Σ ln pₙ)   pₙ is the precision of the n-grams, for n = 1 … 4
 *   BP = min(1, exp(1 − reference words / hypothesis words))
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

struct yk_bleu_result {
    double score;                         /* 0 to 100 */
    double precisions[YK_BLEU_MAX_NGRAM]; /* in percent, for n = 1 … 4, after smoothing */
    double brevity_penalty;    /* BP; 1 if the hypotheses are not shorter than the references */
    int64_t hypothesis_length; /* words of all hypotheses */
    int64_t reference_length;  /* words of all references */
    int64_t matches[YK_BLEU_MAX_NGRAM]; /* n-grams of hypotheses that occur in their reference; an
                                           n-gram counts at most as often as it occurs there */
    int64_t totals[YK_BLEU_MAX_NGRAM];  /* all n-grams of the hypotheses */
};

/* Scores `count` hypotheses. Hypothesis i is compared with reference i. `lowercase` means: ignore
 * case. */
yk_status yk_bleu_compute(const char *const *hypotheses, const char *const *references,
                          int64_t count, bool lowercase, struct yk_bleu_result *out) YK_MUST_USE;

/* Appends the line that sacreBLEU prints:
 * "BLEU = 34.21 66.0/41.2/27.8/19.0 (BP = 0.987 ratio = 0.987 hyp_len = 11234 ref_len = 11380)". */
void yk_bleu_write_score_line(const struct yk_bleu_result *bleu, struct yk_text *out);

/* Returns hypothesis_length / reference_length, or 0 if the references have no words. */
double yk_bleu_length_ratio(const struct yk_bleu_result *bleu);

/* Appends the signature of the score in sacreBLEU's format, with the version of sacreBLEU that this
 * code reproduces: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0". */
void yk_bleu_write_sacrebleu_signature(bool lowercase, struct yk_text *out);

/*
 * The words of a sentence as BLEU counts them: the same words, byte for byte, as from sacreBLEU's
 * tokenizer "13a", which imitates mteval-v13a.pl (NIST, WMT). The entities &quot; &amp; &lt; and
 * &gt; are decoded. Each ASCII punctuation character is a word of its own, with three exceptions:
 * apostrophes; full stops and commas that are between two digits; and hyphens that do not follow a
 * digit. Any Unicode white space separates words, as in Python's str.split().
 *
 * Initialize the struct with {0}. It can be used for many sentences, one after another. Only one
 * thread at a time may use the struct.
 */
struct yk_bleu_tokens {
    struct yk_text words; /* words of the sentence, separated by single spaces */
    struct yk_text spare; /* second buffer: each rule reads one buffer and writes the other */
};

/* Replaces `tokens` with the words of a sentence. Bytes that are not UTF-8 count as parts of words.
 */
yk_status yk_bleu_tokens_split(const char *sentence, size_t length,
                               struct yk_bleu_tokens *tokens) YK_MUST_USE;

void yk_bleu_tokens_free(struct yk_bleu_tokens *tokens);

#endif
