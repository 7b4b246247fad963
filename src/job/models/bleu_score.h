/*
 * BLEU score: compares translations with human reference translations, line by line. The score is
 * the same as the score of sacreBLEU. Thread-safe.
 */
#ifndef YK_JOB_MODELS_BLEU_SCORE_H
#define YK_JOB_MODELS_BLEU_SCORE_H

#include "base/status.h"
#include "base/text.h"
#include "data/bleu.h"
#include "data/lines.h"

#include <stdbool.h>

struct yk_bleu_score_request {
    const char *reference; /* file of human translations, one sentence per line */
    /* File with one translation for each line of `reference`; NULL or "-" means: standard input. */
    const char *translations;
    bool lowercase; /* ignore case */
};

struct yk_bleu_score {
    struct yk_bleu_result bleu;
    bool lowercase; /* case was ignored */
};

yk_status yk_bleu_score_run(const struct yk_bleu_score_request *request,
                            struct yk_bleu_score *out) YK_MUST_USE;

/* Scores translations that are in memory. `reference` is the path of a file. */
yk_status yk_bleu_score_compute_for_lines(const struct yk_lines *translations,
                                          const char *reference, bool lowercase,
                                          struct yk_bleu_score *out) YK_MUST_USE;

/* Appends the same line that sacreBLEU prints, followed by the signature, which says how the score
 * was computed. */
yk_status yk_bleu_score_write_text(const struct yk_bleu_score *score,
                                   struct yk_text *out) YK_MUST_USE;

/* Appends the score as a JSON document. */
yk_status yk_bleu_score_write_json(const struct yk_bleu_score *score,
                                   struct yk_text *out) YK_MUST_USE;

#endif
