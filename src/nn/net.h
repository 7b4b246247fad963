/*
 * Net: a model that can be executed: its layers, their parameters, and the options of passes. The
 * values of the parameters are in a store. A net owns everything it points to except the config,
 * which must outlive it. It never changes after creation.
 *
 * The folder nn:
 *   net, parameter_list   nets of layers; the parameters of a layer
 *   carve                 divides one allocation into arrays
 *   layers/               forward and backward of each kind of layer, and what they share
 *   store/                weights, gradients and optimizer state on a device
 *   weights/              reads and writes models (Hugging Face) and adapters (PEFT)
 *   inference/            forward passes without training, sampling, beam search
 *   optimizer, lr_schedule, loss_scaler
 *
 * All weights of a layer are in one allocation: first the trained parameters, those with weight
 * decay before those without, then the frozen ones. Gradients and optimizer state have the same
 * order, without gaps, so that a part of a layer is a range of elements.
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
    YK_PARAMETER_PLAIN, /* the precision of the training */
    YK_PARAMETER_FP32,  /* in models whose blocks are NF4 */
    YK_PARAMETER_NF4,
};

enum yk_parameter_init {
    YK_PARAMETER_INIT_ZERO,
    YK_PARAMETER_INIT_ONE,
    YK_PARAMETER_INIT_NORMAL,  /* mean 0, standard deviation `spread` */
    YK_PARAMETER_INIT_UNIFORM, /* from −spread to spread */
};

struct yk_parameter {
    const char *name; /* "transformer.h.0.attn.c_attn.weight" */
    int32_t rank;     /* 1 or 2 */
    int64_t shape[2]; /* as in a file of weights */
    int64_t count;    /* numbers */
    enum yk_parameter_format format;
    bool trained;
    bool decayed;  /* has weight decay */
    bool adapter;  /* belongs to a LoRA adapter, not to the model */
    bool optional; /* a file may lack it; it then keeps its initial value */
    enum yk_parameter_init init;
    double init_std;
    size_t offset; /* bytes from the start of the layer's weights */
    int64_t first; /* if trained: its first element in the layer's gradients and state */
};

struct yk_net_options {
    double dropout; /* probability, for embeddings, attention and residual branches */
    double label_smoothing;
    double lora_alpha; /* adapters are scaled by alpha / rank; 0: by 1 */
    uint64_t seed;     /* of dropout */
};

enum {
    YK_PROJECTION_MAX_PARTS = 3,
    YK_LAYER_MAX_PROJECTIONS = 7, /* maximum: a decoder block */
};

/* A matrix product with weights: one linear of the model, or several with the same input whose
 * outputs are concatenated, such as queries, keys and values. Each of them is a part. */
struct yk_projection {
    int64_t in;
    int64_t out; /* of all parts together */
    int32_t parts;
    int64_t part_out[YK_PROJECTION_MAX_PARTS];
    bool transposed; /* weights are stored as (in, out), as in GPT-2; else as (out, in) */
    /* Parameter numbers in the layer, of the first part; the other parts follow. −1: none. */
    int32_t weight;
    int32_t bias;
    int32_t a; /* LoRA A, (rank, in) */
    int32_t b; /* LoRA B, (part_out, rank) */
};

struct yk_net_layer {
    const struct yk_layer_kind *kind;
    const char *name; /* as in the model: "layer 3" */
    struct yk_parameter *parameters;
    int32_t parameter_count;
    struct yk_projection projections[YK_LAYER_MAX_PROJECTIONS];
    int32_t projection_count;
    enum yk_precision precision; /* of the outputs of its products: fp32 outside the blocks of an
                                    NF4 model */
    int32_t weights_owner;       /* the layer that owns the weights it shares; else itself */
    int32_t input;               /* the layer whose output is its input; −1: it reads tokens */
    int32_t memory;              /* the layer whose output it cross-attends to; −1: none */
    bool decodes;                /* it belongs to the decoder of an encoder–decoder */
    size_t weight_bytes;         /* of its own parameters */
    int64_t trained;             /* numbers of its trained parameters */
    int64_t decayed;             /* the first of these have weight decay */
};

struct yk_net {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_workload workload; /* its batch is not used */
    struct yk_net_options options;
    int32_t layer_count;
    struct yk_net_layer *layers; /* in the order of the model */
};

/* Fails if the model cannot be trained. */
yk_status yk_net_create(const struct yk_model *model, const struct yk_net_options *options,
                        struct yk_net **out) YK_MUST_USE;
void yk_net_destroy(struct yk_net *net);

/* Iterates over the parameters of all layers:
 *   for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) … at.parameter
 * … */
struct yk_net_parameter_cursor {
    int32_t layer;
    int32_t next; /* number of the next parameter in the layer */
    const struct yk_parameter *parameter;
};
/* False: there are no more parameters. */
bool yk_net_next_parameter(const struct yk_net *net, struct yk_net_parameter_cursor *at);

/* The parameter with that name, or NULL. `*layer` is set to its layer; `layer` may be NULL. */
const struct yk_parameter *yk_net_find_parameter(const struct yk_net *net, const char *name,
                                                 int32_t *layer);

/* The bytes of a parameter in the weights. */
size_t yk_net_parameter_bytes(const struct yk_net *net, const struct yk_parameter *parameter);

/* Whether the precision of the training has 16 bits. */
static inline bool yk_net_is_half(const struct yk_net *net)
{
    return yk_precision_bytes(net->workload.precision) == 2;
}

/* The bytes of a layer's trained parameters, or of their gradients. */
static inline size_t yk_net_trained_bytes(const struct yk_net *net, int32_t layer)
{
    return (size_t)(net->layers[layer].trained * yk_precision_bytes(net->workload.precision));
}

/* The factor of the adapters' output. */
static inline float yk_net_adapter_scale(const struct yk_net *net)
{
    const double alpha = net->options.lora_alpha;
    return alpha > 0 ? (float)(alpha / (double)net->workload.lora_rank) : 1;
}

#endif
