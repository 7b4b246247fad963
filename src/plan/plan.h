/*
 * Plan: what was decided about one training step: who holds which layer, how many samples each
 * rank takes, how each layer is sharded, and when each layer's bytes travel.
 *
 * Layers belong to groups of ranks. All ranks of a group hold the layer, each takes its share of
 * the samples, and together they keep its state as the layer's strategy says. One group of all
 * ranks is data parallelism, groups of one rank each are a placement, anything between is a
 * mixture; a rank may be in several groups. Layers that share weights have one group and one
 * strategy.
 *
 * A micro-batch's samples are numbered from 0, and the members of a group take them in order. With
 * one group, each member's share is cut into the micro-batches as evenly as it goes, the larger
 * ones first. With several groups the whole batch is cut so, and a group of several members cuts
 * each micro-batch in proportion to its shares, which must be multiples of the micro-batches.
 * Instead, the members of groups of several may have turns: each takes all of its share in one
 * micro-batch, and a micro-batch is what the members of its turn take. So a fast rank works on its
 * own samples while slower ones do some of the layers for theirs.
 *
 * A plan lives in the arena it was made in and never changes once made. Files: plan/plan_file.h.
 */
#ifndef YK_PLAN_PLAN_H
#define YK_PLAN_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_strategy {
    YK_REPLICATED,    /* everything whole on every rank of the group */
    YK_SHARDED_STATE, /* parameters whole, gradients and optimizer state in parts */
    YK_KEPT,          /* all in parts; gathered for forward and kept until backward is done */
    YK_FULLY_SHARDED, /* all in parts; gathered for forward and again for backward */
    YK_STRATEGY_COUNT,
};

/* The order in which a rank goes through forward and backward of its micro-batches. */
enum yk_pipeline {
    YK_GPIPE,  /* all forward, then all backward */
    YK_1F1B,   /* backward as soon as it can be, few micro-batches under way */
    YK_NESTED, /* forward from the last micro-batch to the first, backward from the first to the
                  last: the one that went forward first is under way longest */
    YK_PIPELINE_COUNT,
};

struct yk_plan_rank {
    int32_t device;     /* number in the cluster; no two ranks have one device */
    double limit_bytes; /* of its memory, for everything: at most the device's */
};

struct yk_plan_member {
    int32_t rank;
    int64_t share;              /* samples of the whole batch; 0: it only keeps state */
    double part;                /* of sharded state; those of a group add up to 1 */
    int32_t micro_batch_number; /* the one that it has all of its share in, counted from 1; 0: it
                                   has a part of every one */
};

struct yk_plan_group {
    struct yk_plan_member *members;
    int32_t member_count;
};

struct yk_plan_layer {
    int32_t group;
    enum yk_strategy strategy;
    bool recompute; /* saves its input only and runs forward again before backward */
};

/* The slots that communication is ordered by, cyclic, of L layers: forward of layer i is slot i,
 * then comes a gap, then backward of layer i is slot 2L − i, then two gaps. */
enum yk_slot_gap {
    YK_SLOT_MIDDLE, /* between forward and backward: slot L */
    YK_SLOT_END,    /* after backward: slot 2L + 1 */
    YK_SLOT_BEGIN,  /* before the next forward: slot 2L + 2 */
};

enum yk_transfer_kind {
    YK_TRANSFER_ALL_GATHER,
    YK_TRANSFER_REDUCE_SCATTER,
    YK_TRANSFER_ALL_REDUCE,
};

/*
 * Blocks of a layer that travel, not before slot `slot` begins. A gather between the layer's
 * forward and its backward is for the backward, any other for the next forward. Weights that layers
 * share travel with the first of them.
 */
struct yk_plan_transfer {
    enum yk_transfer_kind kind;
    int32_t layer;
    int32_t first_block;
    int32_t block_count;
    int32_t slot;
};

/* What a plan decides; what is not to be decided takes its plainest value. */
enum yk_decision {
    YK_DECIDE_SHARES = 1 << 0,        /* else as even as it goes */
    YK_DECIDE_PARTS = 1 << 1,         /* else equal */
    YK_DECIDE_STRATEGIES = 1 << 2,    /* else fully-sharded */
    YK_DECIDE_BLOCK = 1 << 3,         /* else 25 MiB */
    YK_DECIDE_ORDER = 1 << 4,         /* else one gather ahead */
    YK_DECIDE_PLACEMENT = 1 << 5,     /* else one group of all devices, each with all layers */
    YK_DECIDE_RECOMPUTATION = 1 << 6, /* else as the workload says */
    YK_DECIDE_ALL = (1 << 7) - 1,
};

enum {
    YK_DECISION_COUNT = 7
};

/*
 * What the search was restricted to, in addition to the workload and clipping: a plan is compared
 * with others under the same restrictions. All zero: none, or a plan that does not say.
 */
