/*
 * Eval: computes the loss of a trained model on a dataset, and the accuracy of a classifier. Not
 * thread-safe.
 */
#ifndef YK_JOB_MODELS_EVAL_H
#define YK_JOB_MODELS_EVAL_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "job/chat_options.h"
#include "job/loaded_model.h"
#include "job/output_files.h"
#include "trace/counters_file.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_eval_request {
    struct yk_loaded_model_request model;
    const char *data;     /* path of the data (job/model_dataset.h) */
    const char *target;   /* path of the translations of `data`; NULL if there are none */
    double data_fraction; /* fraction of the data to use, from its beginning; > 0 and ≤ 1 */
    struct yk_chat_options chat;
    bool skip_faulty; /* skip pairs and instructions that are empty or too long */
    int64_t samples;  /* maximum number of samples; 0 means: all */
    /* Safetensors file for the logits of the first samples; NULL means: none. */
    const char *outputs;
    int64_t output_samples; /* number of samples in the file `outputs` */
    bool counters;          /* record the device's hardware counters */
};

/* Starts as {0}. */
struct yk_eval_result {
    struct yk_arena *arena;
    const char *checkpoint; /* path of the evaluated checkpoint */
    int64_t step;           /* training step of that checkpoint */
    double loss;            /* mean over `tokens` tokens, in nats */
    double perplexity;      /* exp(loss); may be INFINITY */
    int64_t tokens;         /* number of predicted tokens, or of classified images */
    double accuracy;        /* of a classifier: fraction whose class is the first; otherwise NAN */
    double top5_accuracy;   /* fraction whose class is one of the first five; otherwise NAN */
    int64_t classes;        /* of a classifier; otherwise 0 */
    struct yk_counter_run_data counters; /* counters of the device; empty if not requested */
    struct yk_output_files outputs; /* contains the failure if the logits could not be written */
};

/* Fails with YK_ERROR_NUMBERS if the loss is not finite. */
yk_status yk_eval_run(const struct yk_eval_request *request,
                      struct yk_eval_result *out) YK_MUST_USE;
void yk_eval_result_free(struct yk_eval_result *result);

/* Appends the result as a JSON document. */
yk_status yk_eval_write_json(const struct yk_eval_result *result, struct yk_text *out) YK_MUST_USE;

#endif
