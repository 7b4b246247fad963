/*
 * Layer kinds: a table of the forward and backward functions of each kind of layer. src/model has
 * the costs of these layers.
 *
 * To add a kind, write src/nn/layers/KIND.c with its `const struct yk_layer_kind`, declare it here,
 * and add it to the table in layer.c. The forward and backward functions enqueue work on a lane and
 * return without waiting.
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
struct yk_block_spec;     /* nn/layers/block.c */

struct yk_layer_kind {
    const char *name;                  /* the same as `kind` of struct yk_layer: "gpt-block" */
    const struct yk_block_spec *block; /* NULL unless the layer is a block; only blocks have
                                          adapters, NF4 weights and recomputation */
    bool reads_tokens;                 /* the input is tokens, not the output of another layer */
    void (*list)(struct yk_parameter_list *parameters);
    void (*measure)(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out);
    void (*forward)(const struct yk_layer_pass *pass);
    void (*backward)(const struct yk_layer_pass *pass);
};

extern const struct yk_layer_kind yk_layer_kind_embedding;
extern const struct yk_layer_kind yk_layer_kind_bert_embedding;
extern const struct yk_layer_kind yk_layer_kind_gpt_block;
extern const struct yk_layer_kind yk_layer_kind_llama_block;
extern const struct yk_layer_kind yk_layer_kind_bert_block;
extern const struct yk_layer_kind yk_layer_kind_encoder_block;
extern const struct yk_layer_kind yk_layer_kind_decoder_block;
extern const struct yk_layer_kind yk_layer_kind_norm;
extern const struct yk_layer_kind yk_layer_kind_head;
extern const struct yk_layer_kind yk_layer_kind_bert_head;

extern const struct yk_layer_kind *const yk_layer_kinds[];
extern const size_t yk_layer_kind_count;

/* Returns the kind with this name, or NULL if there is no such kind. */
const struct yk_layer_kind *yk_layer_kind_find(const char *name);

#endif
