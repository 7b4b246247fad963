/*
 * Placement search: evaluates many device maps for a step and stores the best schedule. It ends
 * soon after the deadline, but evaluates at least one map. A map is undivided if every layer has
 * one device for all micro-batches, and divided otherwise. stages.c cuts the layers into pipeline
 * stages.
 */
#ifndef YK_PLANNER_PLACEMENT_PLACEMENT_SEARCH_H
#define YK_PLANNER_PLACEMENT_PLACEMENT_SEARCH_H

#include "base/deadline.h"
#include "planner/placement/evaluate.h"
#include "planner/placement/step_graph.h"

/* The best of the schedules evaluated so far. yk_placement_evaluate_step_s() computes the step
 * times. */
struct yk_placement_search {
    const struct yk_step_graph *step;
    struct yk_schedule *best;
    struct yk_placement_memory_fit fit; /* memory fit of `best` */
    double step_s;                      /* step time of `best`; INFINITY means: no schedule yet */
    double on_all_s;           /* shortest step time of the schedules that fit and use all devices;
                                  INFINITY means: no such schedule yet */
    struct yk_schedule *trial; /* scratch schedule for the next candidate */
    double considered_s;       /* step time of the most recently evaluated schedule */
    bool considered_fits;
    int64_t trials; /* number of schedules evaluated */
    const struct yk_deadline *deadline;
};

/* `deadline` may be NULL. */
yk_status yk_placement_search_create(const struct yk_step_graph *step,
                                     const struct yk_deadline *deadline,
                                     struct yk_placement_search *out) YK_MUST_USE;
void yk_placement_search_free(struct yk_placement_search *candidates);

/* Evaluates `schedule` and copies it to `best` if it is better. It must be a schedule of the step
 * of the search. */
yk_status yk_placement_search_try_schedule(struct yk_placement_search *candidates,
                                           const struct yk_schedule *schedule) YK_MUST_USE;

/* Tries undivided maps: promising pipelines, and for each kind of device the map that places all
 * layers on one device of this kind. */
yk_status
yk_placement_search_try_undivided_maps(struct yk_placement_search *candidates) YK_MUST_USE;

/* Tries replicas of the whole model that share the micro-batches, and the schedules that fast
 * schedulers find. */
yk_status yk_placement_search_try_divided_maps(struct yk_placement_search *candidates) YK_MUST_USE;

/* For each node with several devices, searches for a schedule that uses only this node, and tries
 * the best one. Of several equal nodes, only the first is searched. Does nothing if the cluster has
 * only one node. */
yk_status yk_placement_search_try_single_nodes(struct yk_placement_search *candidates) YK_MUST_USE;

/* Moves the cuts between the stages of the best map as long as this shortens the step. The best map
 * must be undivided. Does nothing if the best map does not fit. */
yk_status yk_placement_search_refine_stage_cuts(struct yk_placement_search *candidates) YK_MUST_USE;

/* A cluster that consists of selected devices of another cluster. */
struct yk_placement_search_subcluster {
    struct yk_device *devices; /* (count) devices of `cluster` */
    struct yk_link *links;     /* (count, count) links of `cluster` */
    struct yk_cluster cluster;
    struct yk_cost_sources sources; /* points to `cluster` */
};

/* Creates a cluster from devices of the cluster of `whole`. `numbers` are the indices of these
 * devices, in the order of the new cluster. An index may occur twice. Arrays are in `arena`. */
yk_status
yk_placement_search_make_subcluster(const struct yk_cost_sources *whole, const int32_t *numbers,
                                    int32_t count, struct yk_arena *arena,
                                    struct yk_placement_search_subcluster *out) YK_MUST_USE;

/* Returns true if two devices have the same times and the same memory. */
bool yk_pipeline_stages_devices_are_equal(const struct yk_step_graph *step, int32_t a, int32_t b);

struct yk_pipeline_stages_assignments {
    int32_t count;
    int32_t *devices; /* (count, L) for each assignment, the device of each layer */
};

/*
 * Cuts the chain of layers into consecutive stages with one device each, so that all stages are
 * about equally busy and fit into memory. Uses dynamic programming over the number of devices of
 * each kind and the last layer of each stage. The search starts with the last stage, because the
 * number of stages after a stage determines how many micro-batches it has in flight. Layers with
 * shared weights are in the same stage.
 *
 * Returns at most `max` assignments, in `arena`: those with the shortest estimated step, and one
 * that uses the most devices. The list is empty if none fits. If the deadline passes, returns the
 * assignments that were found before.
 */
yk_status
yk_pipeline_stages_propose_assignments(const struct yk_step_graph *step, int32_t max,
                                       const struct yk_deadline *deadline, struct yk_arena *arena,
                                       struct yk_pipeline_stages_assignments *out) YK_MUST_USE;

#endif
