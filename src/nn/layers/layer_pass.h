/*
 * Layer pass: one forward or backward pass of some samples through one layer, with the memory that
 * the pass reads and writes. The memory belongs to the caller. Its sizes are in struct
 * yk_layer_memory_sizes.
 */
#ifndef YK_NN_LAYERS_LAYER_PASS_H
#define YK_NN_LAYERS_LAYER_PASS_H

#include "backend/backend.h"
#include "nn/layers/position_tables.h"
#include "nn/net.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_batch_shape {
    int64_t samples;  /* B */
    int64_t sequence; /* T, rows of a sample in the input of the layer, or in its output if it reads
                         tokens or pixels */
    int64_t memory; /* S, number of tokens per sample in the encoder's output (the memory); 0 means:
                       no cross-attention */
};

struct yk_layer_pass {
    const struct yk_net *net;
    const struct yk_parameter_store *store;
    struct yk_backend_lane *lane;
    int32_t layer;
    struct yk_batch_shape batch;
    /* The number that the first sample of this pass has in the whole training run. Dropout depends
     * on it. */
    int64_t first_sample;
    bool training; /* apply dropout */
    /* (B, T) input tokens. In an encoder–decoder, these are the tokens of the source for layers of
     * the encoder, and the tokens of the target for layers of the decoder. */
    const int32_t *tokens;
    const uint8_t
        *pixels; /* (B, channels, height, width) input images; NULL: the input is tokens */
    const int32_t *targets; /* (B, T) the tokens to predict; a negative target has no loss */
    const int32_t *lengths; /* (B) number of tokens of each sample without padding, for attention
                               that is not causal; NULL means: no padding */
    struct yk_position_tables position_tables;
    float loss_factor; /* factor by which the gradient of the loss is multiplied; 0 means: compute
                          no gradient */
    double *loss;      /* the forward pass of a head adds the sum of the losses to it */
    /* (2) the forward pass of a head adds the numbers of hits to it, see struct yk_accuracy_op;
     * NULL means: not needed */
    double *hits;
    const void *input; /* (B·T, C) in the precision of the training run; NULL for an embedding */
    void *output;      /* (B·T, C); NULL for a head, which writes its logits to `saved`, and in a
                          recomputation that needs no output */
    void *saved;       /* the forward pass writes it, the backward pass reads it */
    void *workspace;   /* contents are undefined before and after the pass */
    void *output_gradient; /* the backward pass may overwrite it */
    void *input_gradient;  /* NULL means: not needed */
    /* Nothing before this layer is trained: input_gradient need not be computed, but the backward
     * pass may use its memory. */
    bool input_frozen;
    const void *memory;    /* (B·S, C) the output of the encoder; NULL means: no cross-attention */
    void *memory_gradient; /* NULL means: not needed */
    bool memory_added;     /* true: add to memory_gradient; false: overwrite memory_gradient */
};

static inline const struct yk_net_layer *yk_layer_pass_get_layer(const struct yk_layer_pass *pass)
{
    return &pass->net->layers[pass->layer];
}

/* Returns the number of tokens, B·T. */
static inline int64_t yk_layer_pass_token_count(const struct yk_layer_pass *pass)
{
    return pass->batch.samples * pass->batch.sequence;
}

/* Returns a copy of the pass for the layer that owns the weights: pass->layer, or the layer whose
 * weights pass->layer shares. */
struct yk_layer_pass yk_layer_pass_of_weights_owner(const struct yk_layer_pass *pass);

/* Returns the address of a parameter's weights. */
void *yk_layer_pass_parameter_weights(const struct yk_layer_pass *pass, int32_t parameter);
/* Returns the address of a parameter's gradient, or NULL if the parameter is frozen. */
void *yk_layer_pass_parameter_gradient(const struct yk_layer_pass *pass, int32_t parameter);

/* Returns the precision of a parameter that is not NF4. */
enum yk_precision yk_layer_pass_parameter_precision(const struct yk_layer_pass *pass,
                                                    int32_t parameter);

/* Returns the dropout at a place in the layer: its rate, and what determines its random numbers.
 * `place` is from 0 to 7, see enum yk_dropout_site. */
struct yk_dropout_options yk_layer_pass_dropout_options(const struct yk_layer_pass *pass,
                                                        uint64_t place);

#endif
