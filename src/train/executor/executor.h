/*
 * Executor: runs a rank's program on the lanes of a device.
 *
 * All memory of a step is allocated when the executor is created. The host enqueues work and reads
 * results; lanes wait for each other as the program says.
 *
 * Steps overlap: a step may begin before the previous one has ended. A round is one pass through
 * the rank's ops. An op of a round may belong to the round's own step, to the previous step or to
 * the next one. yk_executor_finish_steps() completes all steps, so that the store holds the final
 * weights.
 *
 * One thread at a time. All ranks of a run make the same calls.
 *
 * The folder: executor creates and destroys it, steps begins and ends steps, enqueue puts ops on
 * lanes, routes moves activations between groups of ranks, collectives exchanges weights and
 * gradients, buffers and offsets lay out its memory, device_batches holds its input, lanes and
 * times read its events.
 */
#ifndef YK_TRAIN_EXECUTOR_EXECUTOR_H
#define YK_TRAIN_EXECUTOR_EXECUTOR_H

#include "base/status.h"
#include "comm/communicator.h"
#include "data/sampler.h"
#include "nn/optimizer.h"
#include "nn/store/parameter_store.h"
#include "program/program.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This rank's samples of one micro-batch, on the host. */
struct yk_batch_slice {
    struct yk_sample_slice own; /* its `counted` and `present` are totals over all ranks */
    int64_t all;                /* samples of the micro-batch on all ranks */
    int64_t first;              /* number of this rank's first sample in the micro-batch */
    int64_t planned; /* planned samples of the micro-batch, where the actual number differs and
                        samples are divided in proportion; 0: as many as planned */
    int32_t *memory; /* of `own` */
    int64_t rows;    /* tokens that `memory` has space for */
};

/* The number of the actual sample that corresponds to sample `planned` of the plan. */
static inline int64_t yk_batch_slice_sample_at(const struct yk_batch_slice *slice, int64_t planned)
{
    if (slice->planned > 0) {
        return planned * slice->all / slice->planned;
    }
    return planned < slice->all ? planned : slice->all;
}

/* This rank's samples of one step. */
struct yk_batch {
    int32_t slice_count; /* one slice for each micro-batch */
    struct yk_batch_slice *slices;
    int64_t loss_targets;    /* targets with a loss, of all slices and ranks */
    int64_t unpadded_tokens; /* tokens without padding, of all slices and ranks */
    int64_t units;           /* units of the sampler */
};

struct yk_step_options {
    const struct yk_batch *batch; /* must not change until the step has ended */
    double lr;
    int64_t updates; /* optimizer updates before this step */
    double loss_scale;
    double clip; /* maximum gradient norm; 0: no clipping */
};

struct yk_step_result {
    double loss;  /* mean over the targets with a loss, of all ranks */
    double norm;  /* of all gradients, before clipping */
    bool skipped; /* the gradients were not finite and no weight was updated; only a program with a
                     barrier skips steps */
    bool stopped; /* a rank called yk_executor_request_stop() */
    double seconds;
    const double *compute_s; /* (ranks) compute time of each rank in this step or an earlier one;
                                valid until the next call */
};

/* When an op ran, on the clock of base/clock.h. */
struct yk_op_interval {
    int32_t op; /* number of the op in the rank's program */
    double start_s;
    double end_s;
};

/* When the ops of one round ran on one rank. */
struct yk_op_timeline {
    const struct yk_program *program;
    int32_t rank;
    struct yk_op_interval *ops; /* ops that did work, in program order */
    int32_t count;
    double began_s; /* when the previous step was done, or this step began; NAN: unknown */
    double done_s;  /* NAN: unknown */
};

struct yk_executor;

