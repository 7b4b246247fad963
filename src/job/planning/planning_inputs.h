/* Planning inputs: opens the model, cluster and profile that a plan is made for. */
#ifndef YK_JOB_PLANNING_PLANNING_INPUTS_H
#define YK_JOB_PLANNING_PLANNING_INPUTS_H

#include "base/arena.h"
#include "cluster/cluster.h"
#include "job/workload.h"
#include "model/config.h"
#include "plan/device_map.h"
#include "plan/plan_file.h"
#include "planner/search/search_context.h"
#include "profile/profile.h"

#include <stdbool.h>

/* Options as typed; NULL means: not given. */
struct yk_planning_inputs_request {
    const char *model;
    const char *cluster;
    const char *profile;
    double memory_bytes; /* memory limit of each device; 0: not given */
    double slowdown;     /* compute slowdown during communication; 0: not given */
    bool any_profile;    /* accept a plan that was made with a different profile */
};

/* Starts as {0}. Do not copy or move it: `request` points to `book`. */
struct yk_planning_inputs {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_profile *profile;
    struct yk_cost_sources sources;
    struct yk_plan_request request; /* book, config, sources, memory and slowdown are set */
};

/* Opens the inputs that the request names. Model and cluster are required. */
yk_status yk_planning_inputs_open(const struct yk_planning_inputs_request *request,
                                  struct yk_planning_inputs *out) YK_MUST_USE;

/*
 * Opens a plan file and the inputs that it was made for. An input that the request names replaces
 * that of the plan file, and must match it. `out->request` becomes the request that the plan was
 * made for.
 */
yk_status yk_planning_inputs_open_plan_file(const char *path,
                                            const struct yk_planning_inputs_request *request,
                                            struct yk_planning_inputs *out,
                                            const struct yk_plan **plan) YK_MUST_USE;

void yk_planning_inputs_close(struct yk_planning_inputs *planning);

/* The context needed to read and write plan files. */
struct yk_plan_file_context
yk_planning_inputs_plan_context(const struct yk_planning_inputs *planning);

/* Reads a device_map.json and checks it against the model and the number of devices. */
yk_status yk_planning_inputs_read_device_map(const char *path, const struct yk_model_config *config,
                                             int32_t device_count, struct yk_arena *arena,
                                             const struct yk_device_map **out) YK_MUST_USE;

#endif
