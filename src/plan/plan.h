/*
 * Plan: all decisions about one training step: which ranks have which layers, how many samples each
 * rank computes, how each layer is sharded, and when its communication runs.
 *
 * Every layer belongs to a group of ranks. Each member of the group computes its share, a number of
 * samples of the batch. The strategy of the layer says which part of the layer's state (parameters,
 * gradients, optimizer state) each member stores. If all ranks are one group, the plan is
 * data-parallel. If each group has one rank, the plan is a pipeline. A rank may be in several
 * groups. Layers that share weights have the same group and strategy.
 *
 * The samples of a micro-batch are numbered from 0. Each member of a group computes a range of
 * these samples; the ranges are in the order of the members. If the plan has one group, the share
 * of each member is divided into `micro_batches` parts. The parts have equal sizes, or the first
 * parts have one sample more than the other parts. If the plan has several groups, the whole batch
 * is divided in this way. A group of several members then divides each micro-batch in proportion to
 * the members' shares; these shares must be multiples of `micro_batches`.
 *
 * Alternatively, the members of a group may alternate: each member computes its whole share in a
 * single micro-batch. This micro-batch consists of the shares of all members that compute in it. So
 * a fast rank can compute the samples of one micro-batch while slower ranks compute some layers for
 * the samples of another micro-batch.
 *
 * A finished plan is immutable. Its memory belongs to the arena in which it was created.
 *
 * Files of this folder:
 *   plan                      the plan
 *   plan_check                checks whether a plan is valid
 *   plan_file, plan_json      read and write plan files; plan_restrictions, plan_transfers,
 *                             plan_provenance and plan_path read and write parts of them
 *   plan_result               a plan with its predicted time and memory, for reports
 *   device_map                the devices of modules, in the form of Hugging Face
 */
#ifndef YK_PLAN_PLAN_H
#define YK_PLAN_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_sharding_strategy {
    YK_SHARDING_REPLICATED,         /* every rank of the group stores all state (DDP) */
    YK_SHARDING_SHARDED_STATE,      /* gradients and optimizer state are sharded, parameters are not
                                       (ZeRO-2) */
    YK_SHARDING_KEPT_AFTER_FORWARD, /* all state is sharded; parameters are gathered for forward and
                                       kept until backward has ended */
    YK_SHARDING_FULLY_SHARDED,      /* all state is sharded; parameters are gathered for forward and
                                       again for backward (ZeRO-3) */
    YK_SHARDING_STRATEGY_COUNT,
};

/* The order in which a rank runs the forward and backward passes of its micro-batches. */
enum yk_pipeline_schedule_kind {
    YK_PIPELINE_GPIPE,  /* all forward passes, then all backward passes */
    YK_PIPELINE_1F1B,   /* backward passes as early as possible, so that saved activations of only a
                           few micro-batches are in memory */
    YK_PIPELINE_NESTED, /* forward passes from the last micro-batch to the first, then backward
                           passes from the first to the last */
    YK_PIPELINE_SCHEDULE_COUNT,
};

struct yk_plan_rank {
    int32_t device;     /* index in the cluster; every rank has its own device */
    double limit_bytes; /* memory that the rank may use in total */
};

struct yk_plan_group_member {
    int32_t rank;
    int64_t share; /* number of samples of the batch that the rank computes; 0 means: it only stores
                      state */
    double shard_fraction;      /* fraction of the group's sharded state that this rank stores; the
                                   fractions of all members add up to 1 */
    int32_t micro_batch_number; /* if members alternate: the only micro-batch in which this rank
                                   computes, counted from 1; 0 means: the rank computes a part of
                                   every micro-batch */
};

struct yk_plan_group {
    struct yk_plan_group_member *members;
    int32_t member_count;
};

struct yk_plan_layer {
    int32_t group;
    enum yk_sharding_strategy strategy;
    bool recompute; /* forward saves only the layer's input, and is run again before backward */
};

enum yk_transfer_kind {
    YK_TRANSFER_ALL_GATHER,
    YK_TRANSFER_REDUCE_SCATTER,
    YK_TRANSFER_ALL_REDUCE,
};

