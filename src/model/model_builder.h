/*
 * Model builder: architectures add the layers and edges of a model here. Sizes have been checked,
 * so adding cannot overflow; running out of memory is remembered and reported at the end. One
 * thread.
 */
#ifndef YK_MODEL_MODEL_BUILDER_H
#define YK_MODEL_MODEL_BUILDER_H

#include "model/layer.h"
#include "model/model.h"

#include <stdbool.h>

enum {
    YK_MODEL_BUILDER_MODULES = 4 /* the most Hugging Face modules that one layer is made of */
};

struct yk_model_builder {
    const struct yk_model_config *config;
    struct yk_workload workload; /* with the target sequence filled in */
    struct yk_arena *arena;
    struct yk_layer *layers;
    struct yk_layer_edge *edges;
    int32_t layer_count;
    int32_t edge_count;
    bool failed; /* memory ran out */
};

/* Begins a layer of this model; see yk_layer_begin(). */
void yk_model_builder_begin_layer(const struct yk_model_builder *model, enum yk_layer_role role,
                                  const char *kind, int64_t input_rows,
                                  struct yk_layer_builder *out);

/* The same for a block, with C, the feed-forward's width, the heads and ReLU in its shape. */
void yk_model_builder_begin_block(const struct yk_model_builder *model, const char *kind,
                                  int64_t input_rows, int64_t inner, int64_t heads,
                                  struct yk_layer_builder *out);

/* Adds both linears of a feed-forward with biases, the activation between them, and the sum. */
void yk_model_builder_add_feed_forward(const struct yk_model_builder *model,
                                       struct yk_layer_builder *builder, int64_t rows,
                                       int64_t inner);

/*
 * Adds one layer, made of the modules up to the first NULL, that uses the weights of layer `shares`
 * too (or YK_LAYER_NONE). Returns its number. Names are constant.
 */
int32_t yk_model_builder_add_layer(struct yk_model_builder *model,
                                   const struct yk_layer_builder *builder, const char *name,
                                   const char *const modules[YK_MODEL_BUILDER_MODULES],
                                   int32_t shares);

/*
 * Adds a row of `count` equal blocks, called "<name> 0", "<name> 1" …, made of "<module>.0",
 * "<module>.1" …; the first is sent `rows` tokens by layer `after`, the others by the one before.
 * Returns the last.
 */
int32_t yk_model_builder_add_blocks(struct yk_model_builder *model,
                                    const struct yk_layer_builder *builder, int64_t count,
                                    const char *name, const char *module, int32_t after,
                                    int64_t rows);

/* The activation inside the feed-forward. */
enum yk_activation_kind yk_model_builder_activation(const struct yk_model_builder *model);

/* Adds the target's length to the shape of a layer of the decoder, where it is not T. */
void yk_model_builder_shape_target(const struct yk_model_builder *model,
                                   struct yk_layer_builder *builder);

/* Attention of every token to those of its own sequence, `length` tokens long. */
struct yk_layer_attention yk_model_builder_self_attention(const struct yk_model_builder *model,
                                                          int64_t length, bool causal);

/*
 * Adds the final norm and the language model's head after layer `last`; a tied head shares the
 * weights of layer `embed`.
 */
void yk_model_builder_add_norm_and_head(struct yk_model_builder *model, enum yk_norm_kind kind,
                                        int32_t last, int32_t embed, const char *norm_module);

/* The same without a norm: a head on `rows` tokens, predicting one of the target vocabulary for
 * each. */
void yk_model_builder_add_head(struct yk_model_builder *model, int64_t rows, int32_t last,
                               int32_t embed);

/* `rows` tokens of the model's width go from one layer to another. */
void yk_model_builder_add_edge(struct yk_model_builder *model, int32_t from, int32_t to,
                               int64_t rows);

#endif
