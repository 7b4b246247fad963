/*
 * Program: a plan compiled. For each rank an ordered list of ops on three lanes (compute, comm,
 * copy) with the ops each one waits for. The simulator predicts it, the trainer runs the same.
 *
 * The room:
 *   program, op   the record, compiling, names of ops, when each took its lane
 *   layout        what layers are as messages: blocks, buckets, bytes
 *   compile/      sequence: all ops of a round in one order, by the plan's slots or its pipeline
 *                 schedule; waits: what each op needs; memory_waits: what memory needs
 *   memory/       lifetimes of buffers, the count of them, the sweep that finds their peak
 *   facts, rank_view   what a plan says and where a rank's ops are, looked up
 *   check/        the rules of a valid program, from the plan alone: form, match, cycle, precedence
 *   shuffle       other valid programs of the same plan
 *   text          a program as a table
 *
 * Lanes. The ops of one lane of one rank run one after the other, in the order of the list; lanes
 * run side by side. An op starts when the op before it on its lane and all ops it waits for have
 * ended, and, if it communicates, when its matching ops on all other ranks can start, too.
 *
 * Steps. The list is run again and again. Communication that hides behind the neighbouring step is
 * in the list all the same: an op of step +1 prepares the step after (an all_gather of
 * updated parameters), one of step −1 finishes the step before (a late reduce_scatter). The first
 * time round, ops of step −1 have nothing to do and those of step +1 are run ahead once; after the
 * last time it is the other way round. A wait may look one round back.
 *
 * A program owns what it points to, except plan, sizes and cluster, which must outlive it. It does
 * not know how long anything takes. It never changes once made.
 */
#ifndef YK_PROGRAM_PROGRAM_H
#define YK_PROGRAM_PROGRAM_H

#include "base/arena.h"
#include "base/deadline.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "cost/device_facts.h"
#include "model/model.h"
#include "plan/plan.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_op_kind {
    YK_OP_LOAD,           /* copy: the samples of a micro-batch */
    YK_OP_FORWARD,        /* compute: a layer, a micro-batch */
    YK_OP_RECOMPUTE,      /* compute: forward again, for what it did not save */
    YK_OP_BACKWARD,       /* compute */
    YK_OP_ALL_GATHER,     /* comm, group: blocks of a layer's parameters */
    YK_OP_REDUCE_SCATTER, /* comm, group: reduce blocks of a layer's gradient, each rank keeps its
                             part */
    YK_OP_ALL_REDUCE,     /* comm, group: sum the gradients of a bucket on every rank */
    YK_OP_SEND,           /* comm, one peer: an activation or its gradient */
    YK_OP_RECV,           /* comm, one peer */
    YK_OP_AGREE,          /* comm, all ranks: norm, overflow */
    YK_OP_UPDATE,         /* compute: the optimizer, on what this rank keeps of a layer */
    YK_OP_RELEASE,        /* compute, takes no time: drops a layer's gathered parameters */
    YK_OP_KIND_COUNT,
};

enum {
    YK_NO_MATCH = -1,
    YK_AGREE_BYTES = 8, /* a norm or a flag */
};

struct yk_op {
    enum yk_op_kind kind;
    enum yk_lane lane;
    int32_t layer;       /* YK_LAYER_NONE for load and agree; of a reduction, the last of its bucket
                            to have its gradient; of send and recv, the one whose output, or whose
                            output's gradient, travels */
    int32_t micro_batch; /* 0 for update and agree */
    bool backward;       /* gather, release: for the backward pass; send, recv: a gradient */
    int8_t step;         /* −1, 0 or +1, see above */
    int32_t first_block; /* gather, scatter */
    int32_t block_count;
    int32_t bucket;  /* reduce: number in the program's buckets; else −1 */
    int32_t group;   /* gather, scatter, reduce: the plan's; else −1 */
    int32_t peer;    /* send, recv: the other rank; else −1 */
    int32_t match;   /* number that the ops of one communication have on all its ranks; YK_NO_MATCH
                        for ops that do not communicate */
    int64_t samples; /* load, forward, recompute, backward, send, recv; may be 0 */
    double bytes;    /* comm: of the whole message (all parts of it together); else 0 */
    int32_t first_wait; /* in the rank's waits */
    int32_t wait_count;
};

