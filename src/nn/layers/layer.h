/*
 * Layer kinds: the forward and backward functions of each kind of layer. All families of models use
 * the same kinds, because these functions read the description of the model (model/config.h).
 * src/model has the costs of these layers. The forward and backward functions enqueue work on a
 * lane and return without waiting.
 */
#ifndef YK_NN_LAYERS_LAYER_H
#define YK_NN_LAYERS_LAYER_H

#include "nn/layers/layer_pass.h"

#include <stdbool.h>
#include <stdint.h>

/* The sizes of the memory that a pass needs, see struct yk_layer_pass. */
struct yk_layer_memory_sizes {
    size_t saved_bytes;
    size_t forward_bytes;  /* workspace of forward */
    size_t backward_bytes; /* workspace of backward */
};

struct yk_parameter_list; /* nn/parameter_list.h */

struct yk_layer_kind {
    bool block;        /* only blocks have adapters, NF4 weights and recomputation */
    bool reads_tokens; /* the input is tokens or pixels, not the output of another layer */
    void (*list)(struct yk_parameter_list *parameters);
    void (*measure)(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out);
    void (*forward)(const struct yk_layer_pass *pass);
    void (*backward)(const struct yk_layer_pass *pass);
};

extern const struct yk_layer_kind yk_layer_kind_embedding;
extern const struct yk_layer_kind yk_layer_kind_patch_embedding;
extern const struct yk_layer_kind yk_layer_kind_block;
extern const struct yk_layer_kind yk_layer_kind_norm;
extern const struct yk_layer_kind yk_layer_kind_head;

/* Returns the kind of the layers with this role, or NULL if such layers cannot be trained.
 * `images`: the model reads images. */
const struct yk_layer_kind *yk_layer_kind_of_role(enum yk_layer_role role, bool images);

#endif
