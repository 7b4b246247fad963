/*
 * Executor state: the private state that the files of this folder share.
 *
 * Steps and rounds are numbered from 0 and their numbers never repeat. The data of a step or round
 * is stored in a slot, at its number modulo the number of slots.
 *
 * Steps that overlap form a sequence, which ends with yk_executor_finish_steps(). The first and the
 * last round of a sequence contain only ops of its first and its last step.
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
    YK_EXECUTOR_ROUND_SLOTS = 4, /* one more than can be enqueued before the first is reported */
    /* Indices in a step's report. The sums of squares of each layer's gradients start at
     * YK_STEP_REPORT_SUMS; the compute seconds of each rank follow them. */
    YK_STEP_REPORT_LOSS = 0,
    YK_STEP_REPORT_STOP = 1,
    YK_STEP_REPORT_SUMS = 2,
    /* Indices in the part of a report that the host writes. */
    YK_STEP_HOST_REPORT_STOP = 0,
    YK_STEP_HOST_REPORT_SECONDS = 1,
    YK_STEP_HOST_REPORT_COUNT = 2,
};

struct yk_op_events {
    struct yk_backend_event *started;
    struct yk_backend_event *ended;
    int64_t round; /* round that recorded the events last; −1: none */
    bool works;    /* the op did work in that round */
};

/* A step in flight. */
struct yk_step_slot {
    struct yk_executor *executor;
    struct yk_step_options step;
    bool evaluating;
    int64_t round;  /* the step's own round */
    double began_s; /* for the first step of a sequence; NAN: when the previous step was done */
    double *report; /* (report_count) on the device: this rank's values, then all ranks' sums */
    double *read;   /* (report_count) copy of `report` on the host */
    double *host_report;                         /* (YK_STEP_HOST_REPORT_COUNT) on the host */
    struct yk_gradient_norm *gradient_norm;      /* on the device */
    struct yk_gradient_norm *gradient_norm_read; /* copy on the host */
    struct yk_comm_all_reduce exchange;          /* of the report */
    struct yk_backend_event *reported;           /* the report is on the host */
    struct yk_backend_event *done;               /* the computation of the round has ended */
};

/* A message between groups of ranks: the crossing it belongs to and the samples it carries. Samples
 * are numbered as in the plan's micro-batch. */
struct yk_op_message {
    int32_t crossing;
    int64_t first;
    int64_t end;
    int64_t from; /* the first sample in this rank's buffer */
};

/* The argument of functions that a lane calls on the host. */
struct yk_op_callback {
    struct yk_executor *executor;
    enum yk_lane lane;
    int32_t op;
};

/* Slows an op down, see yk_executor_options.slowdown. */
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
    const struct yk_optimizer *optimizer;
    const struct yk_backend *backend;
    struct yk_executor_options options;
    int32_t rank;
    int32_t ranks;
    struct yk_backend_lane *lanes[YK_LANE_COUNT];
    bool owns_comm_lane;
    bool is_accelerator; /* lanes run on a device of their own and never wait for the host */
    struct yk_op_events *events[YK_EXECUTOR_ROUND_SLOTS]; /* (ops) each */
    struct yk_op_callback *callbacks;                     /* (ops) */
    const char **names; /* (ops) for profilers; NULL if the backend has no profiler ranges */
    struct yk_op_slowdown *slowdowns[YK_EXECUTOR_ROUND_SLOTS]; /* (ops) each */
    struct yk_backend_event *reduced;                          /* all gradients are reduced */
    struct yk_backend_event *summed; /* the squares of all gradients are summed */
    struct yk_executor_buffers buffers;
    struct yk_collectives collectives;
    int32_t *first_wait; /* (ops + 1) first entry of each op in buffers.waits */
    bool *memory_added;  /* (ops) the op adds to the gradient of the encoder's output; else it
                            overwrites it */
    bool *is_first; /* (ops) the first forward pass of a micro-batch on this rank, and its first
                       load */
    struct yk_op_message *messages;                               /* (ops) */
    struct yk_comm_send_recv *transfers[YK_EXECUTOR_ROUND_SLOTS]; /* (ops) each */
    int32_t *input_crossings; /* (L, 2) crossings of a layer's input and memory; −1: none */
    int32_t *first_reader; /* (crossings, M) first op here that reads the crossing's output; −1 */
    bool barrier;          /* updates wait until all ranks know the gradient norm */
    bool late_updates;     /* an update may run in the round after its step's own */

    void *memory;
    size_t bytes;
    char *buffer_memory; /* the part of `memory` that the buffers' offsets refer to */
    struct yk_device_batches batches;
    double *discarded_loss; /* recomputation adds its loss here */
    void *host;
    struct yk_step_slot slots[YK_EXECUTOR_STEP_SLOTS];
    int32_t report_count; /* numbers in a report */

    struct yk_op_lanes lane_ops;
    atomic_int_fast64_t enqueued; /* ops enqueued, over all rounds and lanes */

    int64_t rounds;        /* rounds enqueued */
    int64_t begun;         /* steps begun */
    int64_t ended;         /* steps ended */
    int64_t sequence_step; /* first step of the current sequence; −1: no sequence is open */
    double last_done_s;    /* when the last step that ended was done */
    int64_t timed;         /* round of the last step that ended */
    double last_began_s;   /* when that step began */
    atomic_bool stop;
    _Atomic double computed_s; /* compute time of this rank in the last step that ended */
};

static inline struct yk_step_slot *yk_executor_slot(struct yk_executor *executor, int64_t step)
{
    return &executor->slots[step % YK_EXECUTOR_STEP_SLOTS];
}

/* The number of samples of `slice` that this rank's group computes for a layer. `*begin` is the
 * first of them in the slice. */
int64_t yk_executor_route_rows(const struct yk_executor *executor,
                               const struct yk_batch_slice *slice, int32_t layer,
                               int32_t micro_batch, int64_t *begin);

/* Sets where a pass reads its inputs and writes their gradients. Copies outputs that another group
 * of this rank computed. */
void yk_executor_route_input(struct yk_executor *executor, int32_t number,
                             const struct yk_batch_slice *slice, struct yk_layer_pass *pass);

/* Sums the gradients of an output from all groups that read it, before its layer's backward. */
void yk_executor_route_gradient(struct yk_executor *executor, int32_t number,
                                const struct yk_batch_slice *slice);

/* Enqueues a message between groups on the comm lane, in the current round. */
void yk_executor_route_message(struct yk_executor *executor, int32_t number,
                               const struct yk_batch_slice *slice);

/* Finds crossings and messages, once. */
yk_status yk_executor_find_routes(struct yk_executor *executor) YK_MUST_USE;

/* The compute time of this rank in a round whose computation is done. */
double yk_executor_timeline_compute_s(const struct yk_executor *executor, int64_t round);

/* Enqueues a round whose own step is `step`. Only ops of the steps `first` to `last` do work. */
void yk_executor_enqueue_round(struct yk_executor *executor, int64_t step, int64_t first,
                               int64_t last);

/* Enqueues what brings a step's result to the host. */
void yk_executor_enqueue_report(struct yk_executor *executor, int64_t step);

#endif
