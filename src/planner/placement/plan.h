/* Plan: a placement as a plan: every layer on one device, the batch whole or in micro-batches. */
#ifndef YK_PLANNER_PLACEMENT_PLAN_H
#define YK_PLANNER_PLACEMENT_PLAN_H

#include "plan/module_map.h"
#include "planner/search/study.h"

/* A rank and a group of its own for each device that has a layer, in the order of the devices. The
 * batch goes through whole. */
yk_status yk_placement_plan_create(const struct yk_study *study, const int32_t *layer_devices,
                                   struct yk_arena *arena, struct yk_plan **out) YK_MUST_USE;

/* Whether yk_placement_plan_search() knows a method of planner/placement/placement.h: those that
 * never divide a layer. */
bool yk_placement_plan_supports(const char *algorithm);

struct yk_placement_plan {
    const struct yk_plan *plan;
    int64_t trials; /* 0: the method does not search */
    bool cut_short; /* by the budget */
};

/*
 * The plan that a method of planner/placement/placement.h finds for the request; `map` is for the
 * method "map". Where the request does not set the number of micro-batches, the method does: one,
 * except for pipelines.
 */
yk_status yk_placement_plan_search(const struct yk_plan_request *request, const char *algorithm,
                                   const struct yk_module_map *map, struct yk_arena *arena,
                                   struct yk_placement_plan *out) YK_MUST_USE;

#endif
