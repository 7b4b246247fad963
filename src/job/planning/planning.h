/* Planning: what the jobs about plans have in common: what to plan for, opened. */
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

/* As given; NULL where they are not. */
struct yk_planning_request {
    const char *model;
    const char *cluster;
    const char *profile;
    double memory_bytes; /* 0: not given */
    double slowdown;     /* 0: not given */
    bool any_profile;    /* a plan may have been made with other measurements */
};

/* Everything a plan is for, opened. Starts as {0}. */
struct yk_planning {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_profile *profile;
    struct yk_cost_book book;
    struct yk_plan_request request; /* book, config, sources, memory and slowdown are filled */
};

/* Opens what the request names; model and cluster are needed. */
yk_status yk_planning_open(const struct yk_planning_request *request,
                           struct yk_planning *out) YK_MUST_USE;

/*
 * Opens a plan file and what it was made for, or what the request names instead, if that is the
 * same. `out->request` is the one that the plan was made for.
 */
yk_status yk_planning_open_plan(const char *path, const struct yk_planning_request *request,
                                struct yk_planning *out, const struct yk_plan **plan) YK_MUST_USE;

void yk_planning_close(struct yk_planning *planning);

/* The context of plan files. */
struct yk_plan_context yk_planning_context(const struct yk_planning *planning);

/* Reads and checks the map of a model on so many devices. */
yk_status yk_planning_open_map(const char *path, const struct yk_model_config *config,
                               int32_t device_count, struct yk_arena *arena,
                               const struct yk_module_map **out) YK_MUST_USE;

#endif
