/*
 * BLEU: how much of a machine translation occurs in a human one (Papineni, Roukos, Ward and Zhu,
 * "BLEU: a Method for Automatic Evaluation of Machine Translation", ACL 2002), of a whole corpus
 * with one reference a sentence, computed as sacreBLEU (Post, "A Call for Clarity in Reporting BLEU
 * Scores", WMT 2018) does by default: words by tokenizer 13a, n-grams of one to four, orders
 * without a match smoothed exponentially. Any thread.
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
    YK_BLEU_ORDERS = 4
};

struct yk_bleu_options {
    bool lowercase; /* compare without regard to case */
};

struct yk_bleu {
    double score;                      /* from 0 to 100 */
    double precisions[YK_BLEU_ORDERS]; /* of 100, smoothed */
    double brevity_penalty;            /* 1: the hypotheses are not shorter */
    int64_t hypothesis_length;         /* in words */
    int64_t reference_length;          /* in words */
    int64_t matches[YK_BLEU_ORDERS];   /* runs of 1, 2, 3 and 4 words found in the reference */
    int64_t totals[YK_BLEU_ORDERS];    /* runs there are in the hypotheses */
};

/* Hypothesis i is held against reference i. */
yk_status yk_bleu_compute(const char *const *hypotheses, const char *const *references,
                          int64_t count, bool lowercase, struct yk_bleu *out) YK_MUST_USE;

/* "BLEU = 34.21 66.0/41.2/27.8/19.0 (BP = 0.987 ratio = 0.987 hyp_len = 11234 ref_len = 11380)",
 * the line that sacreBLEU prints. */
void yk_bleu_add_line(const struct yk_bleu *bleu, struct yk_text *out);

/* The words of hypotheses for each word of the references; 0 where those have none. */
double yk_bleu_ratio(const struct yk_bleu *bleu);

/* "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0": by which rules the score was
 * computed, in sacreBLEU's form. The version is that of the sacreBLEU whose rules these are. */
void yk_bleu_add_signature(const struct yk_bleu_options *options, struct yk_text *out);

/*
 * A sentence cut into the words that BLEU counts, as mteval-v13a.pl of NIST and WMT cuts them and
 * as sacreBLEU's tokenizer "13a" does to the byte: entities of XML are undone, ASCII punctuation
 * stands alone, but for full stops and commas between digits and for hyphens that follow none.
 * Words end where Python's str.split() ends them: at any white space of Unicode.
 *
 * A plain struct that starts as {0} and serves one sentence after another. One thread at a time.
 */
struct yk_bleu_tokens {
    char *words;   /* with one space between two of them, and a terminating zero */
    size_t length; /* of `words` in bytes */
    size_t capacity;
    char *spare;
    size_t spare_capacity;
};

/* Makes `tokens` those of one sentence. Bytes that are no UTF-8 are parts of words. */
yk_status yk_bleu_tokens_split(const char *sentence, size_t length,
                               struct yk_bleu_tokens *tokens) YK_MUST_USE;

void yk_bleu_tokens_free(struct yk_bleu_tokens *tokens);

#endif
