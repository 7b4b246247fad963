/*
 * Train plan: the plan that is trained by: searched for on the devices of the ranks, or read from a
 * file. Rank 0 finds it and sends it to the others.
 */
#ifndef YK_JOB_TRAINING_PLAN_H
#define YK_JOB_TRAINING_PLAN_H

#include "cluster/cluster.h"
#include "job/device.h"
#include "job/training/request.h"
#include "job/training/team.h"
#include "plan/plan_file.h"
#include "planner/planner.h"

/* Starts as {0}; does not move once a plan has been found. */
struct yk_train_plan {
    struct yk_device_choice device; /* where this rank computes */
    struct yk_cluster *cluster;
    struct yk_profile *profile;    /* or NULL */
    struct yk_device_facts *facts; /* (devices) */
    struct yk_cost_book book;
    struct yk_plan_request request;
    struct yk_planner_outcome *planned;
};

/* The workload that the request asks for, with `config`. */
yk_status yk_train_plan_workload(const struct yk_train_request *request,
                                 const struct yk_model_config *config,
                                 struct yk_workload *out) YK_MUST_USE;

/*
 * Finds or reads the plan of a workload. `model_source` is what the plan's file calls the model.
 * Where nothing fits, `planned` has no plan and says what is missing (planner/planner.h).
 */
yk_status yk_train_plan_find(const struct yk_train_request *request,
                             const struct yk_train_team *team, const struct yk_model_config *config,
                             const struct yk_workload *workload, const char *model_source,
                             struct yk_arena *arena, struct yk_train_plan *out) YK_MUST_USE;

void yk_train_plan_close(struct yk_train_plan *plan);

/* The threads that a rank computes with: as said, or those of the device it is planned for. */
int64_t yk_train_plan_threads(const struct yk_train_plan *plan,
                              const struct yk_train_request *request, int32_t rank);

struct yk_plan_context yk_train_plan_context(const struct yk_train_plan *plan);

#endif
