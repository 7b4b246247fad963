/*
 * Placed: a placement as a plan: every layer on one device, the batch going through them whole or
 * in micro-batches.
 */
#ifndef YK_PLANNER_PLACED_H
#define YK_PLANNER_PLACED_H

#include "plan/module_map.h"
#include "planner/study.h"

/* A rank and a group of its own for each device that has a layer, in the order of the devices. The
 * batch goes through whole. */
yk_status yk_placed_plan(const struct yk_study *study, const int32_t *layer_devices,
                         struct yk_arena *arena, struct yk_plan **out) YK_MUST_USE;

/* Whether yk_placed_find() knows a way of planner/place.h: those that never divide a layer. */
bool yk_placed_knows(const char *algorithm);

struct yk_placed {
    const struct yk_plan *plan;
    int64_t trials; /* 0: the way does not search */
    bool cut_short; /* by the budget */
};

/*
 * The plan of what a way of planner/place.h decides for the request; `map` is for the way "map".
 * Where the request leaves the micro-batches open, those of the way: one, but for pipelines.
 */
yk_status yk_placed_find(const struct yk_plan_request *request, const char *algorithm,
                         const struct yk_module_map *map, struct yk_arena *arena,
                         struct yk_placed *out) YK_MUST_USE;

#endif
