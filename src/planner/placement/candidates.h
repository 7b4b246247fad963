/* Candidates: maps worth evaluating for a step, and the best of them. */
#ifndef YK_PLANNER_PLACEMENT_CANDIDATES_H
#define YK_PLANNER_PLACEMENT_CANDIDATES_H

#include "base/deadline.h"
#include "planner/placement/evaluate.h"
#include "planner/placement/step_graph.h"

/* The best of the schedules considered. Times are those of yk_evaluate_step_s(). */
struct yk_candidates {
    const struct yk_step_graph *step;
    struct yk_schedule *best;
    struct yk_placement_fit fit; /* of the best */
    double step_s;               /* of the best; INFINITY before there is one */
    double on_all_s;             /* of the best that fits and uses every device, or INFINITY */
    struct yk_schedule *trial;   /* room for the next */
    int64_t trials;              /* schedules considered */
    const struct yk_deadline *deadline;
};

/* Whatever adds candidates ends once the deadline has passed, with at least one schedule
 * considered. NULL: none. */
yk_status yk_candidates_create(const struct yk_step_graph *step, const struct yk_deadline *deadline,
                               struct yk_candidates *out) YK_MUST_USE;
void yk_candidates_free(struct yk_candidates *candidates);

/* Considers every pipeline of unequal stages worth it and every single device: maps in which a
 * layer has one device. */
yk_status yk_candidates_add_undivided(struct yk_candidates *candidates) YK_MUST_USE;

/* Considers `schedule`, of the same step. */
yk_status yk_candidates_consider(struct yk_candidates *candidates,
                                 const struct yk_schedule *schedule) YK_MUST_USE;

/* Considers what may divide a layer's micro-batches over devices, too: whole copies of the model
 * that share the micro-batches, and the quick schedulers. */
yk_status yk_candidates_add_divided(struct yk_candidates *candidates) YK_MUST_USE;

/* Moves the cuts of the best, which is undivided, as long as that makes it shorter. */
yk_status yk_candidates_refine(struct yk_candidates *candidates) YK_MUST_USE;

/* Considers what the devices of each node would do by themselves; of nodes that are alike, one: the
 * quick schedulers spread work over slow links between nodes. */
yk_status yk_candidates_add_nodes(struct yk_candidates *candidates) YK_MUST_USE;

#endif
