/*
 * Translate: lines of text through an encoder–decoder, by beam search, several sentences of like
 * length at a time. One thread at a time.
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
    const char *input; /* a sentence a line; NULL or "-": standard input */
    int64_t beams;
    double length_penalty;
    int64_t batch;         /* sentences at a time */
    int64_t longest;       /* tokens of a translation; 0: twice those of its sentence and 16 */
    const char *reference; /* translations by people to score against; NULL: no score */

    /* Takes the translations once all are there, in the order of the input: a line for each of its
     * lines, without its end; an empty one for one that is empty. A failure ends the job. */
    yk_status (*line)(void *user, const char *bytes, size_t length);
    void *user;

    const struct yk_job *job; /* stopped, it fails with YK_ERROR_STOPPED */
};

struct yk_translate_result {
    int64_t lines;
    struct yk_bleu_score score; /* where there is a reference */
};

/* A line of more tokens than the model has positions is refused by its number. */
yk_status yk_translate_run(const struct yk_translate_request *request,
                           struct yk_translate_result *out) YK_MUST_USE;

#endif
