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
    const char *input; /* file with one sentence per line; NULL or "-" means: standard input */
    int64_t beams;
    double length_penalty;
    int64_t batch; /* sentences per batch */
    /* Maximum number of tokens of a translation. 0 means: 2n + 16, where n is the number of tokens
     * of the input line with its end token. The positions of the model also limit the length. */
    int64_t max_tokens;
    const char *reference; /* file of human translations for a BLEU score; NULL means: no score */

    /* Receives the translations after all lines have been translated. It is called once for each
     * input line, in input order, with the translation without a newline. The translation of an
     * empty line is empty. If the callback fails, the job ends. */
    yk_status (*line)(void *user, const char *bytes, size_t length);
    void *user;

    const struct yk_job_callbacks *job; /* if stopped, the job fails with YK_ERROR_STOPPED */
};

struct yk_translate_result {
    int64_t lines;
    struct yk_bleu_score score; /* set if the request has a reference */
};

/* Fails if a line with its end token has more tokens than the model has positions. The message
 * contains the line number. */
yk_status yk_translate_run(const struct yk_translate_request *request,
                           struct yk_translate_result *out) YK_MUST_USE;

#endif
