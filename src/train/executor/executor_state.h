/*
 * Executor state: the private state that the files of this folder share.
 *
 * Steps and rounds are numbered from 0, and their numbers never repeat. The data of a step or of a
 * round is stored in a slot. The index of the slot is the number of the step or round modulo the
 * number of slots.
 *
 * Steps that overlap form a sequence, which ends with yk_executor_finish_steps(). A sequence has an
 * additional round before its first step and another after its last step. The round before contains
 * only ops of the first step, and the round after contains only ops of the last step.
 */
#ifndef YK_TRAIN_EXECUTOR_EXECUTOR_STATE_H
#define YK_TRAIN_EXECUTOR_EXECUTOR_STATE_H

#include "train/executor/buffers.h"
#include "train/executor/collectives.h"
#include "train/executor/device_batches.h"
#include "train/executor/executor.h"

#include <stdatomic.h>

enum {
    YK_EXECUTOR_STEP_SLOTS = YK_DEVICE_BATCHES_STEP_SLOTS,
    YK_EXECUTOR_ROUND_SLOTS = 4, /* one more than the largest possible result of
                                    yk_executor_max_steps_in_flight() */
    /* Indices in a step's report, which is an array of numbers. From
     * YK_STEP_REPORT_GRADIENT_SQUARES on it contains the sum of squares of each layer's gradients,
     * and then the compute seconds of each rank. */
    YK_STEP_REPORT_LOSS = 0,
    YK_STEP_REPORT_STOP = 1,
    YK_STEP_REPORT_HITS = 2, /* two numbers; only in evaluations of classifiers */
    YK_STEP_REPORT_GRADIENT_SQUARES = 4,
    /* Indices in the part of the report that the host writes. */
    YK_STEP_HOST_REPORT_STOP = 0,
    YK_STEP_HOST_REPORT_COMPUTE_S = 1,
    YK_STEP_HOST_REPORT_COUNT = 2,
};

struct yk_op_events {
    struct yk_backend_event *started;
    struct yk_backend_event *ended;
    int64_t round; /* the last round that recorded the events; −1 means: no round did */
    bool works;    /* the op did work in that round */
};

/* A step in flight. */
struct yk_step_slot {
    struct yk_executor *executor;
    struct yk_step_options step;
    bool evaluating;
    int64_t round;  /* the step's own round */
    double began_s; /* when the step began, if it is the first of a sequence. NAN for a later step,
                       which begins when the previous step is done */
    double *report; /* (report_count) on the device: first the values of this rank, later the sums
                       over all ranks */
    double *read;   /* (report_count) copy of `report` on the host */
    double *host_report; /* (YK_STEP_HOST_REPORT_COUNT) on the host: the part of the report that the
                            host writes */
    struct yk_gradient_norm_and_factor *gradient_norm; /* on the device */
    struct yk_gradient_norm_and_factor
        *gradient_norm_read;            /* copy of `gradient_norm` on the host */
    struct yk_comm_all_reduce exchange; /* all-reduce of the report */
    struct yk_backend_event *reported;  /* event: the report is on the host */
    struct yk_backend_event *done;      /* event: the computation of the round has ended */
};

/* A message between groups of ranks: the crossing to which it belongs, and the samples [first, end)
 * that it carries. Samples are numbered as in the micro-batch of the plan. */
struct yk_crossing_message {
    int32_t crossing;
    int64_t first;
    int64_t end;
    int64_t from; /* number of the sample at the beginning of this rank's buffer */
};

/* The argument of the functions that a lane calls on the host. */
struct yk_op_callback_argument {
    struct yk_executor *executor;
    enum yk_lane lane;
    int32_t op;
};

/* Data for slowing down an op, see yk_executor_options.slowdown. */
struct yk_op_slowdown {
    struct yk_executor *executor;
    double started_s;
};

