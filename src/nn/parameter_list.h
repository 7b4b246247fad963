/* Parameter list: a layer's parameters in the making. A kind of layer adds its own in the order
 * in which its passes number them; where each lies is decided when the list is complete. Running
 * out of memory is reported at the end. */
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
    const char *const *modules; /* of the layer, by Hugging Face's names */
    bool block;                 /* gets adapters and NF4 where the workload has them */
    bool follows;               /* it uses the table of another layer, and has none of its own */
    bool decodes;               /* it reads the tokens of a decoder that follows an encoder */
    struct yk_parameter items[YK_PARAMETER_LIST_MAX];
    int32_t count;
    struct yk_projection projections[YK_LAYER_PROJECTIONS];
    int32_t projection_count;
    bool failed;
};

/* A vector of the module: "MODULE.weight" or "MODULE.SUFFIX.weight" where there is a suffix. */
void yk_parameter_list_add_vector(struct yk_parameter_list *parameters, const char *module,
                                  const char *suffix, int64_t size, enum yk_parameter_init init);

/* A norm over the model's width: its weight and, unless norms are root-mean-square ones, its bias,
 * "MODULE.SUFFIX.weight" or "MODULE.weight" where the suffix is empty. Its number is the weight's.
 */
void yk_parameter_list_add_norm(struct yk_parameter_list *parameters, const char *module,
                                const char *suffix);

/* Numbers that are never trained and start at 0: a file may lack them. As a vector where `rows` is
 * 0. */
void yk_parameter_list_add_buffer(struct yk_parameter_list *parameters, const char *name,
                                  int64_t rows, int64_t columns);

/* A table of the embedding: "MODULE.weight". */
void yk_parameter_list_add_embedding(struct yk_parameter_list *parameters, const char *module,
                                     int64_t rows, int64_t columns);

struct yk_projection_spec {
    const char *parts[YK_PROJECTION_PARTS]; /* "self_attn.q_proj" …, up to the first NULL */
    int64_t out[YK_PROJECTION_PARTS];
    int64_t in;
    bool bias;
    bool transposed;
    double spread; /* of the weights at the start */
};

/* The parameters of a projection, the layer's next. */
void yk_parameter_list_add_projection(struct yk_parameter_list *parameters, const char *module,
                                      const struct yk_projection_spec *spec);

#endif
