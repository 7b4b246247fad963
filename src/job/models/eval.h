/*
 * Eval: the loss of a trained model on data that it is not trained on. One thread at a time.
 */
#ifndef YK_JOB_MODELS_EVAL_H
#define YK_JOB_MODELS_EVAL_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "job/loaded_model.h"
#include "job/outputs.h"
#include "trace/counters_file.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_eval_request {
    struct yk_loaded_model_request model;
    const char *data;       /* what job/model_data.h can open for the model */
    const char *target;     /* of pairs: the translations; else NULL */
    double data_part;       /* of the data, from its beginning: above 0, at most 1 */
    bool skip_faulty;       /* leave out pairs and instructions that are empty or too long */
    int64_t samples;        /* at most so many; 0: all */
    const char *outputs;    /* a file for the logits of the first samples, or NULL */
    int64_t output_samples; /* how many samples those are */
    bool counters;          /* read the device's counters meanwhile */
};

/* Starts as {0}. */
struct yk_eval_result {
    struct yk_arena *arena;
    const char *checkpoint; /* the path of the one that was evaluated */
    int64_t step;           /* of the training that it is from */
    double loss;            /* the mean of all tokens but the first of a sample, in nats */
    double perplexity;      /* exp(loss); INFINITY where no double holds it */
    int64_t tokens;         /* that the loss is the mean of */
    struct yk_counter_ranks counters; /* of one rank; none where they were not asked for */
    struct yk_outputs outputs;        /* a failure to write the logits */
};

/* Fails with YK_ERROR_NUMBERS where the loss is not a number. */
yk_status yk_eval_run(const struct yk_eval_request *request,
                      struct yk_eval_result *out) YK_MUST_USE;
void yk_eval_result_free(struct yk_eval_result *result);

/* Adds the result as a JSON document. */
yk_status yk_eval_write_json(const struct yk_eval_result *result, struct yk_text *out) YK_MUST_USE;

#endif
