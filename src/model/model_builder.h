/*
 * Model builder: collects the layers and edges that an architecture adds. The sizes were checked
 * before, so sums and products of them do not overflow. If an allocation fails, `failed` is set.
 * Only one thread at a time may use a builder.
 */
#ifndef YK_MODEL_MODEL_BUILDER_H
#define YK_MODEL_MODEL_BUILDER_H

#include "model/layer_builder.h"
#include "model/model.h"

#include <stdbool.h>

enum {
    YK_MODEL_BUILDER_MAX_MODULES = 4 /* maximum number of Hugging Face modules of one layer */
};

struct yk_model_builder {
    const struct yk_model_config *config;
    struct yk_workload workload; /* if the model is an encoder–decoder, target_sequence is not 0 */
    struct yk_arena *arena;
    struct yk_layer *layers;
    struct yk_layer_edge *edges;
    int32_t layer_count;
    int32_t edge_count;
    bool failed; /* an allocation failed */
};

/* Begins a layer of this model, see yk_layer_builder_begin(). */
void yk_model_builder_begin_layer(const struct yk_model_builder *model, enum yk_layer_role role,
                                  const char *kind, int64_t input_rows,
                                  struct yk_layer_builder *out);

/* Begins a block. Appends the model's width, `inner` (the feed-forward width), `heads` and, if the
 * activation is ReLU, "relu" to the shape. */
void yk_model_builder_begin_block(const struct yk_model_builder *model, const char *kind,
                                  int64_t input_rows, int64_t inner, int64_t heads,
                                  struct yk_layer_builder *out);

/* Adds a feed-forward: two linears with biases, the activation, and the residual sum. */
void yk_model_builder_add_feed_forward(const struct yk_model_builder *model,
                                       struct yk_layer_builder *builder, int64_t rows,
                                       int64_t inner);

/* Adds a layer and returns its number. `modules` ends with the first NULL. `shares` is the layer
 * whose weights the new layer shares, or YK_LAYER_NONE. The strings are not copied. */
int32_t yk_model_builder_add_layer(struct yk_model_builder *model,
                                   const struct yk_layer_builder *builder, const char *name,
                                   const char *const modules[YK_MODEL_BUILDER_MAX_MODULES],
                                   int32_t shares);

/* Adds `count` equal blocks in a chain that starts after layer `after`. The edges carry `rows`
 * tokens. Block i has the name "<name> i" and the module "<module>.i". Returns the number of the
 * last block. */
int32_t yk_model_builder_add_blocks(struct yk_model_builder *model,
                                    const struct yk_layer_builder *builder, int64_t count,
                                    const char *name, const char *module, int32_t after,
                                    int64_t rows);

/* Returns the activation whose costs the feed-forward has: YK_ACTIVATION_RELU for ReLU, and
 * YK_ACTIVATION_GELU for all other activations. */
enum yk_activation yk_model_builder_activation_kind(const struct yk_model_builder *model);

/* For a layer of a decoder: appends the length of the target to the shape if it differs from the
 * length of the source. */
void yk_model_builder_append_target_length(const struct yk_model_builder *model,
                                           struct yk_layer_builder *builder);

/* Describes self-attention in sequences of `length` tokens. */
struct yk_attention_spec
yk_model_builder_make_self_attention_spec(const struct yk_model_builder *model, int64_t length,
                                          bool causal);

/* Adds the final norm and the head after layer `last`. If the head is tied, it shares the weights
 * of layer `embed`. */
void yk_model_builder_add_norm_and_head(struct yk_model_builder *model, enum yk_norm_kind kind,
                                        int32_t last, int32_t embed, const char *norm_module);

/* Adds a head for `rows` tokens after layer `last`. If the head is tied, it shares the weights of
 * layer `embed`. */
void yk_model_builder_add_head(struct yk_model_builder *model, int64_t rows, int32_t last,
                               int32_t embed);

/* Adds an edge that carries `rows` tokens of the model's width. */
void yk_model_builder_add_edge(struct yk_model_builder *model, int32_t from, int32_t to,
                               int64_t rows);

#endif
