/*
 * Step graph: one training step as a task graph. Its tasks are the forward and the backward of
 * every layer for every micro-batch, and one update per trained layer. The data on its edges
 * are activations, the gradients of activations and of weights, and the activations that forward
 * saves for backward.
 *
 * Forward and backward of one layer for one micro-batch form a group of tasks. The update belongs
 * to the group of the first micro-batch. Layers that share weights share their groups. All tasks of
 * a group run on one device, because saved activations are not sent. With one micro-batch, the
 * memory of the group includes the layer's state (weights, gradients, optimizer state). With
 * several micro-batches, the state of a layer is a store, which all groups of the layer share: each
 * device that runs one of these groups holds the state once. So a layer may have different devices
 * for different micro-batches. The gradients are then sent to the device of the first micro-batch,
 * which updates the layer and sends the new weights back.
 *
 * A step graph is immutable. It owns everything to which it points, except what its spec points to.
 */
#ifndef YK_PLANNER_PLACEMENT_STEP_GRAPH_H
#define YK_PLANNER_PLACEMENT_STEP_GRAPH_H

#include "base/text.h"
#include "cost/cost.h"
#include "graph/graph.h"
#include "model/model.h"

struct yk_step_graph_spec {
    const struct yk_cost_sources *cost_sources;
    const struct yk_model_config *config;
    struct yk_workload workload; /* workload of the whole batch */
    int32_t micro_batches;       /* M, at most the number of samples of the batch */
};

enum {
    YK_STEP_GRAPH_NO_TASK = -1
};

struct yk_step_graph_task {
    enum yk_cost_pass pass;
    int32_t layer;
    int32_t micro_batch; /* 0 for an update */
};

struct yk_step_graph {
    struct yk_arena *arena; /* owns everything except the graph */
    struct yk_step_graph_spec spec;
    const struct yk_model *model; /* the model for the largest micro-batch */
    int32_t layer_count;          /* L */
    int32_t micro_batch_count;    /* M */
    struct yk_link *links;        /* (P, P) links between the P devices */
    struct yk_graph *graph;
    struct yk_step_graph_task *tasks; /* (n), where n is the number of tasks */
    int32_t *kinds;    /* (n) colour number of a task in pictures: its micro-batch or, if M = 1, its
                          layer */
    int32_t *forward;  /* (M, L) task numbers */
    int32_t *backward; /* (M, L) task numbers; YK_STEP_GRAPH_NO_TASK if the layer has no backward */
    int32_t *update;   /* (L) task numbers; YK_STEP_GRAPH_NO_TASK for a frozen layer */
    struct yk_error_band band; /* error band of the times of all tasks on all devices */
};

yk_status yk_step_graph_create(const struct yk_step_graph_spec *spec,
                               struct yk_step_graph **out) YK_MUST_USE;
void yk_step_graph_destroy(struct yk_step_graph *step);

/* Sets `task_devices` to the device of each task. `layer_devices` has one row for each micro-batch,
 * with the device of each layer. */
void yk_step_graph_fill_task_devices(const struct yk_step_graph *step, const int32_t *layer_devices,
                                     int32_t *task_devices);

#endif
