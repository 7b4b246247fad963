/*
 * Loaded model: a checkpoint, or a folder in Hugging Face format, with its weights in device
 * memory. The struct owns what it points to. Do not copy or move the struct while the model is
 * open. Not thread-safe.
 */
#ifndef YK_JOB_LOADED_MODEL_H
#define YK_JOB_LOADED_MODEL_H

#include "base/status.h"
#include "job/device.h"
#include "nn/net.h"
#include "nn/store/parameter_store.h"
#include "train/checkpoint/checkpoint.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_loaded_model_request {
    const char *path; /* path of the checkpoint or of the folder */
    /* Path of the base weights of an adapter; NULL means: the path that the checkpoint names. */
    const char *weights;
    const char *precision; /* NULL means: the precision in which the model was trained */
    int64_t batch;         /* samples per batch; 0 means: 1 */
    int64_t sequence;      /* tokens per sample; 0 means: the sequence length in training */
    const char *device;    /* value of --device; NULL means: "auto" */
    int64_t threads;       /* number of CPU threads; 0 means: one per core */
};

/* Starts as {0}. */
struct yk_loaded_model {
    struct yk_arena *arena;
    struct yk_checkpoint *checkpoint;
    /* Owned by the checkpoint; NULL means: the checkpoint has no tokenizer. */
    const struct yk_tokenizer *tokenizer;
    const struct yk_model *model;
    struct yk_device_context context;
    struct yk_net *net;
    struct yk_parameter_store *store;
};

yk_status yk_loaded_model_open(const struct yk_loaded_model_request *request,
                               struct yk_loaded_model *out) YK_MUST_USE;
void yk_loaded_model_close(struct yk_loaded_model *loaded);

/* ---- weights export: writes a trained model as a folder in Hugging Face format, or its LoRA
 * adapter in PEFT format ---- */

struct yk_weights_export_request {
    /* The model to export. The weights are written in its `precision`. */
    struct yk_loaded_model_request model;
    const char *output; /* output folder, which is created if it does not exist */
    bool merge;         /* merge the adapter into the base weights */
    double shard_bytes; /* maximum size of a file; 0 means: one file */
};

/* Fails if the output folder contains a training run or a checkpoint, or if the model or the base
 * weights of its adapter are read from this folder. */
yk_status yk_weights_export_run(const struct yk_weights_export_request *request) YK_MUST_USE;

#endif
