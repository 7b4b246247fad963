/*
 * Layer: what a kind of layer does on the way forward and backward, as an entry of one table: the
 * twin of what the model room says it costs.
 *
 * To add one: write src/nn/KIND.c with its `const struct yk_layer_kind` and add it to the table in
 * layer.c. Forward and backward put work on a lane and return at once.
 */
#ifndef YK_NN_LAYERS_LAYER_H
#define YK_NN_LAYERS_LAYER_H

#include "backend/backend.h"
#include "nn/layers/position_tables.h"
#include "nn/net.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* How many tokens go through a layer. */
struct yk_batch_shape {
    int64_t samples;  /* B */
    int64_t sequence; /* T, of the layer's own stream */
    int64_t memory;   /* S, of what it looks at besides: a decoder at its encoder; 0: nothing */
};

/* One pass of some samples through one layer. Sizes of the pieces of memory: yk_layer_sizes(). */
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
    const int32_t *lengths; /* (B): how many tokens of the encoder's stream, or of a stream that
                               attends in both directions, count; NULL: all */
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
    const void *memory;    /* (B·S, C): what it looks at besides; NULL: nothing */
    void *memory_gradient; /* NULL: not wanted */
    bool memory_added;     /* its gradient is added to what is there, not put there */
};

struct yk_layer_sizes {
    size_t saved_bytes;    /* without the input */
    size_t forward_bytes;  /* of workspace */
    size_t backward_bytes; /* of workspace */
};

struct yk_parameter_list; /* nn/parameters.h */

struct yk_layer_kind {
    const char *name;  /* the model's word for it: "gpt-block" */
    bool is_block;     /* gets adapters and NF4 */
    bool reads_tokens; /* it is sent nothing by other layers */
    void (*list)(struct yk_parameter_list *parameters);
    void (*measure)(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_sizes *out);
    void (*forward)(const struct yk_pass *pass);
    void (*backward)(const struct yk_pass *pass);
};

extern const struct yk_layer_kind yk_layer_embedding;
extern const struct yk_layer_kind yk_layer_bert_embedding;
extern const struct yk_layer_kind yk_layer_gpt_block;
extern const struct yk_layer_kind yk_layer_llama_block;
extern const struct yk_layer_kind yk_layer_bert_block;
extern const struct yk_layer_kind yk_layer_encoder_block;
extern const struct yk_layer_kind yk_layer_decoder_block;
extern const struct yk_layer_kind yk_layer_norm;
extern const struct yk_layer_kind yk_layer_head;
extern const struct yk_layer_kind yk_layer_bert_head;

/* The tokens of a whole pass: B·T. */
static inline int64_t yk_pass_rows(const struct yk_pass *pass)
{
    return pass->batch.samples * pass->batch.sequence;
}

extern const struct yk_layer_kind *const yk_layer_kinds[];
extern const size_t yk_layer_kind_count;

const struct yk_layer_kind *yk_layer_kind_find(const char *name);

#endif
