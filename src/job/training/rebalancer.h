/*
 * Train rebalancer: compares the compute times of the ranks with the plan. Warns about a rank that
 * stays slower than planned for many steps and, with --rebalance, assigns new shares of the batch.
 *
 * The slowdown of a rank is measured time / planned time, relative to the rank with the smallest
 * ratio. All ranks have the same numbers and therefore reach the same plan without communication.
 */
#ifndef YK_JOB_TRAINING_REBALANCER_H
#define YK_JOB_TRAINING_REBALANCER_H

#include "base/arena.h"
#include "base/status.h"
#include "job/training/result.h"
#include "planner/planner.h"
#include "train/training_run.h"

#include <stdbool.h>

/* The caller sets the first five members; the others start as 0. */
struct yk_train_rebalancer {
    const struct yk_plan_request *request;    /* request that the initial plan answers */
    const struct yk_planner_outcome *planned; /* initial plan */
    struct yk_arena *arena;
    bool changes; /* --rebalance: change the plan if a rank is slow */
    bool reports; /* this is rank 0, which logs */

    double *planned_s;                 /* (ranks) planned compute time per step */
    int32_t *slow;                     /* (ranks) number of consecutive slow steps */
    double *mean_s;                    /* (ranks) moving average of the compute time per step */
    bool *named;                       /* (ranks) a warning about this rank was logged */
    struct yk_planner_outcome **found; /* (found_count) new plans, in the order they are applied */
    int32_t found_count;
    int64_t *changed; /* (changed_count) step after which found[i] was applied */
    int32_t changed_count;
};

yk_status yk_train_rebalancer_open(struct yk_train_rebalancer *rebalancer) YK_MUST_USE;
void yk_train_rebalancer_close(struct yk_train_rebalancer *rebalancer);

/* Call after every step. Returns the program of a new plan if the run should change to it, else
 * NULL. */
const struct yk_program *yk_train_rebalancer_check_step(struct yk_train_rebalancer *rebalancer,
                                                        const struct yk_step_metrics *step);

/* Records that the run has changed to the newest plan after `step`. That may be some steps after
 * the plan was found, because steps already in flight finish first. Rank 0 logs it. */
void yk_train_rebalancer_record_change(struct yk_train_rebalancer *rebalancer, int64_t step);

/* The current plan. */
const struct yk_planner_outcome *
yk_train_rebalancer_current_plan(const struct yk_train_rebalancer *rebalancer);

/* Peak memory of a rank: the maximum over all plans that the run has used. Buffers of one plan are
 * freed before the next plan starts, so the peaks do not add up. */
double yk_train_rebalancer_peak_bytes(const struct yk_train_rebalancer *rebalancer, int32_t rank);

/* Lists the changes (changed_count) for the result of the job. Allocated in the arena. */
yk_status yk_train_rebalancer_list_changes(const struct yk_train_rebalancer *rebalancer,
                                           struct yk_arena *arena,
                                           struct yk_train_share_change **out) YK_MUST_USE;

#endif
