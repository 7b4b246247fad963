/*
 * Train rebalancer: compares the compute times of the ranks with the plan. Warns about a rank that
 * is slower than planned for many consecutive steps. With --rebalance, it also assigns new shares
 * of the batch to the ranks.
 *
 * The ratio of a rank is its measured time / its planned time. The slowdown of a rank is its ratio
 * divided by the smallest ratio of all ranks. Every rank knows the times of all ranks, so all ranks
 * make the same new plan without communication.
 */
#ifndef YK_JOB_TRAINING_REBALANCER_H
#define YK_JOB_TRAINING_REBALANCER_H

#include "base/arena.h"
#include "base/status.h"
#include "job/training/result.h"
#include "planner/planner.h"
#include "train/training_run.h"

#include <stdbool.h>

/* The caller sets the members up to `reports`; the others start as 0. */
struct yk_train_rebalancer {
    const struct yk_plan_request *request;    /* request for which the initial plan was made */
    const struct yk_planner_outcome *planned; /* initial plan */
    struct yk_arena *arena;
    bool changes; /* --rebalance: change the plan if a rank is slow */
    bool reports; /* log messages; only rank 0 does */

    double *planned_s; /* (ranks) compute time per step in the newest plan */
    int32_t *slow;     /* (ranks) number of consecutive slow steps */
    double *mean_s;    /* (ranks) moving average of the compute time per step */
    bool *named;       /* (ranks) a warning about this rank was logged */
    /* (found_count) new plans, in the order of the changes. */
    struct yk_planner_outcome **found;
    int32_t found_count;
    int64_t *changed; /* (changed_count) the run changed to found[i] after step changed[i] */
    int32_t changed_count;
};

yk_status yk_train_rebalancer_open(struct yk_train_rebalancer *rebalancer) YK_MUST_USE;
void yk_train_rebalancer_close(struct yk_train_rebalancer *rebalancer);

/* Must be called after every step. Returns the program of a new plan if the run should change to
 * this plan, otherwise NULL. */
const struct yk_program *yk_train_rebalancer_check_step(struct yk_train_rebalancer *rebalancer,
                                                        const struct yk_step_metrics *step);

/* Records that the run has changed to the newest plan after `step`. `step` may be later than the
 * step at which the plan was found, because steps that have already started finish first. Rank 0
 * logs the change. */
void yk_train_rebalancer_record_change(struct yk_train_rebalancer *rebalancer, int64_t step);

/* Returns the plan with which the run trains now. */
const struct yk_planner_outcome *
yk_train_rebalancer_current_plan(const struct yk_train_rebalancer *rebalancer);

/* Returns the planned peak memory of a rank: the maximum over all plans that the run has used. It
 * is not the sum, because the buffers of one plan are freed before the next plan starts. */
double yk_train_rebalancer_planned_peak_bytes(const struct yk_train_rebalancer *rebalancer,
                                              int32_t rank);

/* Lists the changes for the result of the job. `*out` becomes an array of changed_count elements in
 * the arena. */
yk_status yk_train_rebalancer_list_changes(const struct yk_train_rebalancer *rebalancer,
                                           struct yk_arena *arena,
                                           struct yk_train_share_change **out) YK_MUST_USE;

#endif
