/*
 * Net: a model that can be executed. It consists of layers, their parameters, and the options of
 * passes. The values of the parameters are in a store. A net owns everything that it points to
 * except the config, which must outlive the net. A net never changes after creation.
 *
 * The files of the folder nn:
 *
 *   net, parameter_list  nets of layers; the parameters of a layer
 *   bump_allocator       divides one allocation into arrays
 *   layers/              forward and backward functions of each kind of layer
 *   store/               weights, gradients and optimizer state on a device
 *   weights/             reads and writes models (Hugging Face) and adapters (PEFT)
 *   inference/           forward passes without training, sampling, beam search
 *   optimizer            AdamW and SGD
 *   lr_schedule          the learning rate of each step
 *   loss_scaler          dynamic loss scaling for fp16
 *
 * All weights of a layer are in one allocation: first the trained parameters with weight decay,
 * then the trained parameters without weight decay, then the frozen parameters. Gradients and
 * optimizer state are in the same order, without gaps. So a part of a layer is simply a range of
 * elements.
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
    YK_PARAMETER_PLAIN, /* stored in the precision of the training run */
    YK_PARAMETER_FP32,  /* stored in fp32, in models whose blocks are NF4 */
    YK_PARAMETER_NF4,
};

enum yk_parameter_init {
    YK_PARAMETER_INIT_ZERO,
    YK_PARAMETER_INIT_ONE,
    YK_PARAMETER_INIT_NORMAL,  /* mean 0, standard deviation `init_std` */
    YK_PARAMETER_INIT_UNIFORM, /* from −init_std to init_std */
};

enum {
    YK_PARAMETER_MAX_RANK = 4 /* of the weights of a convolution */
};

struct yk_parameter {
    const char *name; /* "transformer.h.0.attn.c_attn.weight" */
    int32_t rank;
    int64_t shape[YK_PARAMETER_MAX_RANK]; /* the same shape as in a file of weights */
    int64_t count;                        /* number of elements */
    enum yk_parameter_format format;
    bool trained;
    bool decayed; /* has weight decay */
    bool adapter; /* belongs to a LoRA adapter, not to the model */
    /* Belongs to the model, but is trained beside adapters and saved with them: the head of a
     * classifier, which PEFT lists in "modules_to_save". */
    bool saved_with_adapter;
    bool fresh;    /* is not read from a file of weights, but starts anew */
    bool optional; /* a file of weights need not contain it; if it does not, the parameter is set
                      to 0 */
    enum yk_parameter_init init;
    double init_std;
    size_t offset; /* byte offset in the layer's weights */
    int64_t first; /* only if trained: index of its first element in the layer's gradients and
                      optimizer state */
};

/* Returns whether an adapter's files contain the parameter. */
static inline bool yk_parameter_is_in_adapter(const struct yk_parameter *parameter)
{
    return parameter->adapter || parameter->saved_with_adapter;
}

struct yk_net_options {
    double dropout; /* probability of dropout for embeddings, attention and residual branches */
    double label_smoothing;
    /* The output of adapters is multiplied by lora_alpha / rank. 0 means: it is multiplied by 1. */
    double lora_alpha;
    uint64_t seed; /* seed of dropout */
    /* Images: a byte x of channel c becomes pixel_scale[c] · x + pixel_shift[c]. If pixel_scale[0]
     * is 0, bytes become numbers from −1 to 1. */
    float pixel_scale[YK_MAX_IMAGE_CHANNELS];
    float pixel_shift[YK_MAX_IMAGE_CHANNELS];
};

/* Sums over the targets of some samples that have a loss. */
struct yk_loss_sums {
    double loss;
    double hits[2]; /* see struct yk_accuracy_op; 0 unless the model is a classifier */
};

enum {
    YK_PROJECTION_MAX_PARTS = 3,
    YK_LAYER_MAX_PROJECTIONS = 7, /* a decoder block has the most */
};

/* A matrix product with weights. It computes one linear of the model, or several linears with the
 * same input, such as queries, keys and values. Their outputs are concatenated. Each linear is a
 * part of the projection. */
struct yk_projection {
    int64_t in;
    int64_t out; /* width of the output, all parts together */
    int32_t parts;
    int64_t part_out[YK_PROJECTION_MAX_PARTS];
    bool transposed; /* true: weights are stored as (in, out), as in GPT-2; false: as (out, in) */
    /* weight, bias, a and b are indices in the layer's parameters. Each is the index of the
     * parameter of the first part; the parameters of the other parts follow it. −1 means: there is
     * no such parameter. */
    int32_t weight;
    int32_t bias;
    int32_t a; /* LoRA A, (rank, in) */
    int32_t b; /* LoRA B, (part_out, rank) */
};