struct yk_executor_options {
    const struct yk_communicator *ranks; /* NULL: one rank */
    bool reduce_in_fp32;                 /* 16-bit gradients are summed as fp32 */
    double slowdown;       /* factor by which sleeping prolongs computation; 0: none */
    int64_t spare_samples; /* samples that a micro-batch may have above the planned number.
                              program/memory does not count them */
    /* Called on a lane of the host when an op begins, and with op −1 when it ends. May be NULL. */
    void (*op_began)(void *user, enum yk_lane lane, int32_t op);
    /* Called with the executor when yk_executor_get_lane_position() may be used, and with NULL
     * before the executor is destroyed. May be NULL. */
    void (*watch)(void *user, const struct yk_executor *executor);
    void *user;
};

/* The program, store, optimizer and ranks must outlive the executor. */
yk_status yk_executor_create(const struct yk_program *program, struct yk_parameter_store *store,
                             const struct yk_optimizer *optimizer,
                             const struct yk_executor_options *options,
                             struct yk_executor **out) YK_MUST_USE;
/* May be called after yk_executor_finish_steps() or after a failure. */
void yk_executor_destroy(struct yk_executor *executor);

/* Enqueues a step and returns. `next` is the batch of the following step, part of which may be
 * loaded early. The shape of a slice may differ from the plan, but it may not have more tokens. At
 * most yk_executor_max_steps_in_flight() steps may be in flight. */
yk_status yk_executor_begin_step(struct yk_executor *executor, const struct yk_step_options *step,
                                 const struct yk_batch *next) YK_MUST_USE;
int32_t yk_executor_max_steps_in_flight(const struct yk_executor *executor);

/* Whether the last step that began skips its update. Waits only if the program has a barrier. */
yk_status yk_executor_step_skipped(struct yk_executor *executor, bool *skipped) YK_MUST_USE;

/* Waits for the oldest step in flight. */
yk_status yk_executor_end_step(struct yk_executor *executor,
                               struct yk_step_result *out) YK_MUST_USE;

/* Enqueues the remaining ops of all steps and waits for all lanes. yk_executor_end_step() must
 * still be called for each step in flight. */
yk_status yk_executor_finish_steps(struct yk_executor *executor) YK_MUST_USE;

/* Computes the sum of the losses of a batch over all ranks, without training. No step may be in
 * flight. */
yk_status yk_executor_evaluate_step(struct yk_executor *executor, const struct yk_batch *batch,
                                    double *out_loss) YK_MUST_USE;

/* Asks all ranks to stop: the result of a later step has `stopped` set. Any thread. */
void yk_executor_request_stop(struct yk_executor *executor);

/* The progress of a lane. */
struct yk_lane_position {
    int64_t passed; /* ops that have ended since the executor was created */
    int32_t op;     /* op that is running; −1: the lane is idle or waits for another lane */
};

/* Does not block. Any thread. */
void yk_executor_get_lane_position(const struct yk_executor *executor, enum yk_lane lane,
                                   struct yk_lane_position *out);

/* Reads when the ops of a round ran: the round of the last step that ended, or `back` rounds
 * before it. Waits for ops that have not ended. `ops` must have space for all ops of the rank.
 * `count` is 0 if the round's events have been reused. */
yk_status yk_executor_get_timeline(const struct yk_executor *executor, int32_t back,
                                   struct yk_op_interval *ops,
                                   struct yk_op_timeline *out) YK_MUST_USE;

/* Whether all ops of the rank did work, and none ended before it started. */
bool yk_op_timeline_is_complete(const struct yk_op_timeline *timeline);

/* Converts the times to a trace that starts at 0. The caller destroys it. */
yk_status yk_op_timeline_to_trace(const struct yk_op_timeline *timeline,
                                  struct yk_trace **out) YK_MUST_USE;

/* The memory of the buffers. It may be used for other purposes while no step is in flight. */
void *yk_executor_buffer_memory(const struct yk_executor *executor, size_t *bytes);

/* Device memory that the executor allocated for activations, workspaces and batches. */
size_t yk_executor_memory_bytes(const struct yk_executor *executor);

#endif
