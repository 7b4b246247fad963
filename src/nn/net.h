/*
 * Net: a model made runnable: its layers with their parameters, and the options of passes through
 * them. A net holds no numbers; those are in a store. It owns what it points to, except config,
 * which must outlive it, and never changes once made.
 *
 * The room nn:
 *   net, parameter_list, carve      nets of layers; a layer's parameters; memory cut into parts
 *   layers/                         forward and backward of each kind of layer, and what they share
 *   store/                          weights, gradients and optimizer state on a device
 *   weights/                        Hugging Face's files of models, PEFT's of adapters
 *   inference/                      forward passes alone, sampling, beam search
 *   optimizer, lr_schedule, loss_scaler
 *
 * All of a layer's weights are one allocation. First come the trained ones, those with weight decay
 * before the others; gradients and optimizer state are laid out in the same order, without gaps, so
 * that a part of a layer is a range of numbers. Frozen ones follow.
 */
#ifndef YK_NN_NET_H
#define YK_NN_NET_H

#include "base/arena.h"
#include "base/precision.h"
#include "base/status.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_layer_kind;

enum yk_parameter_format {
    YK_PARAMETER_PLAIN, /* in the precision of the training */
    YK_PARAMETER_FP32,  /* fp32: next to NF4 */
    YK_PARAMETER_NF4,
};

enum yk_parameter_init {
    YK_INIT_ZERO,
    YK_INIT_ONE,
    YK_INIT_NORMAL,  /* of mean 0 and standard deviation `spread` */
    YK_INIT_UNIFORM, /* from −spread to spread */
};

struct yk_parameter {
    const char *name; /* "transformer.h.0.attn.c_attn.weight" */
    int32_t rank;     /* 1 or 2 */
    int64_t shape[2]; /* as in the file */
    int64_t count;
    enum yk_parameter_format format;
    bool trained;
    bool decayed;
    bool adapter;  /* saved with the adapter, not with the model */
    bool optional; /* a file may lack it: it is then as it starts */
    enum yk_parameter_init init;
    double spread;
    size_t offset; /* in the layer's weights, bytes */
    int64_t first; /* of a trained one: its first number in the layer's gradients and state */
};

struct yk_net_options {
    double dropout; /* of embeddings, attention and what is added to the residual stream */
    double label_smoothing;
    double lora_alpha; /* adapters are scaled by alpha / rank; 0: by 1 */
    uint64_t seed;     /* of dropout */
};

enum {
    YK_PROJECTION_PARTS = 3,
    YK_LAYER_PROJECTIONS = 7, /* of a decoder */
};

/* A product with weights: one linear of the model, or several that take the same input and lie side
 * by side in the output, such as queries, keys and values. */
struct yk_projection {
    int64_t in;
    int64_t out; /* of all parts */
    int32_t parts;
    int64_t part_out[YK_PROJECTION_PARTS];
    bool transposed; /* weights are stored as (in, out), as GPT-2 has them; else as (out, in) */
    int32_t weight;  /* the first part's, among the layer's parameters; the others follow it */
    int32_t bias;    /* −1: none, here and below */
    int32_t a;       /* of the adapter: (rank, in) */
    int32_t b;       /* (part_out, rank) */
};

struct yk_net_layer {
    const struct yk_layer_kind *kind;
    const char *name; /* the model's: "layer 3" */
    struct yk_parameter *parameters;
    int32_t parameter_count;
    struct yk_projection projections[YK_LAYER_PROJECTIONS];
    int32_t projection_count;
    enum yk_precision precision; /* of what its products are stored in: fp32 outside the blocks of
                                    an NF4 model */
    int32_t leader;              /* the layer whose weights it uses too, or itself */
    int32_t input;               /* the layer whose output it is sent; −1: it reads tokens */
    int32_t memory;              /* the one whose output it looks at besides; −1: none */
    bool decodes;                /* its stream is that of the decoder of an encoder–decoder */
    size_t weight_bytes;         /* of its own */
    int64_t trained;             /* numbers */
    int64_t decayed;             /* the first of them */
};

struct yk_net {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_workload workload; /* its batch does not count */
    struct yk_net_options options;
    int32_t layer_count;
    struct yk_net_layer *layers; /* those of the model, in its order */
};

/* Fails where a layer's kind cannot be trained. */
yk_status yk_net_create(const struct yk_model *model, const struct yk_net_options *options,
                        struct yk_net **out) YK_MUST_USE;
void yk_net_destroy(struct yk_net *net);

/* The parameters of all layers in their order: for (struct yk_net_cursor at = {0}; yk_net_next(net,
 * &at);). False past the last. */
struct yk_net_cursor {
    int32_t layer;
    int32_t next; /* in the layer */
    const struct yk_parameter *parameter;
};
bool yk_net_next(const struct yk_net *net, struct yk_net_cursor *at);

/* The parameter of that name, or NULL; `layer` may be NULL. */
const struct yk_parameter *yk_net_find(const struct yk_net *net, const char *name, int32_t *layer);

/* The bytes that a parameter takes in the weights. */
size_t yk_net_parameter_bytes(const struct yk_net *net, const struct yk_parameter *parameter);

/* The bytes of a layer's trained parameters, or of their gradients. */
static inline size_t yk_net_trained_bytes(const struct yk_net *net, int32_t layer)
{
    return (size_t)(net->layers[layer].trained * yk_precision_bytes(net->workload.precision));
}

/* What adapters are scaled by. */
static inline float yk_net_adapter_scale(const struct yk_net *net)
{
    const double alpha = net->options.lora_alpha;
    return alpha > 0 ? (float)(alpha / (double)net->workload.lora_rank) : 1;
}

#endif
