/*
 * Loaded model: a checkpoint, or a folder in Hugging Face format, with its weights in device
 * memory. It owns what it points to. Do not copy or move it while it is open. Not thread-safe.
 */
#ifndef YK_JOB_LOADED_MODEL_H
#define YK_JOB_LOADED_MODEL_H

#include "job/device.h"
#include "nn/net.h"
#include "nn/store/parameter_store.h"
#include "train/checkpoint/checkpoint.h"

#include <stdint.h>

struct yk_loaded_model_request {
    const char *path;      /* checkpoint or folder */
    const char *weights;   /* base weights of an adapter; NULL: the path in the checkpoint */
    const char *precision; /* NULL: the precision it was trained in */
    int64_t batch;         /* 0 means 1 */
    int64_t sequence;      /* tokens; 0: the sequence length it was trained with */
    const char *device;    /* value of --device; NULL: auto */
    int64_t threads;       /* 0: one per core */
};

/* Starts as {0}. */
struct yk_loaded_model {
    struct yk_arena *arena;
    struct yk_checkpoint *checkpoint;
    const struct yk_tokenizer *tokenizer; /* owned by the checkpoint; NULL: it has none */
    const struct yk_model *model;
    struct yk_device_context context;
    struct yk_net *net;
    struct yk_parameter_store *store;
};

yk_status yk_loaded_model_open(const struct yk_loaded_model_request *request,
                               struct yk_loaded_model *out) YK_MUST_USE;
void yk_loaded_model_close(struct yk_loaded_model *loaded);

#endif