struct yk_net_layer {
    const struct yk_layer_kind *kind;
    const char *name; /* the same name as in the model: "layer 3" */
    int32_t block;    /* the number of a block among the blocks of the encoder, or of the decoder */
    bool encoder;     /* the layer belongs to the encoder of an encoder–decoder */
    struct yk_parameter *parameters;
    int32_t parameter_count;
    struct yk_projection projections[YK_LAYER_MAX_PROJECTIONS];
    int32_t projection_count;
    enum yk_precision precision; /* precision of the outputs of matrix products; fp32 in layers that
                                    are not blocks if blocks are NF4 */
    /* The layer that owns the weights of this layer; usually the layer itself. */
    int32_t weights_owner;
    /* The layer whose output is the input of this layer; −1 means: this layer reads tokens. */
    int32_t input;
    int32_t memory;      /* the layer to whose output this layer cross-attends; −1 means: no
                            cross-attention */
    bool pools;          /* the output has only the first token of each sample */
    bool pooled;         /* the input has only the first token of each sample */
    bool decodes;        /* the layer belongs to the decoder of an encoder–decoder */
    size_t weight_bytes; /* bytes of all parameters that the layer owns, trained and frozen */
    int64_t trained;     /* number of elements of the layer's trained parameters */
    int64_t decayed;     /* number of trained elements with weight decay; they come first */
};

struct yk_net {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_workload workload; /* its member `batch` is not used */
    struct yk_net_options options;
    int32_t layer_count;
    struct yk_net_layer *layers; /* in the order of the model */
};

/* Creates a net. Fails if the model cannot be trained. */
yk_status yk_net_create(const struct yk_model *model, const struct yk_net_options *options,
                        struct yk_net **out) YK_MUST_USE;
void yk_net_destroy(struct yk_net *net);

/*
 * Iterates over the parameters of all layers; at.parameter is the current parameter:
 *
 *   for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);)
 */
struct yk_net_parameter_cursor {
    int32_t layer;
    int32_t next; /* index of the next parameter in the layer */
    const struct yk_parameter *parameter;
};
/* Goes to the next parameter. Returns false if there are no more parameters. */
bool yk_net_next_parameter(const struct yk_net *net, struct yk_net_parameter_cursor *at);

/* Returns the parameter with this name, or NULL. Sets `*layer` to the layer of the parameter;
 * `layer` may be NULL. */
const struct yk_parameter *yk_net_find_parameter(const struct yk_net *net, const char *name,
                                                 int32_t *layer);

/* Returns the number of bytes that a parameter has in its layer's weights. */
size_t yk_net_parameter_bytes(const struct yk_net *net, const struct yk_parameter *parameter);

/* Returns whether the precision of the training run has 16 bits. */
static inline bool yk_net_is_16_bit(const struct yk_net *net)
{
    return yk_precision_bytes(net->workload.precision) == 2;
}

/* These two functions return the number of rows that a sample of `sequence` tokens has in the input
 * and in the output of a layer. */
static inline int64_t yk_net_layer_input_rows(const struct yk_net_layer *layer, int64_t sequence)
{
    return layer->pooled ? 1 : sequence;
}
static inline int64_t yk_net_layer_output_rows(const struct yk_net_layer *layer, int64_t sequence)
{
    return layer->pools || layer->pooled ? 1 : sequence;
}

/* Returns the number of tokens that the model computes for a sample of a slice. An image is one
 * token in a slice. */
static inline int64_t yk_net_sample_tokens(const struct yk_net *net, int64_t sequence)
{
    return yk_model_config_reads_images(net->config) ? net->config->positions : sequence;
}

/* Returns the number of bytes of a layer's trained parameters. Their gradients have the same
 * size. */
static inline size_t yk_net_layer_trained_bytes(const struct yk_net *net, int32_t layer)
{
    return (size_t)(net->layers[layer].trained * yk_precision_bytes(net->workload.precision));
}

/* Returns alpha of the net's adapters. If alpha was not set, returns the rank. */
static inline double yk_net_adapter_alpha(const struct yk_net *net)
{
    return net->options.lora_alpha > 0 ? net->options.lora_alpha : (double)net->workload.lora_rank;
}

/* Returns alpha / rank, the factor by which the output of adapters is multiplied. */
static inline float yk_net_adapter_scale(const struct yk_net *net)
{
    return (float)(yk_net_adapter_alpha(net) / (double)net->workload.lora_rank);
}

#endif
