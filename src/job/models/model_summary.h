/*
 * Model summary: computes the FLOPs and the memory of each layer of a model, or lists the built-in
 * models.
 */
#ifndef YK_JOB_MODELS_MODEL_SUMMARY_H
#define YK_JOB_MODELS_MODEL_SUMMARY_H

#include "base/arena.h"
#include "base/status.h"
#include "job/workload.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_model_summary_request {
    /* Name of a built-in model, path of a config.json, or path of a folder that contains a
     * config.json. NULL means: list the built-in models. */
    const char *model;
    struct yk_workload_request workload;
};

/* Cost of one layer for one batch. `forward_flops` and `backward_flops` count matmuls and
 * attention. The operations on vectors are counted separately. */
struct yk_model_summary_layer_cost {
    double forward_flops;
    double backward_flops;
    double forward_vector_flops;
    double backward_vector_flops;
    double saved_bytes; /* activations kept for the backward pass */
    int64_t sent_bytes; /* size of the output; counted once if several layers receive it */
};

struct yk_model_summary_builtin_model {
    const char *name;
    const char *summary;
};

/* Starts as {0}; owns what it points to. */
struct yk_model_summary_result {
    struct yk_arena *arena;
    /* `builtins` and `builtin_count` are set if the request has no model. */
    struct yk_model_summary_builtin_model *builtins;
    int32_t builtin_count;
    /* The members from here on are set if the request has a model. */
    const struct yk_model *model;
    const char *architecture;
    struct yk_model_summary_layer_cost *layers; /* (model->layer_count) */
    struct yk_model_summary_layer_cost total;   /* sums over the layers; sent_bytes is 0 */
    bool causal;                                /* attention is causal */
};

yk_status yk_model_summary_run(const struct yk_model_summary_request *request,
                               struct yk_model_summary_result *out) YK_MUST_USE;
void yk_model_summary_result_free(struct yk_model_summary_result *result);

#endif
