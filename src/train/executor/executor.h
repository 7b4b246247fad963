/*
 * Executor: runs a rank's program on the lanes of a device. A lane is a queue of work that runs in
 * order.
 *
 * All memory of a step is allocated when the executor is created. The host enqueues work and reads
 * results. The lanes wait for each other where the program says so.
 *
 * Steps overlap: a step may begin before the previous one has ended. A round is one pass through
 * the rank's ops. An op of a round may belong to the round's own step, to the previous step or to
 * the next step. yk_executor_finish_steps() completes all steps, so that the store holds the final
 * weights.
 *
 * Only one thread at a time may use an executor, unless a function says "any thread". All ranks of
 * a run must make the same calls.
 *
 * The files of this folder:
 *
 *   executor                 creates and destroys the executor
 *   steps                    begins and ends steps
 *   enqueue                  enqueues ops on lanes
 *   routes                   moves activations between groups of ranks
 *   collectives              exchanges weights and gradients
 *   buffers, buffer_offsets  choose the offsets of buffers in memory
 *   device_batches           holds the input tokens on the device
 *   lanes, timeline          read from events what runs now, and when ops ran
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
struct yk_rank_micro_batch {
    struct yk_sample_slice own; /* its `loss_targets` and `token_count` are totals over all ranks */
    int64_t all;                /* number of samples of the micro-batch on all ranks together */
    int64_t first;              /* index of this rank's first sample in the micro-batch */
    int64_t planned; /* number of samples that the plan has for the micro-batch, if the actual
                        samples are divided among the ranks in proportion to the plan; otherwise 0
                      */
    int32_t *memory; /* memory that the pointers of `own` point into */
    int64_t rows;    /* number of tokens for which `memory` has space */
    uint8_t *pixels; /* memory of the images; NULL unless the rank reads images */
};

/* Returns the index of the actual sample that corresponds to sample `planned` of the plan. */
static inline int64_t
yk_rank_micro_batch_actual_sample_index(const struct yk_rank_micro_batch *slice, int64_t planned)
{
    if (slice->planned > 0) {
        return planned * slice->all / slice->planned;
    }
    return planned < slice->all ? planned : slice->all;
}

/* This rank's samples of one step. */
struct yk_rank_batch {
    int32_t slice_count; /* one slice for each micro-batch */
    struct yk_rank_micro_batch *slices;
    int64_t loss_targets;    /* number of targets with a loss, in all slices of all ranks */
    int64_t unpadded_tokens; /* number of tokens without padding, in all slices of all ranks */
    int64_t units;           /* number of units that were taken from the sampler */
};

struct yk_step_options {
    const struct yk_rank_batch *batch; /* must not change until the step has ended */
    double lr;
    int64_t updates; /* number of optimizer updates before this step */
    double loss_scale;
    double clip; /* maximum gradient norm; 0 means: no clipping */
};

struct yk_step_result {
    double loss;  /* mean over the targets with a loss on all ranks */
    double norm;  /* norm of all gradients before clipping */
    bool skipped; /* the gradients were not finite and no weight was updated; only a program with a
                     barrier skips steps */
    bool stopped; /* a rank called yk_executor_request_stop() */
    double seconds;
    const double *compute_s; /* (ranks) compute time of each rank in a recent step before this one;
                                0 means: not known yet, or there is only one rank. Valid until the
                                next call of a function of the executor */
};

/* The time when an op ran, on the clock of base/clock.h. */
struct yk_op_interval {
    int32_t op; /* number of the op in the rank's program */
    double start_s;
    double end_s;
};

/* The times when the ops of one round ran on one rank. */
struct yk_op_timeline {
    const struct yk_program *program;
    int32_t rank;
    struct yk_op_interval *ops; /* ops that did work, in program order */
    int32_t count;
    double began_s; /* when the previous step was done; for the first step, when it began; NAN
                       means: unknown */
    double done_s;  /* when the computation of the step was done; NAN means: unknown */
};

struct yk_executor;

