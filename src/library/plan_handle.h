/* Plan handle: what a yoke_plan is, for the files that make it, tell of it and draw it. */
#ifndef YK_LIBRARY_PLAN_HANDLE_H
#define YK_LIBRARY_PLAN_HANDLE_H

#include "library/library.h"
#include "planner/planner.h"

struct yoke_plan {
    struct yk_library_basis basis;
    struct yk_planner_outcome *planned;
    struct yk_arena *arena; /* owns the records */
    struct yoke_plan_info info;
    struct yoke_rank *ranks;
    struct yoke_plan_layer *layers;
    struct yoke_transfer *transfers;
    struct yoke_alternative *alternatives;
    struct yoke_leave_one_out *leave_one_out;
};

/* Fills the records from what was planned. */
yk_status yk_library_fill_plan(struct yoke_plan *handle) YK_MUST_USE;

/* Copies of transfers, in the arena. */
yk_status yk_library_copy_plan_transfers(const struct yk_plan_transfer *transfers, int32_t count,
                                         struct yk_arena *arena,
                                         struct yoke_transfer **out) YK_MUST_USE;

#endif
