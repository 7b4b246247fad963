/*
 * Train balance: compares what the ranks compute with what was planned, names one that is slower
 * than planned for long, and, where that is asked for, divides the samples anew.
 *
 * Slower is measured against the rank that keeps to its plan best. Every rank has the same numbers
 * and comes to the same plan.
 */
#ifndef YK_JOB_TRAINING_BALANCE_H
#define YK_JOB_TRAINING_BALANCE_H

#include "base/arena.h"
#include "base/status.h"
#include "job/training/result.h"
#include "planner/planner.h"
#include "train/run.h"

#include <stdbool.h>

/* Starts with its first five members alone. */
struct yk_train_balance {
    const struct yk_plan_request *request; /* that the plan was made for */
    const struct yk_planner_outcome *planned;
    struct yk_arena *arena;
    bool changes; /* the plan when a rank is slow */
    bool reports; /* this is rank 0 */

    double *planned_s;                 /* (ranks) of computing in a step */
    int32_t *slow;                     /* (ranks) steps in a row */
    double *sum_s;                     /* (ranks) of those steps */
    bool *named;                       /* (ranks) */
    struct yk_planner_outcome **found; /* (found_count) plans to change to, in that order */
    int32_t found_count;
    int64_t *changed; /* (changed_count) after which steps the run changed to them */
    int32_t changed_count;
};

yk_status yk_train_balance_open(struct yk_train_balance *balance) YK_MUST_USE;
void yk_train_balance_close(struct yk_train_balance *balance);

/* After a step: the program of another plan to go on with, or NULL. */
const struct yk_program *yk_train_balance_check(struct yk_train_balance *balance,
                                                const struct yk_run_step *step);

/* The run has changed to the plan that was found last, after this step, which may be later than
 * the one it was found after: what was begun by then ends first. Rank 0 logs it. */
void yk_train_balance_apply(struct yk_train_balance *balance, int64_t step);

/* The plan in force. */
const struct yk_planner_outcome *yk_train_balance_plan(const struct yk_train_balance *balance);

/* The most memory of a rank by any plan that the run has gone by: what a plan does not need any
 * more is free when the next begins, so they do not add up. */
double yk_train_balance_peak_bytes(const struct yk_train_balance *balance, int32_t rank);

/* The changes (changed_count) as the result of the job has them. In the arena. */
yk_status yk_train_balance_list(const struct yk_train_balance *balance, struct yk_arena *arena,
                                struct yk_train_rebalancing **out) YK_MUST_USE;

#endif