/*
 * The step of a plan with L layers is divided into 2L + 3 slots. A plan assigns communication to
 * slots:
 *
 *   slot i         forward of layer i
 *   slot L         between forward and backward; no layer computes
 *   slot 2L − i    backward of layer i
 *   slot 2L + 1    after backward; no layer computes
 *   slot 2L + 2    before the forward of the next step; no layer computes
 *
 * A transfer is a collective on some blocks of a layer. A block is a part of the layer's parameters
 * or of its gradient. The collective does not start before slot `slot` begins. A gather between the
 * forward and the backward of its layer is for this backward; any other gather is for the next
 * forward of its layer. Weights that several layers share belong to the first of these layers.
 */
struct yk_plan_transfer {
    enum yk_transfer_kind kind;
    int32_t layer;
    int32_t first_block;
    int32_t block_count;
    int32_t slot;
};

/* The decisions of a search. Each comment says what a plan has if the search does not make this
 * decision. */
enum yk_plan_decision {
    YK_DECIDE_SAMPLE_SHARES = 1 << 0,   /* as even as possible */
    YK_DECIDE_SHARD_FRACTIONS = 1 << 1, /* equal */
    YK_DECIDE_STRATEGIES = 1 << 2,      /* fully-sharded */
    YK_DECIDE_BLOCK_SIZE = 1 << 3,      /* 25 MiB */
    YK_DECIDE_TRANSFER_ORDER = 1 << 4,  /* gathers one layer ahead */
    YK_DECIDE_PLACEMENT = 1 << 5,       /* one group of all devices */
    YK_DECIDE_RECOMPUTATION = 1 << 6,   /* as in the workload */
    YK_DECIDE_ALL = (1 << 7) - 1,
};

enum {
    YK_PLAN_DECISION_COUNT = 7
};

/*
 * Restrictions of the search that found the plan. The workload and `clip` are also restrictions,
 * but they are members of struct yk_plan. A plan is compared only with plans that have the same
 * restrictions. If all members are zero, there were no restrictions, or the restrictions are
 * unknown.
 */
struct yk_plan_restrictions {
    double memory_bytes;    /* memory limit of every device; 0 means: a device may use all of its
                               memory */
    int32_t micro_batches;  /* 0 means: decided by the search */
    bool recompute;         /* all blocks are recomputed */
    uint32_t undecided;     /* bits of enum yk_plan_decision that the search did not decide */
    bool one_strategy;      /* every layer has `strategy` */
    bool random_strategies; /* every layer has a random strategy */
    enum yk_sharding_strategy strategy;
    double slowdown; /* slowdown factor of computation during communication; 0 means: the measured
                        factors are used */
    const bool *excluded_devices; /* (device_count) devices that were excluded; may be NULL */
    int32_t device_count;
};

struct yk_plan {
    const char *model_source;    /* name of a built-in model or path of a config.json */
    const char *cluster_source;  /* cluster description or path of a cluster file */
    const char *profile_source;  /* NULL means: no profile */
    struct yk_workload workload; /* workload of the whole batch; its member `recompute` is unused */
    struct yk_plan_restrictions options;

    int32_t rank_count;
    int32_t group_count;
    int32_t layer_count;
    int32_t transfer_count; /* 0 means: gathers run `prefetch` layers ahead, and all other
                               collectives run as soon as possible */
    struct yk_plan_rank *ranks;
    struct yk_plan_group *groups;
    struct yk_plan_layer *layers;
    /* Sorted by slot; transfers of one slot are in the order of execution. Only plans with one
     * group and one micro-batch have transfers. */
    struct yk_plan_transfer *transfers;

    int32_t micro_batches;
    enum yk_pipeline_schedule_kind pipeline;
    bool no_sync;     /* gradients are accumulated and reduced once, after the last micro-batch */
    bool clip;        /* gradients are clipped by their global norm */
    int32_t prefetch; /* if there are no transfers: how many layers gathers run ahead, at least 1 */
    double block_bytes;  /* gathers and reduce-scatters are split into blocks of at most this size;
                            blocks are larger if a layer would have more than YK_PLAN_MAX_BLOCKS */
    double bucket_bytes; /* all-reduces of adjacent layers are fused up to this size */
};

/* Returns "replicated", "sharded-state", "kept" or "fully-sharded". */
const char *yk_plan_strategy_name(enum yk_sharding_strategy strategy);

/* Returns the name of a decision: "shares" … "recomputation". `bit` is the index of its bit in enum
 * yk_plan_decision. */
const char *yk_plan_decision_name(int32_t bit);

/* Returns "gpipe", "1f1b" or "nested". */
const char *yk_plan_pipeline_schedule_name(enum yk_pipeline_schedule_kind pipeline);

