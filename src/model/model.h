/*
 * Model: the layers of a transformer, and what each needs to train on a batch: parameters,
 * operations, bytes saved for the backward pass, bytes sent to the next layer. A model is computed
 * from a config and a workload. It is in the caller's arena and never changes.
 *
 * A matrix product (m, k) × (k, n) has 2mkn operations. Its backward has as many for the gradient
 * of the input, and as many again for the gradient of the weights if they are trained. Attention
 * has T(T+1)/2 pairs of positions if it is causal, else T·S. Each pair and head has 4·d operations
 * forward and 10·d backward, because flash attention recomputes the scores. Vector operations are
 * counted in a class of their own.
 *
 * The folder model:
 *   config, config_fields, config_write, builtin  configs, config.json, built-in models
 *   architecture, architecture_NAME               the families of models
 *   model_builder, layer, work                    what architectures describe layers with
 *   modules                                       the module tree of Hugging Face models
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
    int64_t batch;           /* B, samples of the (micro-)batch */
    int64_t sequence;        /* T, tokens per sample; in an encoder–decoder, of the source */
    int64_t target_sequence; /* tokens per sample of the decoder; 0: equal to `sequence` */
    enum yk_precision precision;
    int64_t lora_rank; /* 0: all parameters are trained; else only adapters on all linears */
    bool nf4;          /* frozen linears are NF4; requires lora_rank > 0 */
    bool recompute;    /* blocks save only their input and recompute forward in backward */
};

enum {
    YK_LAYER_NONE = -1
};

/* Bytes per weight in NF4 with double quantisation: 4 bits, and 0.127 bits for the scales. */
#define YK_MODEL_NF4_BYTES_PER_WEIGHT (0.5 + 0.127 / 8)

struct yk_layer {
    const char *name;  /* "embed", "layer 0", "norm", "head"; "encoder 0", "decoder 0" */
    const char *kind;  /* "embed", "gpt-block", "llama-block", "norm", "head" … */
    const char *shape; /* kind, sizes and precision: everything except B and T that determines its
                          times; in a decoder also the target's length if it is not T */
    const char *const *modules; /* the Hugging Face modules of the layer */
    int32_t module_count;
    int32_t
        shares_weights_of; /* the earlier layer whose weights it shares (a tied head), or
                   YK_LAYER_NONE. Both are placed together; the earlier one counts the weights */

    /* Its own parameters; adapters are trainable. */
    int64_t parameters;
    int64_t trainable;
    int64_t quantised;  /* frozen parameters in NF4 */
    int64_t full_width; /* frozen parameters in fp32 (in an NF4 model) */

    struct yk_kernel_work_list forward;
    struct yk_kernel_work_list backward; /* includes recomputation */
    struct yk_kernel_work_list update;   /* once per step */
    struct yk_flops flops;               /* of both passes, without recomputation */

    bool is_block;           /* the plan may recompute it */
    bool keeps_input;        /* saved_bytes include its input */
    int64_t saved_bytes;     /* from its forward to its backward */
    int64_t workspace_bytes; /* additional memory during one of its passes */
};

/* Data that one layer sends to another in the forward pass. Its gradient, of the same size, returns
 * in the backward pass. */
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
    int64_t parameters;                /* of all layers */
    int64_t trainable;
};

/* Computes the model of a config under a workload, in the arena. Fails for an invalid workload: a
 * batch or sequence of 0, a sequence longer than the learned positions, NF4 without adapters. */
yk_status yk_model_build(const struct yk_model_config *config, const struct yk_workload *workload,
                         struct yk_arena *arena, const struct yk_model **out) YK_MUST_USE;

/* The tokens of one (micro-)batch that have a loss. */
int64_t yk_model_loss_tokens(const struct yk_model *model);

/* All tokens of one (micro-)batch; in an encoder–decoder, of source and target. */
int64_t yk_model_all_tokens(const struct yk_model *model);

/* The operations that MFU counts for training on one (micro-)batch. */
struct yk_flops yk_model_flops(const struct yk_model *model);

/* The bytes of a layer's state during training. */
struct yk_model_layer_state_bytes {
    double weight_bytes;    /* trained and frozen */
    double gradient_bytes;  /* of trained parameters */
    double optimizer_bytes; /* Adam's moments, and the master copy of 16-bit weights */
};

struct yk_model_layer_state_bytes yk_model_layer_state_bytes(const struct yk_model *model,
                                                             const struct yk_layer *layer);

/* Model cache: the models of one config for different batch sizes, each computed at first use. The
 * cache owns them. One thread at a time. */
struct yk_model_cache;

/* `workload` describes the whole batch. `config` must outlive the cache. */
yk_status yk_model_cache_create(const struct yk_model_config *config,
                                const struct yk_workload *workload,
                                struct yk_model_cache **out) YK_MUST_USE;
void yk_model_cache_destroy(struct yk_model_cache *cache);

/* The model for `batch` samples, from 1 to the whole batch, with or without recomputation. */
yk_status yk_model_cache_get(struct yk_model_cache *cache, int64_t batch, bool recompute,
                             const struct yk_model **out) YK_MUST_USE;

/* The model for the whole batch, without recomputation. */
const struct yk_model *yk_model_cache_whole_batch(const struct yk_model_cache *cache);

#endif
