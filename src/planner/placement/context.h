/* Context: what the methods of placement.c share. */
#ifndef YK_PLANNER_PLACEMENT_CONTEXT_H
#define YK_PLANNER_PLACEMENT_CONTEXT_H

#include "planner/placement/candidates.h"
#include "planner/placement/placement.h"

/* The best candidate of all numbers of micro-batches looked at. */
struct yk_placement_best_candidate {
    struct yk_candidates
        candidates;  /* of the best's number of micro-batches; its step is NULL before */
    double on_all_s; /* of the best on all devices, of any number; INFINITY: none */
    int32_t on_all_micro_batches;
};

struct yk_placement_context {
    const struct yk_placement_request *request;
    struct yk_placements *out;
    const struct yk_modules *modules;
    struct yk_placement_best_candidate pipeline; /* once it was looked for */
    double started_s;
    struct yk_deadline deadline; /* of the phase under way */
    double micro_batch_s;        /* that a step took to make, for each of its micro-batches */
};

/* Lets searches go on until that part of the budget is spent. One that is counted in moves has no
 * end in time, unless the request has. */
void yk_placement_context_begin_phase(struct yk_placement_context *context, double part);

/* The step of that many micro-batches, made when it is first asked for. */
yk_status yk_placement_context_step_graph(struct yk_placement_context *context,
                                          int32_t micro_batches,
                                          const struct yk_step_graph **out) YK_MUST_USE;

/* Completes a placement that came to nothing by the sentence of the last failure. */
yk_status yk_placement_context_refuse(struct yk_placement_context *context,
                                      struct yk_placement *placement) YK_MUST_USE;

/* Completes a placement whose name and step are set from its schedule, which it takes over. */
yk_status yk_placement_context_finish(struct yk_placement_context *context,
                                      struct yk_schedule *schedule,
                                      struct yk_placement *placement) YK_MUST_USE;

/* Evaluates `map`, in which layers go where their first module is; what is kept off the devices
 * cannot be trained. */
yk_status yk_placement_context_apply_map(struct yk_placement_context *context,
                                         const struct yk_module_map *map,
                                         struct yk_placement *placement) YK_MUST_USE;

/* The ways named pipeline and best: they search over maps, orders and, where they are open,
 * micro-batches. */
yk_status yk_placement_search_pipeline(struct yk_placement_context *context,
                                       struct yk_placement *placement) YK_MUST_USE;
yk_status yk_placement_search_best(struct yk_placement_context *context,
                                   struct yk_placement *placement) YK_MUST_USE;

#endif
