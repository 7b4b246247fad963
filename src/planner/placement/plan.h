/* Plan: a placement as a plan: every layer on one device, the batch whole or in micro-batches. */
#ifndef YK_PLANNER_PLACEMENT_PLAN_H
#define YK_PLANNER_PLACEMENT_PLAN_H

#include "plan/module_map.h"
#include "planner/search/study.h"

/* A rank and a group of its own for each device that has a layer, in the order of the devices. The
 * batch goes through whole. */
yk_status yk_placement_plan_create(const struct yk_study *study, const int32_t *layer_devices,
                                   struct yk_arena *arena, struct yk_plan **out) YK_MUST_USE;

/* Whether yk_placement_plan_search() knows a way of planner/place.h: those that never divide a
 * layer. */
bool yk_placement_plan_supports(const char *algorithm);

struct yk_placement_plan {
    const struct yk_plan *plan;
    int64_t trials; /* 0: the way does not search */
    bool cut_short; /* by the budget */
};

/*
 * The plan of what a way of planner/place.h decides for the request; `map` is for the way "map".
 * Where the request leaves the micro-batches open, those of the way: one, but for pipelines.
 */
yk_status yk_placement_plan_search(const struct yk_plan_request *request, const char *algorithm,
                                   const struct yk_module_map *map, struct yk_arena *arena,
                                   struct yk_placement_plan *out) YK_MUST_USE;

#endif
