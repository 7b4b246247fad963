/*
 * Step graph: one training step as a task graph. It has forward and backward of every layer for
 * every micro-batch, and one update per layer. Its edges carry activations, their gradients, and
 * the activations saved for backward.
 *
 * Forward and backward of one layer and micro-batch form a group, which stays on one device because
 * saved activations are not sent. With one micro-batch the group holds the layer's weights and
 * state. With several, the groups of a layer share a store with its weights. So a layer may have
 * different devices for different micro-batches, and each of them holds the weights. Gradients are
 * then sent to the device of the first micro-batch, which updates the layer and sends the new
 * weights back.
 *
 * A step graph is immutable and owns everything it points to, except the pointers in its spec.
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
    struct yk_workload workload; /* of the whole batch */
    int32_t micro_batches;       /* M, at most the samples of the batch */
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
    struct yk_arena *arena; /* owns everything but the graph */
    struct yk_step_graph_spec spec;
    const struct yk_model *model; /* for the largest micro-batch */
    int32_t layer_count;          /* L */
    int32_t micro_batch_count;    /* M */
    struct yk_link *links;        /* (P, P) */
    struct yk_graph *graph;
    struct yk_step_graph_task *tasks; /* (n) */
    int32_t *kinds; /* (n) colour of a task in pictures: its micro-batch or, if M = 1, its layer */
    int32_t *forward;          /* (M, L) task numbers */
    int32_t *backward;         /* (M, L) YK_STEP_GRAPH_NO_TASK if the layer has no backward */
    int32_t *update;           /* (L) YK_STEP_GRAPH_NO_TASK for a frozen layer */
    struct yk_error_band band; /* of all task times on all devices */
};

yk_status yk_step_graph_create(const struct yk_step_graph_spec *spec,
                               struct yk_step_graph **out) YK_MUST_USE;
void yk_step_graph_destroy(struct yk_step_graph *step);

/* The layer that owns the weights of `layer`: itself, or the layer whose weights it shares. */
int32_t yk_step_graph_weight_owner(const struct yk_step_graph *step, int32_t layer);

/* Converts devices of layers (M, L) to devices of tasks (n). */
void yk_step_graph_task_devices(const struct yk_step_graph *step, const int32_t *layer_devices,
                                int32_t *task_devices);

#endif
