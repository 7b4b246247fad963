/*
 * Translate: translates lines of text with an encoder–decoder and beam search. Sentences of similar
 * length are translated in one batch. Not thread-safe.
 */
#ifndef YK_JOB_MODELS_TRANSLATE_H
#define YK_JOB_MODELS_TRANSLATE_H

#include "base/status.h"
#include "job/job.h"
#include "job/loaded_model.h"
#include "job/models/bleu_score.h"

#include <stddef.h>
#include <stdint.h>

struct yk_translate_request {
    struct yk_loaded_model_request model;
    const char *input; /* one sentence per line; NULL or "-": standard input */
    int64_t beams;
    double length_penalty;
    int64_t batch;         /* sentences per batch */
    int64_t max_tokens;    /* maximum tokens of a translation; 0: 2 × input tokens + 16 */
    const char *reference; /* human translations for a BLEU score; NULL: no score */

    /* Receives the translations in input order, one line without newline per input line, after all
     * lines have been translated. An empty line is translated to an empty line. A failure ends the
     * job. */
    yk_status (*line)(void *user, const char *bytes, size_t length);
    void *user;

    const struct yk_job_callbacks *job; /* when stopped, the job fails with YK_ERROR_STOPPED */
};

struct yk_translate_result {
    int64_t lines;
    struct yk_bleu_score score; /* set if the request has a reference */
};

/* Fails with the line number if a line has more tokens than the model has positions. */
yk_status yk_translate_run(const struct yk_translate_request *request,
                           struct yk_translate_result *out) YK_MUST_USE;

#endif
