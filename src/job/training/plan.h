/*
 * Train plan: the plan of a training run. Rank 0 searches for the plan, or reads the plan from a
 * file, and sends it to the other ranks.
 */
#ifndef YK_JOB_TRAINING_PLAN_H
#define YK_JOB_TRAINING_PLAN_H

#include "cluster/cluster.h"
#include "job/device.h"
#include "job/training/request.h"
#include "job/training/team.h"
#include "plan/plan_file.h"
#include "planner/planner.h"

/* Starts as {0}. Do not copy or move the struct after a plan has been found: `request` points to
 * `sources`. */
struct yk_train_plan {
    struct yk_device_choice device; /* device of this rank */
    struct yk_cluster *cluster;
    struct yk_profile *profile;                  /* NULL means: none */
    struct yk_device_measurements *measurements; /* (devices) */
    struct yk_cost_sources sources;
    struct yk_plan_request request;
    struct yk_planner_outcome *planned;
};

/*
 * Searches for the plan of a workload, or reads the plan from the file of --plan. `model_source` is
 * the path of the model, which is written into the plan file of the run. If the search finds no
 * plan that fits into memory, several ranks fail with YK_ERROR_NO_FIT. A single rank succeeds, but
 * out->planned->plan is NULL, and out->planned says how much memory is missing (planner/planner.h).
 * Called by all ranks.
 */
yk_status yk_train_plan_find(const struct yk_train_request *request,
                             const struct yk_train_team *team, const struct yk_model_config *config,
                             const struct yk_workload *workload, const char *model_source,
                             struct yk_arena *arena, struct yk_train_plan *out) YK_MUST_USE;

void yk_train_plan_close(struct yk_train_plan *plan);

/* Returns the number of compute threads of a rank: the value of --threads, or the number of cores
 * of the rank's device in the plan if --threads is not given. */
int64_t yk_train_plan_thread_count(const struct yk_train_plan *plan,
                                   const struct yk_train_request *request, int32_t rank);

/* Returns the context that is needed to write the plan file. */
struct yk_plan_file_context yk_train_plan_file_context(const struct yk_train_plan *plan);

#endif
