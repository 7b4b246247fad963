/*
 * Model: what the layers of a model take to train, or which models are built in.
 */
#ifndef YK_JOB_MODELS_MODEL_H
#define YK_JOB_MODELS_MODEL_H

#include "base/arena.h"
#include "base/status.h"
#include "job/workload.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_model_request {
    const char
        *model; /* a name, a config.json or a folder with one; NULL: list the built-in ones */
    struct yk_workload_request workload;
};

/* Operations of matrix products and attention, which count as the model's FLOPs; vector operations
 * are counted separately. */
struct yk_model_cost {
    double forward_flops;
    double backward_flops;
    double forward_vector_flops;
    double backward_vector_flops;
    double saved_bytes;
    int64_t sent_bytes; /* to the next layer; several get the same */
};

struct yk_model_builtin {
    const char *name;
    const char *summary;
};

/* Starts as {0}; owns what it points to. */
struct yk_model_result {
    struct yk_arena *arena;
    /* Without a model: */
    struct yk_model_builtin *builtins;
    int32_t builtin_count;
    /* With one: */
    const struct yk_model *model;
    const char *architecture;     /* its name */
    struct yk_model_cost *layers; /* (layers of the model) */
    struct yk_model_cost total;   /* nothing sent */
    bool causal;                  /* attention looks back only */
};

yk_status yk_model_run(const struct yk_model_request *request,
                       struct yk_model_result *out) YK_MUST_USE;
void yk_model_result_free(struct yk_model_result *result);

#endif
