/*
 * Layers: a model in the making. Architectures add their layers here; sizes have been checked, so
 * adding cannot overflow, and running out of memory is remembered and reported at the end.
 */
#ifndef YK_MODEL_LAYERS_H
#define YK_MODEL_LAYERS_H

#include "model/layer_draft.h"
#include "model/model.h"

#include <stdbool.h>

enum {
    YK_LAYERS_MODULES = 4 /* the most Hugging Face modules that one layer is made of */
};

struct yk_layers {
    const struct yk_model_config *config;
    struct yk_workload workload; /* with the target sequence filled in */
    struct yk_arena *arena;
    struct yk_layer *layers;
    struct yk_layer_edge *edges;
    int32_t layer_count;
    int32_t edge_count;
    bool failed; /* memory ran out */
};

/* Begins the draft of a layer of this model; see yk_layer_draft_begin(). */
void yk_layers_begin(const struct yk_layers *layers, enum yk_layer_draft_role role,
                     const char *kind, int64_t input_rows, struct yk_layer_draft *out);

/*
 * Adds one layer, made of the modules up to the first NULL, that uses the weights of layer `shares`
 * too (or YK_LAYER_NONE). Returns its number. Names are constant.
 */
int32_t yk_layers_add(struct yk_layers *layers, const struct yk_layer_draft *draft,
                      const char *name, const char *const modules[YK_LAYERS_MODULES],
                      int32_t shares);

/*
 * Adds a row of `count` equal blocks, called "<name> 0", "<name> 1" …, made of "<module>.0",
 * "<module>.1" …; the first is sent `rows` tokens by layer `after`, the others by the one before.
 * Returns the last.
 */
int32_t yk_layers_add_blocks(struct yk_layers *layers, const struct yk_layer_draft *draft,
                             int64_t count, const char *name, const char *module, int32_t after,
                             int64_t rows);

/* The activation inside the feed-forward. */
enum yk_activation_kind yk_layers_activation(const struct yk_layers *layers);

/* Adds the target's length to the shape of a layer of the decoder, where it is not T. */
void yk_layers_shape_target(const struct yk_layers *layers, struct yk_layer_draft *draft);

/* Attention of every token to those of its own sequence, `length` tokens long. */
struct yk_attention yk_layers_attention(const struct yk_layers *layers, int64_t length,
                                        bool causal);

/*
 * Adds the final norm and the language model's head after layer `last`; a tied head shares the
 * weights of layer `embed`.
 */
void yk_layers_add_ending(struct yk_layers *layers, enum yk_norm_kind kind, int32_t last,
                          int32_t embed, const char *norm_module);

/* The same without a norm: a head on `rows` tokens, predicting one of the target vocabulary for
 * each. */
void yk_layers_add_head(struct yk_layers *layers, int64_t rows, int32_t last, int32_t embed);

/* `rows` tokens of the model's width go from one layer to another. */
void yk_layers_join(struct yk_layers *layers, int32_t from, int32_t to, int64_t rows);

#endif
