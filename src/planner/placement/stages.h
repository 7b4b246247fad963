/*
 * Stages: cuts of the chain of layers into consecutive stages, one device each, so that a pipeline
 * of micro-batches keeps them evenly busy and everything fits. By dynamic programming over how many
 * devices of each kind are used and where each stage ends, from the last layer to the first, so
 * that it knows how many micro-batches a stage has in flight. Layers that share weights are with
 * the first of them.
 */
#ifndef YK_PLANNER_PLACEMENT_STAGES_H
#define YK_PLANNER_PLACEMENT_STAGES_H

#include "base/deadline.h"
#include "planner/placement/step_graph.h"

/* Whether two devices are equal in every number: times and memory. */
bool yk_stages_devices_are_equal(const struct yk_step_graph *step, int32_t a, int32_t b);

struct yk_stages_list {
    int32_t count;
    int32_t *devices; /* (count, L) the device of each layer */
};

/*
 * The most promising cuts, at most `max` of them, by the estimated time of the step; none when no
 * cut fits. Once the deadline has passed, of those that were found before. Memory is the arena's.
 */
yk_status yk_stages_propose(const struct yk_step_graph *step, int32_t max,
                            const struct yk_deadline *deadline, struct yk_arena *arena,
                            struct yk_stages_list *out) YK_MUST_USE;

#endif
