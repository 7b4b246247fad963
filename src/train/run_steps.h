/*
 * Run steps: the steps of a run that are on their way, with all they go by: the executor of the
 * run's program, the batches of this rank, and what is noted of each step that has ended.
 *
 * They belong to one run, which outlives them and whose state they carry on. All ranks of a run
 * make the same calls, each on the thread that trains.
 */
#ifndef YK_TRAIN_RUN_STEPS_H
#define YK_TRAIN_RUN_STEPS_H

#include "base/status.h"
#include "train/batches.h"
#include "train/executor/executor.h"
#include "train/metrics.h"
#include "train/run.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_RUN_MAX_PENDING = 4,
};

/* A step that has begun and not ended. */
struct yk_run_pending {
    double rate;
    double scale;
    int64_t present;
};

struct yk_run_steps {
    struct yk_vector_span_array *run;
    struct yk_executor *executor;
    struct yk_batches *batches;
    struct yk_metrics *metrics;  /* owned, though opened by the run; NULL: none */
    const struct yk_batch *now;  /* of the step that begins next */
    const struct yk_batch *next; /* of the one after: prepared while others run */
    int64_t next_unit;           /* units of the sampler in all of these */
    struct yk_run_pending pending[YK_RUN_MAX_PENDING];
    int32_t pending_count;
    struct yk_op_time *times; /* (ops) for those of a round */
    double *seconds;          /* of the steps of this run */
    int64_t count;
    bool stopped;
    const struct yk_program *change; /* to go on with */
};

/* To be closed also where it fails. */
yk_status yk_run_steps_open(struct yk_vector_span_array *run, struct yk_run_steps *out) YK_MUST_USE;
/* Leaves the median of their seconds in the run. */
void yk_run_steps_close(struct yk_run_steps *steps);

/* Takes the samples of the next two steps: once, before the first begins. */
yk_status yk_run_steps_prepare(struct yk_run_steps *steps) YK_MUST_USE;

/* Begins a step, and while it runs prepares the samples of the one after the next. What the one
 * after depends on is known when this returns. */
yk_status yk_run_steps_begin(struct yk_run_steps *steps) YK_MUST_USE;

/* Ends the oldest step that has begun. */
yk_status yk_run_steps_end(struct yk_run_steps *steps) YK_MUST_USE;

yk_status yk_run_steps_end_all(struct yk_run_steps *steps) YK_MUST_USE;

/* When all have ended: another program with the same store, `change`. Samples are divided otherwise
 * from the next step on. */
yk_status yk_run_steps_change(struct yk_run_steps *steps) YK_MUST_USE;

/* Told how a line of the metrics was written: one that cannot be is no reason to lose the training;
 * later ones are not tried. */
void yk_run_steps_note_metrics(struct yk_run_steps *steps, yk_status written);

#endif
