/* Planning inputs: opens the model, cluster and profile that a plan is made for. */
#ifndef YK_JOB_PLANNING_PLANNING_H
#define YK_JOB_PLANNING_PLANNING_H

#include "base/arena.h"
#include "cluster/cluster.h"
#include "job/workload.h"
#include "model/config.h"
#include "plan/module_map.h"
#include "plan/plan_file.h"
#include "planner/search/study.h"
#include "profile/profile.h"

#include <stdbool.h>

/* Options as typed; NULL means: not given. */
struct yk_planning_request {
    const char *model;
    const char *cluster;
    const char *profile;
    double memory_bytes; /* memory limit of each device; 0: not given */
    double slowdown;     /* compute slowdown during communication; 0: not given */
    bool any_profile;    /* accept a plan that was made with a different profile */
};

/* Starts as {0}. Do not copy or move it: `request` points to `book`. */
struct yk_planning {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_profile *profile;
    struct yk_cost_book book;
    struct yk_plan_request request; /* book, config, sources, memory and slowdown are set */
};

/* Opens the inputs that the request names. Model and cluster are required. */
yk_status yk_planning_open(const struct yk_planning_request *request,
                           struct yk_planning *out) YK_MUST_USE;

/*
 * Opens a plan file and the inputs that it was made for. An input that the request names replaces
 * that of the plan file, and must match it. `out->request` becomes the request that the plan was
 * made for.
 */
yk_status yk_planning_open_plan(const char *path, const struct yk_planning_request *request,
                                struct yk_planning *out, const struct yk_plan **plan) YK_MUST_USE;

void yk_planning_close(struct yk_planning *planning);

/* The context needed to read and write plan files. */
struct yk_plan_context yk_planning_context(const struct yk_planning *planning);

/* Reads a device_map.json and checks it against the model and the number of devices. */
yk_status yk_planning_open_map(const char *path, const struct yk_model_config *config,
                               int32_t device_count, struct yk_arena *arena,
                               const struct yk_module_map **out) YK_MUST_USE;

#endif
