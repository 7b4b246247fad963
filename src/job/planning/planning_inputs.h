/* Planning inputs: opens the model, the cluster and the profile that the planner needs. */
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

/* The values of the options. A string that is not given is NULL. */
struct yk_planning_inputs_request {
    const char *model;
    const char *cluster;
    const char *profile;
    double memory_bytes; /* memory limit of each device; 0 means: not given */
    double slowdown;     /* slowdown of computation during communication; 0 means: not given */
    bool any_profile;    /* accept a plan file that was made with a different profile */
};

/* Starts as {0}. Do not copy or move the struct: `request` points to `sources`. */
struct yk_planning_inputs {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_profile *profile;
    struct yk_cost_sources sources;
    struct yk_plan_request request; /* model, cost sources, memory and slowdown are set */
};

/* Opens the inputs that the request names. Model and cluster are required. */
yk_status yk_planning_inputs_open(const struct yk_planning_inputs_request *request,
                                  struct yk_planning_inputs *out) YK_MUST_USE;

/*
 * Opens a plan file and the inputs that it names. An input that the request names replaces the
 * input of the plan file and must match the plan. `out->request` becomes the request for which the
 * plan was made, but with the slowdown of `request` if it is given. The memory limit of `request`
 * is ignored.
 */
yk_status yk_planning_inputs_open_plan_file(const char *path,
                                            const struct yk_planning_inputs_request *request,
                                            struct yk_planning_inputs *out,
                                            const struct yk_plan **plan) YK_MUST_USE;

void yk_planning_inputs_close(struct yk_planning_inputs *planning);

/* Returns the context that is needed to read and write plan files. */
struct yk_plan_file_context
yk_planning_inputs_plan_file_context(const struct yk_planning_inputs *planning);

/* Reads a device_map.json and checks it against the model and the number of devices. */
yk_status yk_planning_inputs_read_device_map(const char *path, const struct yk_model_config *config,
                                             int32_t device_count, struct yk_arena *arena,
                                             const struct yk_device_map **out) YK_MUST_USE;

#endif
