/*
 * Train progress: what a person sees of a run while it goes on, and what the summary needs of it.
 *
 * One line a step on standard error, rewritten in place on a terminal; the first ten and then every
 * so many are kept. All on the thread that trains.
 */
#ifndef YK_JOB_TRAINING_PROGRESS_H
#define YK_JOB_TRAINING_PROGRESS_H

#include "base/text.h"
#include "job/training/balance.h"
#include "measure/gauge.h"
#include "train/run.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts with what the first lines say, the rest 0. */
struct yk_train_progress {
    struct yk_train_balance *balance; /* NULL: alone */
    struct yk_gauge *gauge;           /* that is told of steps; NULL: none */
    int64_t first_step;               /* done before this run began */
    int64_t log_every;
    const struct yk_planned *planned; /* what is predicted */
    bool scaled; /* half precision: gradients have a scale that skipped steps lower */
    const atomic_bool *stop;

    double usual_step_s;       /* of late: for the time that is left */
    struct yk_text line;       /* being written */
    struct yk_text checkpoint; /* the path of the newest */
};

struct yk_run_watch yk_train_progress_watch(struct yk_train_progress *progress);
void yk_train_progress_free(struct yk_train_progress *progress);

#endif
