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
    YK_MODEL_BUILDER_MAX_MODULES =
        5 /* more than the maximum number of Hugging Face modules of one layer */
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

/* Adds a layer and returns its number. `modules` ends with the first NULL. `shares` is the layer
 * whose weights the new layer shares, or YK_LAYER_NONE. The strings are not copied. */
int32_t yk_model_builder_add_layer(struct yk_model_builder *model,
                                   const struct yk_layer_builder *builder, const char *name,
                                   const char *const modules[YK_MODEL_BUILDER_MAX_MODULES],
                                   int32_t shares);

/* Finishes a block, which yk_model_builder_add_block() can then add several times. */
struct yk_layer yk_model_builder_finish_block(struct yk_model_builder *model,
                                              const struct yk_layer_builder *builder);

/* Adds block `number` of an encoder or decoder after layer `after`. The edge carries `rows` tokens.
 * The layer has the name "<name> <number>" and the module "<module>.<number>". Returns the number
 * of the layer. */
int32_t yk_model_builder_add_block(struct yk_model_builder *model, const struct yk_layer *block,
                                   int64_t number, const char *name, const char *module,
                                   int32_t after, int64_t rows);

/* For a layer of a decoder: appends the length of the target to the shape if it differs from the
 * length of the source. */
void yk_model_builder_append_target_length(const struct yk_model_builder *model,
                                           struct yk_layer_builder *builder);

/* Returns the number of rows that the head reads: all tokens, or those of the decoder, or of a
 * classifier the first token of each sample. */
int64_t yk_model_builder_head_rows(const struct yk_model_builder *model);

/* Adds an edge that carries `rows` tokens of the model's width. */
void yk_model_builder_add_edge(struct yk_model_builder *model, int32_t from, int32_t to,
                               int64_t rows);

#endif
