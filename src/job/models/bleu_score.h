/*
 * BLEU score: translations held against those of people, which are a file of as many lines. Any
 * thread may call this.
 */
#ifndef YK_JOB_MODELS_BLEU_SCORE_H
#define YK_JOB_MODELS_BLEU_SCORE_H

#include "base/status.h"
#include "base/text.h"
#include "data/bleu.h"
#include "data/lines.h"

#include <stdbool.h>

struct yk_bleu_score_request {
    const char *reference;    /* translations by people, a sentence a line */
    const char *translations; /* in the same order; NULL or "-": standard input */
    bool lowercase;           /* compare without regard to case */
};

struct yk_bleu_score {
    struct yk_bleu bleu;
    struct yk_bleu_options options; /* that it was computed with */
};

yk_status yk_bleu_score_run(const struct yk_bleu_score_request *request,
                            struct yk_bleu_score *out) YK_MUST_USE;

/* The same for translations that are in memory. */
yk_status yk_bleu_score_lines(const struct yk_lines *translations, const char *reference,
                              const struct yk_bleu_options *options,
                              struct yk_bleu_score *out) YK_MUST_USE;

/* Adds the line that sacreBLEU prints, and its signature below it. */
void yk_bleu_score_write_text(const struct yk_bleu_score *score, struct yk_text *out);

/* Adds the score as a JSON document. */
void yk_bleu_score_write_json(const struct yk_bleu_score *score, struct yk_text *out);

#endif
