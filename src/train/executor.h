/*
 * Executor: runs a rank's program, op by op, on the lanes of a real device.
 *
 * All memory of a step is taken when the executor is made, where and as much as program/memory
 * counted; a step allocates nothing. The host only puts work on lanes and reads the result at the
 * end of the step. One thread at a time.
 */
#ifndef YK_TRAIN_EXECUTOR_H
#define YK_TRAIN_EXECUTOR_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/optimizer.h"
#include "nn/store.h"
#include "program/program.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The samples of one step, on the host: a piece for each micro-batch. */
struct yk_batch {
    int32_t piece_count;
    struct yk_piece *pieces;
    int64_t counted; /* targets that bear loss, of all pieces */
    int64_t present; /* tokens that are no filling */
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
    double loss;  /* mean over the tokens that bear any */
    double norm;  /* of all gradients, before clipping */
    bool skipped; /* numbers went bad, nothing was updated (where the program has a barrier) */
    double seconds;
};

struct yk_executor; /* opaque */

/* The program, store and optimizer must outlive it. Programs of one rank. */
yk_status yk_executor_create(const struct yk_program *program, int32_t rank, struct yk_store *store,
                             const struct yk_optimizer *optimizer,
                             struct yk_executor **out) YK_MUST_USE;
void yk_executor_destroy(struct yk_executor *executor);

/* Puts a step on the lanes and returns at once; end() waits for it. A piece may have another shape
 * than its micro-batch in the plan, but not more tokens. */
yk_status yk_executor_begin(struct yk_executor *executor, const struct yk_step *step) YK_MUST_USE;
yk_status yk_executor_end(struct yk_executor *executor, struct yk_step_result *out) YK_MUST_USE;

/* What happened in the last step, from its start at 0. */
yk_status yk_executor_trace(const struct yk_executor *executor, const char *device,
                            struct yk_trace **out) YK_MUST_USE;

/* Between two steps, the memory that things are held in during one: for evaluation. */
void *yk_executor_lend(const struct yk_executor *executor, size_t *bytes);

/* The device memory taken for activations, workspace and batches; the store has the rest. */
size_t yk_executor_bytes(const struct yk_executor *executor);

#endif
