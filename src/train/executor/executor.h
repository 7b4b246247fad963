/*
 * Executor: runs a rank's program, op by op, on the lanes of a real device.
 *
 * All memory of a step is allocated when the executor is created. The host only enqueues work and
 * reads results; lanes wait for each other as the program says.
 *
 * Steps overlap: the next may begin before the one before has ended, and an op may belong to the
 * step before or after its round's. yk_executor_finish_steps() ends them all, so that the store
 * holds all that was trained; the step after that starts anew.
 *
 * One thread at a time. In a run of several ranks all of them make the same calls.
 *
 * executor.c creates it, steps begins and ends steps, enqueue puts ops on lanes, routes passes
 * activations between groups, collectives are its all-gathers and reductions, buffers and offsets
 * its memory, device_batches its input; lanes and times read its events.
 */
#ifndef YK_TRAIN_EXECUTOR_EXECUTOR_H
#define YK_TRAIN_EXECUTOR_EXECUTOR_H

#include "base/status.h"
#include "comm/ranks.h"
#include "data/sampler.h"
#include "nn/optimizer.h"
#include "nn/store/store.h"
#include "program/program.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What this rank has of a micro-batch, on the host. */
struct yk_batch_slice {
    struct yk_slice own; /* `counted` and `present` are those of all ranks */
    int64_t all;         /* samples of the micro-batch on all ranks */
    int64_t first;       /* of them, the rank's first */
    int64_t planned; /* samples that the plan has for it, where a slice may have more or fewer and
                        is cut in proportion; 0: they are the plan's */
    int32_t *memory;
    int64_t rows;
};

/* Which sample of the slice the plan's sample number `planned` is. */
static inline int64_t yk_batch_slice_at(const struct yk_batch_slice *slice, int64_t planned)
{
    if (slice->planned > 0) {
        return planned * slice->all / slice->planned;
    }
    return planned < slice->all ? planned : slice->all;
}

/* The samples of one step: a slice for each micro-batch. */
struct yk_batch {
    int32_t slice_count;
    struct yk_batch_slice *slices;
    int64_t counted; /* targets that bear loss, of all slices and ranks */
    int64_t present; /* tokens that are no padding, likewise */
    int64_t units;   /* of the sampler's */
};

struct yk_step {
    const struct yk_batch *batch; /* stays as it is until the step has ended */
    double rate;
    int64_t updates; /* made before this one */
    double loss_scale;
    double clip; /* 0: none */
};

struct yk_step_result {
    double loss;  /* mean over the tokens that bear any, of all ranks */
    double norm;  /* of all gradients, before clipping */
    bool skipped; /* numbers went bad, nothing was updated (where the program has a barrier) */
    bool stopped; /* a rank requested it */
    double seconds;
    const double *compute_s; /* (ranks) how long each computed, in a step before or in this one;
                                until the next call */
};

/* When an op ran, on the clock of base/clock.h. */
struct yk_op_time {
    int32_t op; /* of the rank's list */
    double start_s;
    double end_s;
};

struct yk_round_times {
    const struct yk_program *program;
    int32_t rank;
    struct yk_op_time *ops; /* that had something to do, in the order of the list */
    int32_t count;
    double began_s; /* when the step before was done, or this one was begun; NAN: not known */
    double done_s;
};

struct yk_executor; /* opaque */

struct yk_executor_options {
    const struct yk_ranks *ranks; /* NULL: alone */
    bool wide;                    /* gradients of 16 bits are summed as fp32 */
    double slow;                  /* computing takes so many times as long, by waiting; 0: as is */
    int64_t spare_samples; /* that a micro-batch may have here besides those planned, where samples
                              are cut in proportion: more than program/memory counts */
    /* Called on lanes of the host as ops begin, with a lane and an op of this rank, and with −1
     * when a lane has nothing to do any more; or NULL. */
    void (*begins)(void *user, enum yk_lane lane, int32_t op);
    /* Called with an executor that has lane positions from now on, and with NULL when it no longer
     * has; or NULL. */
    void (*watched)(void *user, const struct yk_executor *executor);
    void *user;
};

/* The program, store, optimizer and ranks must outlive it. */
yk_status yk_executor_create(const struct yk_program *program, struct yk_store *store,
                             const struct yk_optimizer *optimizer,
                             const struct yk_executor_options *options,
                             struct yk_executor **out) YK_MUST_USE;
/* After yk_executor_finish_steps(), or after a failure. */
void yk_executor_destroy(struct yk_executor *executor);

/* Enqueues a step and returns at once. `next` is the batch of the step after, for what is loaded
 * early. A slice may have another shape than its micro-batch in the plan, but not more tokens. At
 * most yk_executor_depth() steps may have begun and not ended. */
yk_status yk_executor_begin_step(struct yk_executor *executor, const struct yk_step *step,
                                 const struct yk_batch *next) YK_MUST_USE;
int32_t yk_executor_depth(const struct yk_executor *executor);

/* Whether the step begun last updates nothing; waits only where the program has a barrier. */
yk_status yk_executor_step_skipped(struct yk_executor *executor, bool *skipped) YK_MUST_USE;

/* Waits for the oldest step that has not ended. */
yk_status yk_executor_end_step(struct yk_executor *executor,
                               struct yk_step_result *out) YK_MUST_USE;

/* Enqueues what is left of all steps, and waits for all lanes. Steps can still be ended after it.
 */
yk_status yk_executor_finish_steps(struct yk_executor *executor) YK_MUST_USE;

/* Between finished steps: the sum of losses of a batch over all ranks, with no training on it. */
yk_status yk_executor_evaluate_step(struct yk_executor *executor, const struct yk_batch *batch,
                                    double *out_loss) YK_MUST_USE;

/* Asks all ranks to stop, by the result of a step under way. Any thread. */
void yk_executor_request_stop(struct yk_executor *executor);

struct yk_executor_position {
    int64_t passed; /* ops that have ended, since the executor was made */
    int32_t op;     /* that it is in; −1: it has nothing to do, or waits for other lanes */
};

/* Does not wait; any thread, while the executor is there. */
void yk_executor_lane_position(const struct yk_executor *executor, enum yk_lane lane,
                               struct yk_executor_position *out);

/* When the ops of a round ran: of the step that ended last, or of `back` rounds before. Waits for
 * ops that have not ended. None where the round's events have been used again. `ops` is for all ops
 * of the rank. */
yk_status yk_executor_times(const struct yk_executor *executor, int32_t back,
                            struct yk_op_time *ops, struct yk_round_times *out) YK_MUST_USE;

/* Whether all ops of the list had something to do, and none ended before it started. */
bool yk_round_times_are_whole(const struct yk_round_times *times);

/* As a trace, from the round's begin at 0. The caller destroys it. */
yk_status yk_round_times_trace(const struct yk_round_times *times,
                               struct yk_trace **out) YK_MUST_USE;

/* Between finished steps, the memory that buffers lie in during one. */
void *yk_executor_memory(const struct yk_executor *executor, size_t *bytes);

/* The device memory allocated for activations, workspace and batches; the store has the rest. */
size_t yk_executor_bytes(const struct yk_executor *executor);

#endif
