/*
 * Parameter list: collects the parameters of a layer while a net is created. The number of a
 * parameter is its index in this list. The passes of a layer use these numbers, so the order
 * matters. If an allocation fails, `failed` is set.
 */
#ifndef YK_NN_PARAMETER_LIST_H
#define YK_NN_PARAMETER_LIST_H

#include "nn/net.h"

#include <stdbool.h>

enum {
    YK_PARAMETER_LIST_MAX = 48
};

struct yk_parameter_list {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    const struct yk_workload *workload;
    const char *const *modules; /* Hugging Face names of the layer's modules */
    const struct yk_layer_kind *kind;
    bool follows; /* the layer shares the weights of another layer */
    bool decodes; /* the layer is the embedding of a decoder */
    struct yk_parameter items[YK_PARAMETER_LIST_MAX];
    int32_t count;
    struct yk_projection projections[YK_LAYER_MAX_PROJECTIONS];
    int32_t projection_count;
    bool failed;
};

/* Adds a vector with the name "MODULE.SUFFIX". */
void yk_parameter_list_add_vector(struct yk_parameter_list *parameters, const char *module,
                                  const char *suffix, int64_t size, enum yk_parameter_init init);

/* Adds the parameters of a norm: its weight, and its bias unless it is an RMS norm. Their names are
 * "MODULE.SUFFIX.weight" and "MODULE.SUFFIX.bias", or "MODULE.weight" and "MODULE.bias" if the
 * suffix is empty. */
void yk_parameter_list_add_norm(struct yk_parameter_list *parameters, const char *module,
                                const char *suffix);

/* Adds an optional parameter that is never trained and starts at 0. If `rows` is 0, it is a
 * vector. */
void yk_parameter_list_add_buffer(struct yk_parameter_list *parameters, const char *name,
                                  int64_t rows, int64_t columns);

/* Adds an embedding table with the name "MODULE.weight". */
void yk_parameter_list_add_embedding(struct yk_parameter_list *parameters, const char *module,
                                     int64_t rows, int64_t columns);

struct yk_projection_spec {
    const char *parts[YK_PROJECTION_MAX_PARTS]; /* names of the linears, "self_attn.q_proj" …; the
                                                   unused elements are NULL */
    int64_t out[YK_PROJECTION_MAX_PARTS];
    int64_t in;
    bool bias;
    bool transposed;
    double spread; /* standard deviation of the initial weights */
};

/* Adds `count` projections with their weights, biases and adapters. The names of their linears
 * begin with the first module of the layer. */
void yk_parameter_list_add_projections(struct yk_parameter_list *parameters,
                                       const struct yk_projection_spec *specs, size_t count);

#endif