struct yk_plan_options {
    double memory_bytes;    /* at most this much of every device; 0: all of it */
    int32_t micro_batches;  /* 0: left open */
    bool recompute;         /* all blocks are recomputed */
    uint32_t undecided;     /* of enum yk_decision: left at their plainest value */
    bool one_strategy;      /* `strategy` for every layer */
    bool random_strategies; /* one drawn for every layer */
    enum yk_strategy strategy;
    double slowdown;      /* of computation during communication; 0: as measured or usual */
    const bool *left_out; /* (device_count) or NULL: devices that were not to be used */
    int32_t device_count;
};

struct yk_plan {
    /* What it was made for. */
    const char *model_source;    /* a built-in model's name or the path of a config.json */
    const char *cluster_source;  /* a line or the path of a cluster file */
    const char *profile_source;  /* NULL: none */
    struct yk_workload workload; /* of the whole batch; `recompute` is said by layer instead */
    struct yk_plan_options options;

    int32_t rank_count;
    int32_t group_count;
    int32_t layer_count;    /* the model's */
    int32_t transfer_count; /* 0: gathers `prefetch` ahead, everything else as soon as it can be */
    struct yk_plan_rank *ranks;
    struct yk_plan_group *groups;
    struct yk_plan_layer *layers;
    struct yk_plan_transfer *transfers; /* by slot, in the order they are issued; only in plans with
                                           one group and one micro-batch */

    int32_t micro_batches;
    enum yk_pipeline pipeline;
    bool no_sync;        /* gradients are kept whole until the last micro-batch, and reduced once */
    bool clip;           /* gradients are clipped by their norm over all layers */
    int32_t prefetch;    /* without transfers: how many gathers go ahead of their use, at least 1 */
    double block_bytes;  /* gathers and scatters are cut to this size */
    double bucket_bytes; /* reductions of neighbouring layers are fused up to this size */
};

/* "replicated", "sharded-state", "kept", "fully-sharded". */
const char *yk_plan_strategy_name(enum yk_strategy strategy);

/* "shares" … "recomputation", by the number of the bit. */
const char *yk_plan_decision_name(int32_t bit);

/* "gpipe", "1f1b", "nested". */
const char *yk_plan_pipeline_name(enum yk_pipeline pipeline);

/* "all_gather", "reduce_scatter", "all_reduce". */
const char *yk_plan_transfer_name(enum yk_transfer_kind kind);

/* A plan for `ranks`, `groups` and `layers` with everything else zero, with room for members. */
yk_status yk_plan_create(struct yk_arena *arena, int32_t ranks, int32_t groups, int32_t layers,
                         struct yk_plan **out) YK_MUST_USE;

/* A copy that shares nothing with `plan`, to be changed. */
yk_status yk_plan_copy(const struct yk_plan *plan, struct yk_arena *arena,
                       struct yk_plan **out) YK_MUST_USE;

/*
 * Refuses a plan that makes no sense by itself or for `model`, which is described for the whole
 * batch: shares that do not add up to the batch, parts that do not add up to 1, a rank or group
 * that does not exist, a limit or block of 0, layers that share weights apart from each other,
 * shares that micro-batches do not divide, transfers where there must be none.
 */
yk_status yk_plan_check(const struct yk_plan *plan, const struct yk_model *model) YK_MUST_USE;

/* Samples in proportion to `speeds`, rounded so that they add up to `batch`: nobody is further than
 * one from the exact proportion unless that is for a rank that would get none. Every rank with a
 * speed above 0 gets at least one where there are enough, the others none; some speed is above 0.
 */
void yk_plan_divide(const double *speeds, int32_t count, int64_t batch, int64_t *out);

/* Whether members alternate: each has all of its share in one micro-batch, which is as large as
 * the shares of its members. */
bool yk_plan_alternates(const struct yk_plan *plan);

/* The samples of `micro_batch` that a member of a group takes, from `*first` on. */
int64_t yk_plan_samples(const struct yk_plan *plan, int32_t group, int32_t member,
                        int32_t micro_batch, int64_t *first);

/* The same of all members: member i takes those from begins[i] on to begins[i + 1] (members + 1).
 */
void yk_plan_ranges(const struct yk_plan *plan, int32_t group, int32_t micro_batch,
                    int64_t *begins);

enum {
    YK_PLAN_MAX_BLOCKS = 8, /* of a layer: more would only cost latencies */
};

/* How many blocks a layer's parameters are cut into, and its gradient likewise, counted by what is
 * gathered: of a layer that is sharded-state what is trained. 0 when it has no weights of its own.
 */
int32_t yk_plan_blocks(const struct yk_plan *plan, const struct yk_model *model, int32_t layer);

/* All ranks must agree before any of them updates: on the norm to clip by, or on overflow. */
static inline bool yk_plan_has_barrier(const struct yk_plan *plan)
{
    return plan->clip || plan->workload.precision == YK_PRECISION_FP16;
}

static inline int32_t yk_plan_slot_count(const struct yk_plan *plan)
{
    return 2 * plan->layer_count + 3;
}

/* The strategy as far as it matters: with one member nothing is sharded. */
static inline enum yk_strategy yk_plan_strategy(const struct yk_plan *plan, int32_t layer)
{
    const struct yk_plan_layer *planned = &plan->layers[layer];
    return plan->groups[planned->group].member_count > 1 ? planned->strategy : YK_REPLICATED;
}

#endif
