/*
 * Weights export: writes a trained model as a folder in Hugging Face format, or its LoRA adapter in
 * PEFT format. Not thread-safe.
 */
#ifndef YK_JOB_MODELS_WEIGHTS_EXPORT_H
#define YK_JOB_MODELS_WEIGHTS_EXPORT_H

#include "base/status.h"
#include "job/loaded_model.h"

#include <stdbool.h>

struct yk_weights_export_request {
    /* The written weights get the precision model.precision. */
    struct yk_loaded_model_request model;
    const char *output; /* output folder, which is created if it does not exist */
    bool merge;         /* merge the adapter into the base weights */
    double shard_bytes; /* maximum size of a file; 0 means: one file */
};

/* Fails if the output folder contains a training run, or if the model is read from the same folder.
 */
yk_status yk_weights_export_run(const struct yk_weights_export_request *request) YK_MUST_USE;

#endif
