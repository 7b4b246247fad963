/*
 * Placement candidates: device maps to evaluate for a step, and the best of them. Functions that
 * add candidates stop when the deadline has passed, but evaluate at least one schedule.
 *
 *   stages   cuts of the layers into pipeline stages
 */
#ifndef YK_PLANNER_PLACEMENT_CANDIDATES_H
#define YK_PLANNER_PLACEMENT_CANDIDATES_H

#include "base/deadline.h"
#include "planner/placement/evaluate.h"
#include "planner/placement/step_graph.h"

/* The best of the schedules evaluated so far. Times are those of yk_placement_evaluate_step_s(). */
struct yk_placement_candidates {
    const struct yk_step_graph *step;
    struct yk_schedule *best;
    struct yk_placement_memory_fit fit; /* of the best */
    double step_s;                      /* of the best; INFINITY means: none yet */
    double on_all_s;           /* of the best that fits and uses all devices, or INFINITY */
    struct yk_schedule *trial; /* scratch schedule for the next candidate */
    double considered_s;       /* of the last schedule that was evaluated */
    bool considered_fits;
    int64_t trials; /* number of schedules evaluated */
    const struct yk_deadline *deadline;
};

/* `deadline` may be NULL. */
yk_status yk_placement_candidates_create(const struct yk_step_graph *step,
                                         const struct yk_deadline *deadline,
                                         struct yk_placement_candidates *out) YK_MUST_USE;
void yk_placement_candidates_free(struct yk_placement_candidates *candidates);

/* Evaluates `schedule`, which must be of the same step. */
yk_status yk_placement_candidates_consider(struct yk_placement_candidates *candidates,
                                           const struct yk_schedule *schedule) YK_MUST_USE;

/* Adds maps in which every layer has one device: promising pipelines, and every single device. */
yk_status
yk_placement_candidates_add_undivided(struct yk_placement_candidates *candidates) YK_MUST_USE;

/* Adds maps in which a layer may have different devices for different micro-batches: replicas of
 * the whole model, and the schedules of fast schedulers. */
yk_status
yk_placement_candidates_add_divided(struct yk_placement_candidates *candidates) YK_MUST_USE;

/* Adds the best candidates that use the devices of one node only. Of equal nodes, one is tried. */
yk_status yk_placement_candidates_add_nodes(struct yk_placement_candidates *candidates) YK_MUST_USE;

/* Moves the cuts of the best map, which must be undivided, while that shortens the step. */
yk_status yk_placement_candidates_refine(struct yk_placement_candidates *candidates) YK_MUST_USE;

/* A cluster made of devices of another one. */
struct yk_placement_candidates_subset {
    struct yk_device *devices; /* (count) of the cluster */
    struct yk_link *links;     /* (count, count) of the cluster */
    struct yk_cluster cluster;
    struct yk_cost_sources sources; /* points to `cluster` */
};

/* Selects the devices `numbers` of `whole`, in that order; a device may occur twice. Arrays are in
 * `arena`. */
yk_status yk_placement_candidates_select(const struct yk_cost_sources *whole,
                                         const int32_t *numbers, int32_t count,
                                         struct yk_arena *arena,
                                         struct yk_placement_candidates_subset *out) YK_MUST_USE;

/* Whether two devices have the same times and the same memory. */
bool yk_pipeline_stages_devices_are_equal(const struct yk_step_graph *step, int32_t a, int32_t b);

struct yk_pipeline_stages_list {
    int32_t count;
    int32_t *devices; /* (count, L) the device of each layer */
};

/*
 * Cuts the chain of layers into consecutive stages, one device each, so that all stages are about
 * equally busy and fit into memory. Uses dynamic programming over the number of devices of each
 * kind and the last layer of each stage, from the last stage to the first, since the position in
 * the pipeline determines the micro-batches in flight. Layers with shared weights stay together.
 *
 * Returns the cuts with the shortest estimated step, at most `max`, in `arena`; none if no cut
 * fits. After the deadline, only cuts found before it are returned.
 */
yk_status yk_pipeline_stages_propose(const struct yk_step_graph *step, int32_t max,
                                     const struct yk_deadline *deadline, struct yk_arena *arena,
                                     struct yk_pipeline_stages_list *out) YK_MUST_USE;

#endif
