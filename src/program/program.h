/*
 * Program: a compiled plan. Each rank has a list of ops on three lanes (compute, comm, copy), with
 * the waits of each op. The simulator predicts how long the program takes; the trainer executes it.
 *
 * Files of this folder:
 *   program           the program and its compilation
 *   op                names and time spans of ops
 *   message_layout    blocks, buckets and bytes of the messages of each layer
 *   compile/          step_ops: all ops of a step in one order, from the plan's slots or from its
 *                     pipeline schedule; op_waits, memory_waits: the waits for data and for memory
 *   memory/           lifetimes of buffers, the memory count, the sweep that finds the peak
 *   program_facts     properties of the plan and the model
 *   op_index          finds the ops of a rank
 *   check/            verifies a program against its plan
 *   shuffle           creates another valid program for the same plan
 *   text              prints a program as a table
 *
 * Lanes. The ops of a lane run in the order of the list; the lanes run concurrently. An op starts
 * when the preceding op of its lane has ended and all ops for which it waits have ended. A
 * communication op also waits until the matching ops of all other ranks that take part can start.
 *
 * Iterations. The list is executed repeatedly. One execution is an iteration; in messages for users
 * it is called a round. Communication may overlap with the previous or the next training step: an
 * op with step +1 prepares the next step (for example the all_gather of updated parameters), and an
 * op with step −1 completes the previous step (for example a delayed reduce_scatter). Before the
 * first iteration, the ops with step +1 run once. In the first iteration, the ops with step −1 do
 * nothing. In the last iteration, the ops with step +1 do nothing. After the last iteration, the
 * ops with step −1 run once more. A wait may refer to the previous iteration.
 *
 * A program owns everything to which it points, except the plan, cluster, measurements, model cache
 * and deadline, which must outlive the program. It contains no times. It is immutable after
 * compilation. In the comments below, L is the number of layers.
 */
#ifndef YK_PROGRAM_PROGRAM_H
#define YK_PROGRAM_PROGRAM_H

#include "base/arena.h"
#include "base/deadline.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "cost/device_measurements.h"
#include "model/model.h"
#include "plan/plan.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_op_kind {
    YK_OP_LOAD,       /* copy lane: loads the samples of a micro-batch */
    YK_OP_FORWARD,    /* compute lane: one layer, one micro-batch */
    YK_OP_RECOMPUTE,  /* compute lane: repeats forward, to restore activations for backward */
    YK_OP_BACKWARD,   /* compute lane: one layer, one micro-batch */
    YK_OP_ALL_GATHER, /* comm lane, all ranks of a group: gathers blocks of a layer's parameters */
    YK_OP_REDUCE_SCATTER, /* comm lane, all ranks of a group: sums blocks of a layer's gradient;
                             each rank stores its part of the sum */
    YK_OP_ALL_REDUCE, /* comm lane, all ranks of a group: sums the gradients of a bucket; each rank
                         stores the whole sum */
    YK_OP_SEND,       /* comm lane, one other rank: sends an activation or its gradient */
    YK_OP_RECV,       /* comm lane, one other rank: receives an activation or its gradient */
    YK_OP_AGREE,      /* comm lane, all ranks: exchanges the gradient norm and whether a gradient
                         overflowed */
    YK_OP_UPDATE,     /* compute lane: runs the optimizer on this rank's part of a layer */
    YK_OP_RELEASE,    /* compute lane: frees a layer's gathered parameters; takes no time */
    YK_OP_KIND_COUNT,
};

enum {
    YK_OP_NO_MATCH = -1,
    YK_OP_AGREE_BYTES = 8, /* size of an agree message */
};

struct yk_op {
    enum yk_op_kind kind;
    enum yk_lane lane;
    int32_t layer; /* load, agree: YK_LAYER_NONE. all_reduce: the last layer of the bucket in the
                      order of the backward pass. send, recv: the layer whose output is sent, or the
                      gradient of its output */
    int32_t micro_batch; /* update, agree: 0 */
    bool backward; /* all_gather, release: the op is for the backward pass; send, recv: the message
                      is a gradient */
    int8_t step; /* −1, 0 or +1: the op belongs to the previous, this or the next training step */
    int32_t first_block; /* all_gather, reduce_scatter */
    int32_t block_count;
    int32_t bucket;   /* all_reduce: index in the program's buckets; otherwise −1 */
    int32_t group;    /* all_gather, reduce_scatter, all_reduce: the plan's group; otherwise −1 */
    int32_t peer;     /* send, recv: the other rank; otherwise −1 */
    int32_t crossing; /* send, recv: index in the crossings (program_facts.h); otherwise −1 */
    int32_t match;    /* number of the message; the ops of a message on all its ranks have the same
                         number. YK_OP_NO_MATCH means: not a communication op */
    int64_t samples;  /* number of samples of a load, pass, send or recv; may be 0 */
    double bytes;     /* comm lane: size of the whole message; otherwise 0 */
    int32_t first_wait; /* index in the rank's waits */
    int32_t wait_count;
};

struct yk_op_wait {
    int32_t op;  /* an op of the same rank */
    int32_t lag; /* 0 means: op of the same iteration; 1 means: op of the previous iteration */
};

/* The op list of a rank. Ranks with identical ops share their arrays: the pointers are equal. */
struct yk_op_list {
    struct yk_op *ops;
    struct yk_op_wait *waits;
    int32_t op_count;
    int32_t wait_count;
};

