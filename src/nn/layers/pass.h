/*
 * Pass: some samples on their way forward or backward through one layer: what it reads, writes and
 * works with. Its memory belongs to the caller; how large each part is says yk_layer_sizes.
 */
#ifndef YK_NN_LAYERS_PASS_H
#define YK_NN_LAYERS_PASS_H

#include "backend/backend.h"
#include "nn/layers/position_tables.h"
#include "nn/net.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* (B, T), and (B, S) of what a decoder attends to. */
struct yk_batch_shape {
    int64_t samples;  /* B */
    int64_t sequence; /* T */
    int64_t memory;   /* S; 0: nothing */
};

struct yk_pass {
    const struct yk_net *net;
    const struct yk_store *store;
    struct yk_backend_lane *lane;
    int32_t layer;
    struct yk_batch_shape batch;
    int64_t first_sample;   /* its number in the run, for dropout */
    bool training;          /* with dropout */
    const int32_t *tokens;  /* (B, T): the decoder's own in a decoder */
    const int32_t *targets; /* (B, T); negative: no loss */
    const int32_t *lengths; /* (B): tokens of a sample that are no padding, where attention is not
                               causal; NULL: all */
    struct yk_position_tables position_tables;
    float loss_factor; /* 0: no gradient is wanted */
    double *loss;      /* the sum of losses is added here */
    const void *input; /* (B·T, C) in the precision of the training; NULL for an embedding */
    void *output;      /* (B·T, C); NULL: not wanted again. Of a head NULL: its logits are in
                          `saved` */
    void *saved;       /* kept from forward to backward, besides the input */
    void *workspace;
    void *output_gradient; /* may be changed */
    void *input_gradient;  /* NULL: not wanted */
    const void *memory;    /* (B·S, C): the encoder's output; NULL: none */
    void *memory_gradient; /* NULL: not wanted */
    bool memory_added;     /* its gradient is added to what is there, not written */
};

/* The tokens of a whole pass: B·T. */
static inline int64_t yk_pass_rows(const struct yk_pass *pass)
{
    return pass->batch.samples * pass->batch.sequence;
}

/* The pass as seen by the layer whose table it uses: itself, unless it follows another. */
struct yk_pass yk_pass_leader(const struct yk_pass *pass);

/* Where a parameter's weights are, and its gradients: NULL where it is frozen. */
void *yk_pass_weights(const struct yk_pass *pass, int32_t parameter);
void *yk_pass_gradients(const struct yk_pass *pass, int32_t parameter);

/* The number format in which a parameter is stored, unless in NF4. */
enum yk_precision yk_pass_type(const struct yk_pass *pass, int32_t parameter);

/* The dropout of a layer's place `place` (0 to 7): its rate, and which of the run's random numbers
 * it uses. */
struct yk_dropout yk_pass_dropout(const struct yk_pass *pass, uint64_t place);

#endif
