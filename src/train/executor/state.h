/*
 * The executor's insides: what its parts share.
 *
 * A round is one walk through the rank's list. Ops of a round are for its own step, for the one
 * before or for the one after; at the two ends of an unbroken row of steps a round has only those
 * of the other step. Steps and rounds are numbered from 0 and never again; what differs from one
 * to the next lies in slots, by number modulo how many there are.
 */
#ifndef YK_TRAIN_EXECUTOR_STATE_H
#define YK_TRAIN_EXECUTOR_STATE_H

#include "train/executor/buffers.h"
#include "train/executor/collectives.h"
#include "train/executor/device_batches.h"
#include "train/executor/executor.h"

#include <stdatomic.h>

enum {
    YK_EXECUTOR_STEPS = YK_DEVICE_BATCHES_STEPS,
    /* One more than are put before the first of them has been reported. */
    YK_EXECUTOR_ROUNDS = 4,
    /* Numbers of a report before the layers' sums of squares and the ranks' seconds. */
    YK_REPORT_LOSS = 0,
    YK_REPORT_STOP = 1,
    YK_REPORT_SUMS = 2,
    /* Numbers of what the host adds to a report. */
    YK_HOST_REPORT_STOP = 0,
    YK_HOST_REPORT_SECONDS = 1,
    YK_HOST_REPORT_COUNT = 2,
};

struct yk_op_events {
    struct yk_backend_event *started;
    struct yk_backend_event *ended;
    int64_t round; /* in which they were last recorded; −1: never */
    bool works;    /* the op had something to do then */
};

/* One step on its way. */
struct yk_step_slot {
    struct yk_executor *executor;
    struct yk_step step;
    bool evaluating;
    int64_t round;       /* its own */
    double began_s;      /* of the first in a row; else NAN: when the one before was done */
    double *report;      /* on the device: loss, sums … of this rank, then of all */
    double *read;        /* the same on the host */
    double *host_report; /* (YK_HOST_REPORT_COUNT) on the host */
    struct yk_gradient_norm *gradient_norm;
    struct yk_gradient_norm *gradient_norm_read;
    struct yk_comm_all_reduce exchange; /* of the report */
    struct yk_backend_event *reported;
    struct yk_backend_event *done; /* all computing of its round */
};

/* What a message between groups carries: which crossing, and whose samples on both sides. */
struct yk_op_message {
    int32_t crossing;
    int64_t first; /* of the samples, in the plan's micro-batch */
    int64_t end;
    int64_t from; /* the first that this rank has on its side, likewise */
};

/* The argument of functions that a lane calls. */
struct yk_op_callback {
    struct yk_executor *executor;
    enum yk_lane lane;
    int32_t op;
};

struct yk_op_slowdown {
    struct yk_executor *executor;
    double started_s;
};

struct yk_executor {
    struct yk_arena *arena;
    const struct yk_program *program;
    const struct yk_program_rank *list;
    const struct yk_facts *facts;
    struct yk_rank_view *view;
    struct yk_store *store;
    const struct yk_optimizer *optimizer;
    const struct yk_backend *backend;
    struct yk_executor_options options;
    int32_t rank;
    int32_t ranks;
    struct yk_backend_lane *lanes[YK_LANE_COUNT];
    bool owns_comm_lane;
    bool apart; /* the device is none of the host: nothing on its lanes waits for a call there */
    struct yk_op_events *events[YK_EXECUTOR_ROUNDS]; /* (ops) each */
    struct yk_op_callback *callbacks;                /* (ops) */
    const char **names; /* (ops) for profilers; NULL where the backend knows none */
    struct yk_op_slowdown *slowdowns[YK_EXECUTOR_ROUNDS]; /* (ops) each */
    struct yk_backend_event *reduced; /* all gradients, before the ranks agree */
    struct yk_backend_event *summed;  /* their squares */
    struct yk_buffers buffers;
    struct yk_collectives collectives;
    int32_t *first_wait; /* (ops + 1) in buffers.waits, sorted by op */
    bool *memory_added;  /* (ops) a backward that is not the first to send to what it looks at */
    bool *is_first;      /* (ops) the first pass of a micro-batch, and its first load */
    struct yk_op_message *messages;                        /* (ops) */
    struct yk_comm_message *transfers[YK_EXECUTOR_ROUNDS]; /* (ops) each */
    int32_t *crossing_of; /* (L, 2) of the input and the memory of a layer; −1: none */
    int32_t *first_taker; /* (crossings, M) ops that take an output made here; −1 */
    bool barrier;         /* updates wait for the verdict */
    bool late;            /* updates may be put off into the round after */

    void *memory;
    size_t bytes;
    char *buffer_memory; /* what buffers lie in */
    struct yk_device_batches batches;
    double *discarded_loss; /* where recomputation puts losses that were counted before */
    void *host;
    struct yk_step_slot slots[YK_EXECUTOR_STEPS];
    int32_t report_count; /* numbers of a report */

    int32_t *lane_ops[YK_LANE_COUNT]; /* the list's ops of each lane */
    int32_t lane_op_counts[YK_LANE_COUNT];
    atomic_int_fast64_t enqueued; /* ops so far, of all rounds and lanes */

    int64_t rounds;    /* put so far */
    int64_t begun;     /* steps */
    int64_t ended;     /* steps */
    int64_t unsettled; /* the first step of the row under way; −1: none is */
    double last_done_s;
    int64_t timed;       /* the round of the last step that ended */
    double last_began_s; /* when that began: when the one before was done */
    atomic_bool stop;
    _Atomic double computed_s; /* how long the rank computed in the step that ended last */
};

static inline struct yk_step_slot *yk_executor_slot(struct yk_executor *executor, int64_t step)
{
    return &executor->slots[step % YK_EXECUTOR_STEPS];
}

/* How many samples the op has, as rows of its group, starting at row `*begin` of the rank's slice.
 */
int64_t yk_executor_route_rows(const struct yk_executor *executor,
                               const struct yk_batch_slice *slice, int32_t layer,
                               int32_t micro_batch, int64_t *begin);

/* What a pass is sent, and where it puts gradients; copies what another group of this rank made. */
void yk_executor_route_input(struct yk_executor *executor, int32_t number,
                             const struct yk_batch_slice *slice, struct yk_pass *pass);

/* Puts together the gradient of an output that other groups took, before its layer goes backward.
 */
void yk_executor_route_gradient(struct yk_executor *executor, int32_t number,
                                const struct yk_batch_slice *slice);

/* Puts a message between groups on the comm lane. */
void yk_executor_route_message(struct yk_executor *executor, int32_t number,
                               const struct yk_batch_slice *slice, int64_t round);

/* Looks up crossings and messages, once. */
yk_status yk_executor_find_routes(struct yk_executor *executor) YK_MUST_USE;

/* How long the rank computed in a round whose computing is done. */
double yk_executor_compute_time_s(const struct yk_executor *executor, int64_t round);

/* Sorts the ops by their lanes, once. */
yk_status yk_executor_sort_lanes(struct yk_executor *executor) YK_MUST_USE;

/* Puts the ops of a round that are for steps from `first` to `last`; `step` is the round's own. */
void yk_executor_enqueue_round(struct yk_executor *executor, int64_t step, int64_t first,
                               int64_t last);

/* Puts what makes a step's result known to the host. */
void yk_executor_enqueue_report(struct yk_executor *executor, int64_t step);

#endif
