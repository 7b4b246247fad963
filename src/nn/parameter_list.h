/*
 * Parameter list: collects the parameters of a layer while a net is created. The number of a
 * parameter is its index in this list. The passes of a layer use these numbers, so the order
 * matters. If an allocation fails, `failed` is set.
 */
#ifndef YK_NN_PARAMETER_LIST_H
#define YK_NN_PARAMETER_LIST_H

#include "model/architecture.h"
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
    bool trains;  /* the layer's own weights are trained; otherwise only adapters are */
    bool encoder; /* the layer belongs to the encoder of an encoder–decoder */
    bool follows; /* the layer shares the weights of another layer */
    bool decodes; /* the layer is the embedding of a decoder */
    struct yk_parameter items[YK_PARAMETER_LIST_MAX];
    int32_t count;
    struct yk_projection projections[YK_LAYER_MAX_PROJECTIONS];
    int32_t projection_count;
    bool failed;
};

/* Returns the full name of a module outside blocks. If there is no memory, sets `failed` and
 * returns "". */
const char *yk_parameter_list_module_name(struct yk_parameter_list *parameters,
                                          enum yk_module_role role);

/* Adds a vector that starts at 0, with the name "MODULE.bias". */
void yk_parameter_list_add_bias(struct yk_parameter_list *parameters, const char *module,
                                int64_t size);

/* Adds the parameters of a norm: its weight, and its bias unless it is an RMS norm. Their names are
 * "PREFIX.MODULE.weight" and "PREFIX.MODULE.bias", or "MODULE.weight" and "MODULE.bias" if the
 * prefix is NULL. */
void yk_parameter_list_add_norm(struct yk_parameter_list *parameters, const char *prefix,
                                const char *module, int64_t width);

/* Adds an optional parameter that is never trained and starts at 0, with the name "MODULE.NAME", or
 * "NAME" if the module is NULL. If `rows` is 0, it is a vector. */
void yk_parameter_list_add_buffer(struct yk_parameter_list *parameters, const char *module,
                                  const char *name, int64_t rows, int64_t columns);

/* Adds an embedding table with the name "MODULE.weight". */
void yk_parameter_list_add_embedding(struct yk_parameter_list *parameters, const char *module,
                                     int64_t rows, int64_t columns);

/* Adds a parameter of up to YK_PARAMETER_MAX_RANK dimensions with the name "MODULE.NAME", which
 * starts with random numbers. `shape` ends with 0. */
void yk_parameter_list_add_array(struct yk_parameter_list *parameters, const char *module,
                                 const char *name, const int64_t shape[YK_PARAMETER_MAX_RANK + 1]);

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
 * begin with "PREFIX.", unless the prefix is NULL. */
void yk_parameter_list_add_projections(struct yk_parameter_list *parameters, const char *prefix,
                                       const struct yk_projection_spec *specs, size_t count);

#endif
