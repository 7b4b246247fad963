/*
 * Model: the layers of a transformer and what each takes to train on a batch: parameters,
 * operations, bytes saved for the backward pass, bytes sent to the next layer. A model is a config
 * under a workload. It lives in the arena it was made in and never changes.
 *
 * A matrix product (m, k) × (k, n) is 2mkn operations; its backward is as many for the gradient of
 * its input and as many again for that of its weights, if those are trained. Attention looks at
 * T(T+1)/2 pairs of positions where it is causal and T·S otherwise, 4·d operations a pair and head
 * forward, 10·d backward (flash attention computes the scores again). Vector work is counted in its
 * own class. The rest of the room:
 *   config, config_fields, config_write, builtin  the numbers of a model, known models
 *   architecture, architecture_NAME               a family: its config, layers and modules
 *   model_builder, layer, work                    what architectures build layers from
 *   modules                                       modules of Hugging Face
 */
#ifndef YK_MODEL_MODEL_H
#define YK_MODEL_MODEL_H

#include "base/arena.h"
#include "base/precision.h"
#include "base/status.h"
#include "model/config.h"
#include "model/work.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_workload {
    int64_t batch;           /* B, samples in this (micro-)batch */
    int64_t sequence;        /* T, tokens a sample; of an encoder–decoder, the source's */
    int64_t target_sequence; /* the decoder's tokens; 0: as many as the source's */
    enum yk_precision precision;
    int64_t lora_rank; /* 0: every parameter is trained; else only adapters on all linears are */
    bool nf4;          /* frozen linears are kept as NF4; asks for lora_rank > 0 */
    bool recompute;    /* blocks save only their input and run forward again in backward */
};

enum {
    YK_LAYER_NONE = -1
};

/* Bytes of a weight in NF4 with double quantisation: four bits, and 0.127 bits for the scales. */
#define YK_MODEL_NF4_BYTES (0.5 + 0.127 / 8)

struct yk_layer {
    const char *name;  /* "embed", "layer 0", "norm", "head"; "encoder 0", "decoder 0" */
    const char *kind;  /* "embed", "gpt-block", "llama-block", "norm", "head" … */
    const char *shape; /* kind, sizes, precision: all that its times depend on besides B and
                          T; in a decoder the target's length, too, unless it is T */
    const char *const *modules; /* the Hugging Face modules it is made of */
    int32_t module_count;
    int32_t shares; /* the earlier layer whose weights it uses too (a tied head), or YK_LAYER_NONE:
                       the two are placed together, the weights counted at the earlier one */

    /* Parameters of its own. trainable + frozen = all; adapters are trainable. */
    int64_t parameters;
    int64_t trainable;
    int64_t quantised;  /* of the frozen ones: kept as NF4 */
    int64_t full_width; /* of the frozen ones: kept as fp32 (in an NF4 model) */

    struct yk_work_list forward;
    struct yk_work_list backward; /* with the recomputation, where there is one */
    struct yk_work_list update;   /* once a step, not once a micro-batch */
    struct yk_flops flops;        /* of both passes, without the recomputation */

    bool is_block;           /* it is computed again where the plan says so */
    bool keeps_input;        /* what was sent to it is among what it saves */
    int64_t saved_bytes;     /* held from its forward to its backward */
    int64_t workspace_bytes; /* held besides while one of its passes runs */
};

/* Data that goes from one layer's forward to another's; its gradient comes back, as many bytes. */
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
    const struct yk_layer_edge *edges; /* by `to`, every `from` earlier than its `to` */
    int64_t parameters;                /* of all layers */
    int64_t trainable;
};

/*
 * What `config` is made of under `workload`. Refuses what cannot be: a batch or sequence of 0, a
 * sequence longer than the learned positions, NF4 without adapters.
 */
yk_status yk_model_describe(const struct yk_model_config *config,
                            const struct yk_workload *workload, struct yk_arena *arena,
                            const struct yk_model **out) YK_MUST_USE;

/* Tokens of one (micro-)batch that bear loss. */
int64_t yk_model_loss_tokens(const struct yk_model *model);

/* All tokens of one (micro-)batch: of an encoder–decoder, those of both sides. */
int64_t yk_model_all_tokens(const struct yk_model *model);

/* What MFU counts of training on one (micro-)batch: the only place that says so. */
struct yk_flops yk_model_flops(const struct yk_model *model);

/* The bytes of a layer's parameters while they are trained. */
struct yk_model_layer_state {
    double weight_bytes;    /* as they are kept and gathered, frozen ones included */
    double gradient_bytes;  /* of what is trained */
    double optimizer_bytes; /* Adam's moments; in 16 bit a master copy besides */
};

struct yk_model_layer_state yk_model_layer_state(const struct yk_model *model,
                                                 const struct yk_layer *layer);

/* One model under batches of several sizes, each described when it is first needed. Descriptions
 * live as long as the sizes do. One thread at a time. */
struct yk_model_sizes;

/* `workload` is that of the whole batch; its batch and recompute are replaced in each description.
 * `config` must outlive the sizes. */
yk_status yk_model_sizes_create(const struct yk_model_config *config,
                                const struct yk_workload *workload,
                                struct yk_model_sizes **out) YK_MUST_USE;
void yk_model_sizes_destroy(struct yk_model_sizes *sizes);

/* The model for `batch` samples, from 1 to the whole batch. With `recompute` its blocks save only
 * their inputs. */
yk_status yk_model_sizes_get(struct yk_model_sizes *sizes, int64_t batch, bool recompute,
                             const struct yk_model **out) YK_MUST_USE;

/* The model for the whole batch, without recomputation: for names, parameters and edges. */
const struct yk_model *yk_model_sizes_whole_batch(const struct yk_model_sizes *sizes);

#endif