struct yk_executor_options {
    const struct yk_communicator *ranks; /* communicator of the ranks; NULL means: one rank */
    bool reduce_in_fp32;                 /* 16-bit gradients are summed as fp32 */
    double slowdown; /* factor by which the executor prolongs computation with pauses; 0 means: no
                        slowdown */
    int64_t spare_samples; /* number of samples that a micro-batch may have in addition to the
                              planned number; the memory count of program/memory/memory.h does not
                              include them */
    /* Called on the thread of a lane when an op begins, and with op −1 when the op ends. Also
     * called with op −1 for each lane, on the calling thread, when all lanes have finished. Not
     * called if the device is an accelerator. May be NULL. */
    void (*op_began)(void *user, enum yk_lane lane, int32_t op);
    /* Called with the executor as soon as yk_executor_get_lane_progress() may be used, and with
     * NULL before the executor is destroyed. May be NULL. */
    void (*watch)(void *user, const struct yk_executor *executor);
    void *user;
};

/* Creates an executor. The program, the store, the optimizer and the communicator must outlive the
 * executor. */
yk_status yk_executor_create(const struct yk_program *program, struct yk_parameter_store *store,
                             const struct yk_optimizer_options *optimizer,
                             const struct yk_executor_options *options,
                             struct yk_executor **out) YK_MUST_USE;
/* Destroys the executor. If steps have begun, yk_executor_finish_steps() must be called before,
 * unless a call has failed. */
void yk_executor_destroy(struct yk_executor *executor);

/* Enqueues a step and returns without waiting for it. `next` is the batch of the following step; a
 * part of `next` may be loaded early. The shape of a slice may differ from the plan, but the slice
 * must not have more tokens than its micro-batch has space for. At most
 * yk_executor_max_steps_in_flight() steps may be in flight. */
yk_status yk_executor_begin_step(struct yk_executor *executor, const struct yk_step_options *step,
                                 const struct yk_rank_batch *next) YK_MUST_USE;
int32_t yk_executor_max_steps_in_flight(const struct yk_executor *executor);

/* Sets `*skipped` to whether the step that began last skips its update. Waits only if the program
 * has a barrier. */
yk_status yk_executor_get_last_step_skipped(struct yk_executor *executor,
                                            bool *skipped) YK_MUST_USE;

/* Waits for the oldest step in flight and returns its result. */
yk_status yk_executor_end_step(struct yk_executor *executor,
                               struct yk_step_result *out) YK_MUST_USE;

/* Enqueues the remaining ops of all steps and waits for all lanes. yk_executor_end_step() must
 * still be called for each step in flight. */
yk_status yk_executor_finish_steps(struct yk_executor *executor) YK_MUST_USE;

/* Computes the sums of a batch over all ranks, without training. No step may be in flight. */
yk_status yk_executor_evaluate_batch_step(struct yk_executor *executor,
                                          const struct yk_rank_batch *batch,
                                          struct yk_loss_sums *out) YK_MUST_USE;

/* Asks all ranks to stop. The result of a later step has `stopped` set on all ranks. Any thread may
 * call it. */
void yk_executor_request_stop(struct yk_executor *executor);

/* The progress of a lane. */
struct yk_lane_progress {
    int64_t passed; /* number of ops that have ended since the executor was created */
    int32_t op; /* number of the running op; −1 means: the lane is idle or waits for another lane */
};

/* Finds out which op a lane is running. Does not block. Any thread may call it. */
void yk_executor_get_lane_progress(const struct yk_executor *executor, enum yk_lane lane,
                                   struct yk_lane_progress *out);

/* Reads the times when the ops of a round ran. `back` 0 means: the round of the step that ended
 * last; `back` n means: n rounds earlier. Waits for ops of the round that have not ended. `ops`
 * must have space for all ops of the rank. `count` is 0 if the events of the round have been
 * reused. */
yk_status yk_executor_get_timeline(const struct yk_executor *executor, int32_t back,
                                   struct yk_op_interval *ops,
                                   struct yk_op_timeline *out) YK_MUST_USE;

/* Returns whether all ops of the rank did work, and no op ended before it started. */
bool yk_op_timeline_is_complete(const struct yk_op_timeline *timeline);

/* Converts the times to a trace in which the time 0 is `began_s`. The caller destroys the trace. */
yk_status yk_op_timeline_to_trace(const struct yk_op_timeline *timeline,
                                  struct yk_trace **out) YK_MUST_USE;

/* Returns the memory of the buffers and sets `*bytes` to its size. The caller may use the memory
 * for other purposes while no step is in flight. */
void *yk_executor_get_buffer_memory(const struct yk_executor *executor, size_t *bytes);

/* Returns the size of the device memory that the executor allocated for activations, workspaces and
 * batches. */
size_t yk_executor_device_memory_bytes(const struct yk_executor *executor);

#endif