/* Replicated layers of one group whose gradients are summed with one all_reduce. */
struct yk_gradient_bucket {
    int32_t group;
    int32_t *layers; /* in the order of the backward pass */
    int32_t layer_count;
    double bytes;
};

/* The messages of a layer. */
struct yk_program_layer_messages {
    int32_t weights_owner; /* the layer that owns the weights that this layer uses; in most cases
                              this layer itself */
    int32_t last_user;     /* if this layer owns its weights: the last layer that uses them; in most
                              cases this layer itself */
    int32_t block_count; /* number of blocks of parameters and gradients; 0 means: the layer has no
                            blocks */
    int32_t plan_blocks; /* one block of the program joins this number of blocks of the plan */
    double weight_bytes; /* size of all blocks; 0 means: the layer has no weights of its own */
    double gradient_bytes; /* size of all blocks; 0 means: the layer is not trained */
    double optimizer_bytes;
};

struct yk_program {
    struct yk_arena *arena;
    const struct yk_plan *plan;
    const struct yk_cluster *cluster;
    const struct yk_device_measurements *measurements; /* (devices of the cluster) may be NULL */
    struct yk_model_cache *cache;
    int32_t rank_count;
    int32_t bucket_count;
    int32_t match_count;
    struct yk_op_list *ranks;
    struct yk_gradient_bucket *buckets;
    struct yk_program_layer_messages *layers; /* (L) */
    /* Functions that use the program fail with YK_ERROR_STOPPED after the deadline. NULL means: no
     * deadline. */
    const struct yk_deadline *deadline;
};

/* Compiles a plan. yk_plan_check() must have succeeded for the plan. Adds waits where memory could
 * overflow because one lane runs ahead of another. The program may still exceed the memory limits;
 * see yk_program_check(). */
yk_status yk_program_compile(const struct yk_plan *plan, const struct yk_cluster *cluster,
                             struct yk_model_cache *cache, struct yk_program **out) YK_MUST_USE;

/* Compiles a plan in the same way, with measurements of the devices and a deadline. Each of the two
 * may be NULL. */
yk_status yk_program_compile_with_deadline(const struct yk_plan *plan,
                                           const struct yk_cluster *cluster,
                                           const struct yk_device_measurements *measurements,
                                           struct yk_model_cache *cache,
                                           const struct yk_deadline *deadline,
                                           struct yk_program **out) YK_MUST_USE;
void yk_program_destroy(struct yk_program *program);

/* Returns the first rank that has the same op list as `rank`, often `rank` itself. */
int32_t yk_op_list_first_equal_rank(const struct yk_program *program, int32_t rank);

/* Verifies that a program can run and trains correctly; check/rule.h lists the rules. Fails with
 * YK_ERROR_INPUT if a rule is violated; the message contains the rule, the op and the device. Fails
 * with YK_ERROR_NO_FIT if memory does not suffice; the message contains the device and the missing
 * bytes. */
yk_status yk_program_check(const struct yk_program *program) YK_MUST_USE;

/* Creates another valid program for the same plan, with a random order of ops and random waits. The
 * result depends only on the seed. */
yk_status yk_program_shuffle(const struct yk_program *program, uint64_t seed,
                             struct yk_program **out) YK_MUST_USE;

/* Appends the op lists as tables with one column per lane and with the waits of each op. Ranks with
 * identical op lists share one table. */
yk_status yk_program_text_write(const struct yk_program *program, struct yk_text *out) YK_MUST_USE;

/* Returns the name of a kind: "forward", "all_gather" … */
const char *yk_op_kind_name(enum yk_op_kind kind);

/* Returns the lane that runs ops of this kind. */
enum yk_lane yk_op_kind_lane(enum yk_op_kind kind);

/* Returns true for forward, recompute and backward. */
bool yk_op_kind_is_pass(enum yk_op_kind kind);

/* The ops of each lane of an op list, in the order of the list. */
struct yk_op_lane_lists {
    int32_t *ops[YK_LANE_COUNT];
    int32_t count[YK_LANE_COUNT];
    int32_t *position; /* (ops) position of each op in its lane */
};

yk_status yk_op_lane_lists_make(const struct yk_op_list *list, struct yk_arena *arena,
                                struct yk_op_lane_lists *out) YK_MUST_USE;

/* Returns the number of ops of a lane that come before op `number` of the list. */
int32_t yk_op_lane_lists_count_before(const struct yk_op_lane_lists *lanes, enum yk_lane lane,
                                      int32_t number);

/* Appends a description such as "forward layer 3 #1": the kind and the layer, then the micro-batch
 * if there are several, then the blocks unless the op has all blocks of the layer. */
void yk_op_describe(const struct yk_program *program, const struct yk_op *op, struct yk_text *out);

/* Allocates the description of an op in the arena. */
yk_status yk_op_describe_in_arena(const struct yk_program *program, const struct yk_op *op,
                                  struct yk_arena *arena, const char **out) YK_MUST_USE;

/*
 * Computes the span of each op of one iteration from its measured begin and end. All arrays have
 * one element per op. A span starts when the op could have started, that is, when the preceding op
 * of its lane and all ops for which it waits had ended. So a launch delay belongs to the op that
 * was delayed. A span starts at the measured begin of the op if the op waits for an op of the
 * previous iteration, or if it is the first op of its lane and has no waits. The span of a release
 * is empty: unless the release waits for another lane, its time belongs to the preceding op.
 */
void yk_op_spans_compute(const struct yk_op_list *list, const double *begin_s, const double *end_s,
                         double *from_s, double *until_s);

#endif
