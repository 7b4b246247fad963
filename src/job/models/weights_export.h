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
    struct yk_loaded_model_request model; /* its precision is that of the written weights */
    const char *output;                   /* folder; created if missing */
    bool merge;                           /* merge the adapter into the base weights */
    double shard_bytes;                   /* maximum size of a file; 0: one file */
};

/* Fails if the output folder holds a run, or is the folder that is read. */
yk_status yk_weights_export_run(const struct yk_weights_export_request *request) YK_MUST_USE;

#endif
