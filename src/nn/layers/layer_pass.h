/*
 * Layer pass: one forward or backward pass of some samples through one layer, with the memory it
 * reads and writes. The memory belongs to the caller; struct yk_layer_memory_sizes gives its sizes.
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
    int64_t sequence; /* T */
    int64_t memory;   /* S, the length of the sequence that is cross-attended to; 0: none */
};

struct yk_layer_pass {
    const struct yk_net *net;
    const struct yk_parameter_store *store;
    struct yk_backend_lane *lane;
    int32_t layer;
    struct yk_batch_shape batch;
    int64_t first_sample;   /* its number in the run; seeds dropout */
    bool training;          /* apply dropout */
    const int32_t *tokens;  /* (B, T) of the encoder or of the decoder */
    const int32_t *targets; /* (B, T); negative: no loss */
    const int32_t *lengths; /* (B) tokens of each sample without padding, for attention that is not
                               causal; NULL: no padding */
    struct yk_position_tables position_tables;
    float loss_factor;     /* factor of the gradient of the loss; 0: no gradient is computed */
    double *loss;          /* the sum of the losses is added here */
    const void *input;     /* (B·T, C) in the precision of the training; NULL for an embedding */
    void *output;          /* (B·T, C); NULL for a head, whose logits are in `saved`, and where
                              recomputation needs no output */
    void *saved;           /* written by forward, read by backward */
    void *workspace;       /* contents are undefined before and after the pass */
    void *output_gradient; /* backward may overwrite it */
    void *input_gradient;  /* NULL: not needed */
    const void *memory;    /* (B·S, C) the encoder's output; NULL: none */
    void *memory_gradient; /* NULL: not needed */
    bool memory_added;     /* add to memory_gradient; else overwrite it */
};

static inline const struct yk_net_layer *yk_layer_pass_layer(const struct yk_layer_pass *pass)
{
    return &pass->net->layers[pass->layer];
}

/* The number of tokens: B·T. */
static inline int64_t yk_layer_pass_rows(const struct yk_layer_pass *pass)
{
    return pass->batch.samples * pass->batch.sequence;
}

/* The same pass for the layer that owns the weights, where the pass's layer shares them. */
struct yk_layer_pass yk_layer_pass_weights_owner(const struct yk_layer_pass *pass);

/* The address of a parameter's weights. */
void *yk_layer_pass_weights(const struct yk_layer_pass *pass, int32_t parameter);
/* The address of a parameter's gradient; NULL if the parameter is frozen. */
void *yk_layer_pass_gradients(const struct yk_layer_pass *pass, int32_t parameter);

/* The precision of a parameter that is not NF4. */
enum yk_precision yk_layer_pass_parameter_type(const struct yk_layer_pass *pass, int32_t parameter);

/* The dropout at one of the layer's places (0 to 7): its rate, and its random stream. */
struct yk_dropout yk_layer_pass_dropout(const struct yk_layer_pass *pass, uint64_t place);

#endif
