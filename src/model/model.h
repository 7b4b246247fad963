/*
 * Model: the layers of a transformer, and what each layer needs for training on a batch:
 * parameters, operations, bytes saved for the backward pass, and bytes sent to the next layer. A
 * model is computed from a config and a workload. It is in the caller's arena and never changes.
 *
 * A matrix product (m, k) × (k, n) has 2mkn operations. Its backward pass has 2mkn operations for
 * the gradient of the input, and 2mkn for the gradient of the weights if they are trained.
 * Attention of T queries to S keys has T(T+1)/2 pairs of positions if it is causal, otherwise T·S.
 * For each pair and each head, attention has 4·d operations in the forward pass, where d is the
 * head size. It has 10·d operations in the backward pass, because flash attention computes the
 * scores again. Vector operations are counted in a class of their own.
 *
 * The files of the folder model:
 *
 *   config, config_parser           configs; read config.json
 *   config_fields, config_rope,     the keys of config.json
 *   config_blocks, config_images,
 *   config_json
 *   builtin                         built-in models
 *   architecture                    the table of families: keys and names of modules
 *   model_layers                    describes the layers of a config
 *   model_builder, layer_builder    used to describe layers
 *   kernel_work                     operations and memory traffic of a kernel
 *   module_tree                     the module tree of Hugging Face models
 */
#ifndef YK_MODEL_MODEL_H
#define YK_MODEL_MODEL_H

#include "base/arena.h"
#include "base/precision.h"
#include "base/status.h"
#include "model/config.h"
#include "model/kernel_work.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_workload {
    int64_t batch;    /* B, number of samples of the batch or micro-batch */
    int64_t sequence; /* T, tokens per sample; in an encoder–decoder, tokens of the source */
    int64_t target_sequence; /* tokens per sample in the decoder; 0 means: equal to `sequence` */
    int64_t lora_rank; /* rank of the adapters, the only parameters that are trained; 0 means: no
                          adapters, all parameters are trained */
    enum yk_precision precision;
    bool nf4;       /* frozen linears are NF4; requires lora_rank > 0 */
    bool recompute; /* blocks save only their input, and the backward pass computes the forward pass
                       again */
};

enum {
    YK_LAYER_NONE = -1
};

/* Bytes per weight in NF4 with double quantisation: 4 bits for the weight, and 0.127 bits for the
 * scales. */
#define YK_MODEL_NF4_BYTES_PER_WEIGHT (0.5 + 0.127 / 8)

/* What a layer is to the model. Layers that are not blocks are frozen if blocks have adapters, and
 * fp32 if blocks are NF4. Only the head of a classifier is trained in any case. */
enum yk_layer_role {
    YK_LAYER_ROLE_EMBEDDING, /* has no gradient of its input, which is token ids or pixels */
    YK_LAYER_ROLE_BLOCK, /* has adapters, NF4 weights and recomputation if the workload has them;
                            no other layer does */
    YK_LAYER_ROLE_NORM,  /* the norm after the last block */
    YK_LAYER_ROLE_POOLER,
    YK_LAYER_ROLE_HEAD,
};

struct yk_layer {
    enum yk_layer_role role;
    int32_t block;    /* the number of a block among the blocks of the encoder, or of the decoder */
    const char *name; /* "embed", "layer 0", "norm", "head"; "encoder 0", "decoder 0" */
    const char *kind; /* "embed", "gpt-block", "llama-block", "norm", "head" … */
    /* Kind, sizes and precision: everything that determines the times of the layer, except B and T.
     * In a decoder, this includes the length of the target if it is not T. */
    const char *shape;
    const char *const *modules; /* the Hugging Face modules of the layer */
    int32_t module_count;
    int32_t shares_weights_of; /* the earlier layer whose weights this layer uses, for example if
                                  the head is tied; or YK_LAYER_NONE. Both layers are placed
                                  together. The weights count only for the earlier layer */

    /* Numbers of parameters that the layer owns. */
    int64_t parameters;
    int64_t inactive; /* parameters of experts that do not compute a token */
    int64_t trainable;
    int64_t quantised;  /* frozen parameters in NF4 */
    int64_t full_width; /* frozen parameters in fp32, in models whose blocks are NF4 */