/* Returns "all_gather", "reduce_scatter" or "all_reduce". */
const char *yk_plan_transfer_kind_name(enum yk_transfer_kind kind);

/* Creates a plan with these numbers of ranks, groups and layers. Everything else in it is zero.
 * Every group has space for `ranks` members. */
yk_status yk_plan_create(struct yk_arena *arena, int32_t ranks, int32_t groups, int32_t layers,
                         struct yk_plan **out) YK_MUST_USE;

/* Creates a deep copy that the caller may modify. */
yk_status yk_plan_copy(const struct yk_plan *plan, struct yk_arena *arena,
                       struct yk_plan **out) YK_MUST_USE;

/*
 * Fails if the plan is invalid for `model`. `model` must be the model for the whole batch. Among
 * others, checks these rules:
 *
 *   - The shares of a group add up to the batch, and its shard fractions add up to 1.
 *   - All ranks and groups that are used exist. Memory limits and block sizes are positive.
 *   - Layers that share weights have the same group and the same strategy.
 *   - With several groups, the shares of a group of several members are multiples of the number of
 *     micro-batches, unless the members alternate.
 *   - Transfers match the strategies of their layers.
 */
yk_status yk_plan_check(const struct yk_plan *plan, const struct yk_model *model) YK_MUST_USE;

/* Divides `batch` samples in proportion to `speeds` with the largest-remainder method. Every rank
 * with a speed above 0 gets at least one sample, even if the sum is then larger than `batch`. Ranks
 * with speed 0 get no samples. At least one speed must be above 0. */
void yk_plan_divide_batch(const double *speeds, int32_t count, int64_t batch, int64_t *out);

/* Returns the number of samples that a rank computes per step: the largest of its shares. (Its
 * share is 0 in groups for which it only stores state.) */
int64_t yk_plan_largest_share_of_rank(const struct yk_plan *plan, int32_t rank);

/* Returns true if the members of some group alternate; the comment at the top explains this. */
bool yk_plan_has_alternating_members(const struct yk_plan *plan);

/* Returns the number of samples that a member of a group computes in a micro-batch. Sets `*first`
 * to the index that the first of these samples has in the micro-batch. */
int64_t yk_plan_member_sample_range(const struct yk_plan *plan, int32_t group, int32_t member,
                                    int32_t micro_batch, int64_t *first);

/* Computes the sample ranges of all members of a group in a micro-batch: member i computes samples
 * begins[i] to begins[i + 1] - 1. `begins` has (members + 1) elements. */
void yk_plan_group_sample_ranges(const struct yk_plan *plan, int32_t group, int32_t micro_batch,
                                 int64_t *begins);

enum {
    YK_PLAN_MAX_BLOCKS = 8, /* maximum number of blocks of a layer; more would only add latency */
};

/* Gives a layer that shares weights the group and strategy of the layer that owns the weights. */
void yk_plan_unify_tied_layers(struct yk_plan *plan, const struct yk_model *model);

int32_t yk_plan_count_group_layers(const struct yk_plan *plan, int32_t group);

bool yk_plan_layers_are_equal(const struct yk_plan_layer *a, const struct yk_plan_layer *b);

/* Returns the number of blocks into which a layer's parameters and its gradient are split. It
 * depends on the number of bytes that are gathered. With YK_SHARDING_SHARDED_STATE, only trained
 * parameters are gathered. Returns 0 if the layer has no weights of its own. */
int32_t yk_plan_layer_block_count(const struct yk_plan *plan, const struct yk_model *model,
                                  int32_t layer);

/* Returns true if all ranks must wait for each other before the update. They then exchange the
 * gradient norm, or whether a gradient has overflowed. */
static inline bool yk_plan_has_update_barrier(const struct yk_plan *plan)
{
    return plan->clip || plan->workload.precision == YK_PRECISION_FP16;
}

static inline int32_t yk_plan_slot_count(const struct yk_plan *plan)
{
    return 2 * plan->layer_count + 3;
}

/* Returns the strategy of a layer, or YK_SHARDING_REPLICATED if the layer's group has only one
 * member. */
static inline enum yk_sharding_strategy yk_plan_effective_strategy(const struct yk_plan *plan,
                                                                   int32_t layer)
{
    const struct yk_plan_layer *planned = &plan->layers[layer];
    return plan->groups[planned->group].member_count > 1 ? planned->strategy
                                                         : YK_SHARDING_REPLICATED;
}

#endif