struct yk_op_wait {
    int32_t op;  /* of the same rank */
    int32_t lag; /* 0: of this round; 1: of the round before */
};

/* Ranks that do the same have one list: the pointers are equal then. */
struct yk_program_rank {
    struct yk_op *ops;
    struct yk_op_wait *waits;
    int32_t op_count;
    int32_t wait_count;
};

/* Replicated layers of one group whose gradients are reduced together. */
struct yk_bucket {
    int32_t group;
    int32_t *layers; /* in the order of backward */
    int32_t layer_count;
    double bytes;
};

/* What a layer's parameters and gradients are as messages. */
struct yk_program_layer {
    int32_t leader;        /* the layer whose weights it uses, itself for most */
    int32_t last_user;     /* of a leader: the last layer that uses its weights, itself for most */
    int32_t block_count;   /* of what travels; at least 1 where anything does */
    int32_t joined;        /* blocks of the plan that are one of these */
    double weight_bytes;   /* gathered, all blocks; 0 when it has no weights of its own */
    double gradient_bytes; /* scattered or reduced, all blocks; 0 when nothing is trained */
    double optimizer_bytes;
};

struct yk_program {
    struct yk_arena *arena;
    const struct yk_plan *plan;
    const struct yk_cluster *cluster;
    const struct yk_device_facts *facts; /* (devices) of the cluster, or NULL */
    struct yk_model_sizes *sizes;
    int32_t rank_count;
    int32_t bucket_count;
    int32_t match_count;
    struct yk_program_rank *ranks;
    struct yk_bucket *buckets;
    struct yk_program_layer *layers; /* (L) */
    /* What is computed of the program ends with YK_ERROR_STOPPED after it; NULL: never. */
    const struct yk_deadline *deadline;
};

/*
 * Compiles a plan that yk_plan_check() has passed. Where memory could overflow because one lane
 * runs ahead of another, waits are added between them; whether all fits then, yk_program_check()
 * says.
 */
yk_status yk_program_compile(const struct yk_plan *plan, const struct yk_cluster *cluster,
                             struct yk_model_sizes *sizes, struct yk_program **out) YK_MUST_USE;

/* Likewise with what was measured about the devices, and by a deadline; both may be NULL and are
 * kept in the program. */
yk_status yk_program_compile_by(const struct yk_plan *plan, const struct yk_cluster *cluster,
                                const struct yk_device_facts *facts, struct yk_model_sizes *sizes,
                                const struct yk_deadline *deadline,
                                struct yk_program **out) YK_MUST_USE;
void yk_program_destroy(struct yk_program *program);

/* Another valid program for the same plan: ops change places wherever every rule of program/check
 * still holds. One seed gives one program. */
yk_status yk_program_shuffle(const struct yk_program *program, uint64_t seed,
                             struct yk_program **out) YK_MUST_USE;

/* For each rank its ops in order, a column for each lane, with what each one waits for. */
yk_status yk_program_text_write(const struct yk_program *program, struct yk_text *out) YK_MUST_USE;

/* "forward", "all_gather" … */
const char *yk_op_kind_name(enum yk_op_kind kind);

/* "forward layer 3 #1": kind, layer, micro-batch where there are several, blocks where not all. */
void yk_op_describe(const struct yk_program *program, const struct yk_op *op, struct yk_text *out);

/*
 * When each op of one round took its lane, (ops) each, from when it began and ended. An op takes
 * its lane from when it could begin: when the one before it on its lane was over, and all that it
 * waits for on other lanes. So pauses and the time that lanes take to wake each other up belong to
 * the op after them. Of the first on a lane that waits for nothing the pause before it is not
 * known, and left out. A release takes no time: what lies before it belongs to the op that it
 * follows.
 */
void yk_op_spans_find(const struct yk_program_rank *list, const double *begin_s,
                      const double *end_s, double *from_s, double *until_s);

/* The bytes of `count` of the `blocks` that `bytes` are cut into. */
static inline double yk_block_bytes(double bytes, int32_t blocks, int32_t count)
{
    return blocks > 0 ? bytes * count / blocks : 0;
}

#endif