    struct yk_kernel_work_list forward;
    struct yk_kernel_work_list backward; /* kernels of the backward pass, including recomputation */
    struct yk_kernel_work_list update;   /* kernels of the optimizer update, once per step */
    struct yk_mfu_flops flops;           /* operations of both passes, without recomputation */

    bool encoder;        /* a layer of the encoder of an encoder–decoder */
    bool keeps_input;    /* saved_bytes include the input of the layer */
    int64_t saved_bytes; /* bytes saved from the forward pass of the layer to its backward pass */
    int64_t workspace_bytes; /* additional memory that is needed only during a pass of the layer */
};

/* Data that one layer sends to another in the forward pass. In the backward pass, the gradient of
 * this data, which has the same size, is sent back. */
struct yk_layer_edge {
    int32_t from;
    int32_t to;
    int64_t bytes;
};

struct yk_model {
    const struct yk_model_config *config;
    struct yk_workload workload;
    int32_t layer_count;
    int32_t edge_count;
    const struct yk_layer *layers;     /* in the order of the forward pass */
    const struct yk_layer_edge *edges; /* sorted by `to`; `from` < `to` */
    int64_t parameters;                /* parameters of all layers */
    int64_t active; /* parameters that compute a token: all but those of experts not chosen */
    int64_t trainable;
};

/* Computes the model of a config and a workload, in the arena. Fails if the workload is invalid:
 * for example if the batch is empty, if a sequence is longer than the learned positions, or if NF4
 * is used without adapters. */
yk_status yk_model_build(const struct yk_model_config *config, const struct yk_workload *workload,
                         struct yk_arena *arena, const struct yk_model **out) YK_MUST_USE;

/* Returns the layer that owns the weights of `layer`: `layer` itself, or the layer whose weights
 * `layer` shares. */
static inline int32_t yk_model_weight_owner(const struct yk_model *model, int32_t layer)
{
    while (model->layers[layer].shares_weights_of != YK_LAYER_NONE) {
        layer = model->layers[layer].shares_weights_of;
    }
    return layer;
}

/* Returns the number of tokens of one batch or micro-batch that have a loss; of a classifier, the
 * number of samples. */
int64_t yk_model_count_loss_tokens(const struct yk_model *model);

/* Returns the number of all tokens of one batch or micro-batch. In an encoder–decoder, both source
 * and target are counted. Of a model that reads images, images are counted instead. */
int64_t yk_model_count_all_tokens(const struct yk_model *model);

/* Appends the number and the size of the samples of a batch: "5 samples of 1024 tokens", or "1
 * image of 224 × 224 pixels". */
void yk_model_append_batch(const struct yk_model_config *config, const struct yk_workload *workload,
                           struct yk_text *out);

/* Returns the operations that MFU counts for training on one batch or micro-batch. */
struct yk_mfu_flops yk_model_count_mfu_flops(const struct yk_model *model);

/* The sizes of a layer's state during training. */
struct yk_model_layer_state_bytes {
    double weight_bytes;    /* trained and frozen weights */
    double gradient_bytes;  /* gradients of trained parameters */
    double optimizer_bytes; /* Adam's moments, and the master copy of 16-bit weights */
};

struct yk_model_layer_state_bytes yk_model_layer_state_bytes(const struct yk_model *model,
                                                             const struct yk_layer *layer);

/* Model cache: the models of one config for different batch sizes. Each model is computed when it
 * is first used. The cache owns the models. Only one thread at a time may use a cache. */
struct yk_model_cache;

/* Creates a cache. `workload` describes the whole batch. `config` must outlive the cache. */
yk_status yk_model_cache_create(const struct yk_model_config *config,
                                const struct yk_workload *workload,
                                struct yk_model_cache **out) YK_MUST_USE;
void yk_model_cache_destroy(struct yk_model_cache *cache);

/* Returns the model for `batch` samples, with or without recomputation. `batch` is from 1 to the
 * whole batch. */
yk_status yk_model_cache_get(struct yk_model_cache *cache, int64_t batch, bool recompute,
                             const struct yk_model **out) YK_MUST_USE;

/* Returns the model for the whole batch, without recomputation. */
const struct yk_model *yk_model_cache_get_whole_batch(const struct yk_model_cache *cache);

#endif
