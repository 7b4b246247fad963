/*
 * Weights: a trained model as a folder in Hugging Face format, or its adapter in PEFT's. One thread
 * at a time.
 */
#ifndef YK_JOB_MODELS_WEIGHTS_H
#define YK_JOB_MODELS_WEIGHTS_H

#include "base/status.h"
#include "job/loaded_model.h"

#include <stdbool.h>

struct yk_weights_request {
    struct yk_loaded_model_request model; /* in the precision that is written */
    const char *output;                   /* the folder, made where it is missing */
    bool merge;                           /* add adapters to the weights they adapt */
    double shard_bytes;                   /* several files of at most this size; 0: one file */
};

/* A folder that holds a run, or what is read, is refused. */
yk_status yk_weights_run(const struct yk_weights_request *request) YK_MUST_USE;

#endif
