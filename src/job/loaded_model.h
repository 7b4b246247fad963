/*
 * Loaded model: a checkpoint, or a folder in Hugging Face format, with its weights in memory. It
 * owns what it points to and does not move once it is open. One thread at a time.
 */
#ifndef YK_JOB_LOADED_MODEL_H
#define YK_JOB_LOADED_MODEL_H

#include "job/device.h"
#include "nn/net.h"
#include "nn/store/store.h"
#include "train/checkpoint/checkpoint.h"

#include <stdint.h>

struct yk_loaded_model_request {
    const char *path;      /* of the checkpoint or folder */
    const char *weights;   /* of what an adapter adapts; NULL: where the checkpoint says */
    const char *precision; /* NULL: that of the training */
    int64_t batch;         /* 0: 1 */
    int64_t sequence;      /* 0: as it was trained */
    const char *device;    /* as in job/device.h; NULL: auto */
    int64_t threads;       /* 0: one on each core */
};

/* Starts as {0}. */
struct yk_loaded_model {
    struct yk_arena *arena;
    struct yk_checkpoint *checkpoint;
    const struct yk_tokenizer *tokenizer; /* the checkpoint's; NULL: none */
    const struct yk_model *model;
    struct yk_engine engine;
    struct yk_net *net;
    struct yk_parameter_store *store;
};

yk_status yk_loaded_model_open(const struct yk_loaded_model_request *request,
                               struct yk_loaded_model *out) YK_MUST_USE;
void yk_loaded_model_close(struct yk_loaded_model *loaded);

#endif