struct yk_executor {
    struct yk_arena *arena;
    const struct yk_program *program;
    const struct yk_op_list *list; /* the ops of this rank */
    const struct yk_program_facts *facts;
    struct yk_op_index *index;
    struct yk_parameter_store *store;
    const struct yk_optimizer_options *optimizer;
    const struct yk_backend *backend;
    struct yk_executor_options options;
    int32_t rank;
    int32_t ranks;
    struct yk_backend_lane *lanes[YK_LANE_COUNT];
    bool owns_comm_lane;
    bool is_accelerator; /* lanes run on a device of their own and never wait for the host */
    struct yk_op_events *events[YK_EXECUTOR_ROUND_SLOTS]; /* (ops) each */
    struct yk_op_callback_argument *callbacks;            /* (ops) */
    const char **names; /* (ops) for profilers; NULL if the backend has no profiler ranges */
    struct yk_op_slowdown *slowdowns[YK_EXECUTOR_ROUND_SLOTS]; /* (ops) each */
    struct yk_backend_event *reduced; /* event: all gradients are reduced */
    struct yk_backend_event *summed;  /* event: the squares of all gradients are summed */
    struct yk_executor_buffers buffers;
    struct yk_collectives collectives;
    int32_t *first_wait; /* (ops + 1) index of the first wait of each op in buffers.waits */
    bool *memory_added;  /* (ops) true: the op adds to the gradient of the encoder's output; false:
                            it overwrites that gradient */
    bool *is_first; /* (ops) the op is the first forward pass of its micro-batch on this rank, or
                       the only load of the micro-batch that copies tokens */
    struct yk_crossing_message *messages;                         /* (ops) */
    struct yk_comm_send_recv *transfers[YK_EXECUTOR_ROUND_SLOTS]; /* (ops) each */
    int32_t *input_crossings; /* (layers, 2) the crossings of a layer's input and of its memory (the
                                 encoder's output); −1 means: none */
    int32_t *first_reader; /* (crossings, micro-batches) first op of this rank that reads the output
                              of the crossing; −1 means: none */
    bool barrier;          /* updates wait until all ranks know the gradient norm */
    bool late_updates;     /* an update may run in the round after its step's own round */

    void *memory;
    size_t bytes;
    char *buffer_memory; /* the part of `memory` to which the offsets of the buffers refer */
    struct yk_device_batches batches;
    double *discarded_loss; /* recomputation adds its loss here */
    void *host;
    struct yk_step_slot slots[YK_EXECUTOR_STEP_SLOTS];
    int32_t report_count; /* number of elements of a report */

    atomic_int_fast64_t enqueued; /* number of enqueued ops, over all rounds and lanes */

    int64_t rounds;        /* number of rounds enqueued */
    int64_t begun;         /* number of steps begun */
    int64_t ended;         /* number of steps ended */
    int64_t sequence_step; /* first step of the current sequence; −1 means: no sequence is open */
    double last_done_s;    /* when the step that ended last was done */
    int64_t timed;         /* round of the step that ended last */
    double last_began_s;   /* when the step that ended last began */
    atomic_bool stop;
    _Atomic double computed_s; /* compute time of this rank in the step that ended last */
};

static inline struct yk_step_slot *yk_executor_get_step_slot(struct yk_executor *executor,
                                                             int64_t step)
{
    return &executor->slots[step % YK_EXECUTOR_STEP_SLOTS];
}

/* Returns the number of samples of `slice` that this rank's group computes for a layer. Sets
 * `*begin` to the index of the first of these samples in the slice. */
int64_t yk_executor_route_layer_sample_count(const struct yk_executor *executor,
                                             const struct yk_rank_micro_batch *slice, int32_t layer,
                                             int32_t micro_batch, int64_t *begin);

/* Sets the addresses at which a pass reads its inputs and writes their gradients. Copies outputs
 * that this rank computed as a member of another group. */
void yk_executor_route_set_pass_inputs(struct yk_executor *executor, int32_t number,
                                       const struct yk_rank_micro_batch *slice,
                                       struct yk_layer_pass *pass);

/* Sums the gradients of an output from all groups that read the output. Must run before the
 * backward pass of the layer that computes the output. */
void yk_executor_route_sum_output_gradients(struct yk_executor *executor, int32_t number,
                                            const struct yk_rank_micro_batch *slice);

/* Enqueues a message between groups on the comm lane, in the current round. */
void yk_executor_route_enqueue_message(struct yk_executor *executor, int32_t number,
                                       const struct yk_rank_micro_batch *slice);

/* Finds the crossings and messages of all ops. Called once. */
yk_status yk_executor_find_routes(struct yk_executor *executor) YK_MUST_USE;

/* Returns the compute time of this rank in a round whose computation is done. */
double yk_executor_timeline_round_compute_s(const struct yk_executor *executor, int64_t round);

/* Enqueues a round whose own step is `step`. An op of the round may belong to the previous or the
 * next step. Only ops that belong to the steps from `first` to `last` do work. */
void yk_executor_enqueue_round(struct yk_executor *executor, int64_t step, int64_t first,
                               int64_t last);

/* Enqueues the work that copies the result of a step to the host. */
void yk_executor_enqueue_step_report(struct yk_executor *executor, int64_t step);

#endif
