/*
 * Train steps: follows a run from step to step: reports each to whoever runs the job, lets the
 * balance look at it, and tells the gauge of it. All on the thread that trains.
 */
#ifndef YK_JOB_TRAINING_STEPS_H
#define YK_JOB_TRAINING_STEPS_H

#include "base/text.h"
#include "job/training/balance.h"
#include "job/training/request.h"
#include "measure/counters/recorder.h"
#include "planner/planner.h"
#include "train/run.h"

#include <stdbool.h>

/* Starts with its first members, the rest 0. */
struct yk_train_steps {
    const struct yk_train_request *request;
    bool reports;                             /* this is rank 0 */
    struct yk_train_balance *balance;         /* NULL: alone */
    struct yk_counter_recorder *gauge;        /* that is told of steps; NULL: none */
    const struct yk_planner_outcome *planned; /* the plan in force */

    double usual_step_s;       /* of late: for the time that is left */
    struct yk_text checkpoint; /* the path of the newest */
};

struct yk_run_callbacks yk_train_steps_watch(struct yk_train_steps *steps);
void yk_train_steps_free(struct yk_train_steps *steps);

#endif
