/*
 * Step graph: one training step as a task graph: forward and backward of every layer for every
 * micro-batch, and one update a layer, with activations, their gradients and what is saved for the
 * backward pass on the edges.
 *
 * Forward and backward of one layer for one micro-batch are a group, since what is saved between
 * them does not travel. With one micro-batch the group holds the layer's weights and state; with
 * several they are a store that the layer's groups share, so a layer may serve different
 * micro-batches on different devices, each of which then holds its weights. Gradients of such a
 * layer go to where it is updated, the device of its first micro-batch, and its new weights come
 * back.
 *
 * A step owns its graph and everything else it points to. It never changes once made.
 */
#ifndef YK_PLANNER_PLACEMENT_STEP_GRAPH_H
#define YK_PLANNER_PLACEMENT_STEP_GRAPH_H

#include "base/text.h"
#include "cost/cost.h"
#include "cost/error_band.h"
#include "graph/graph.h"
#include "model/model.h"

struct yk_step_graph_spec {
    const struct yk_cost_book *book;
    const struct yk_model_config *config;
    struct yk_workload workload; /* of the whole batch */
    int32_t micro_batches;       /* M, at most the samples of the batch */
};

enum {
    YK_STEP_GRAPH_NO_TASK = -1
};

enum yk_step_pass {
    YK_STEP_FORWARD,
    YK_STEP_BACKWARD,
    YK_STEP_UPDATE,
};

/* What a task of the graph is. */
struct yk_step_graph_task {
    enum yk_step_pass pass;
    int32_t layer;
    int32_t micro_batch; /* 0 for an update */
};

struct yk_step_graph {
    struct yk_arena *arena; /* owns everything but the graph */
    struct yk_step_graph_spec spec;
    const struct yk_model *model; /* for the largest micro-batch */
    int32_t layer_count;          /* L */
    int32_t micro_batch_count;    /* M */
    struct yk_link *links;        /* (P, P) as the graph has them */
    struct yk_graph *graph;
    struct yk_step_graph_task *tasks; /* (n) */
    int32_t *kinds;            /* (n) for pictures: the micro-batch or, with one, the layer */
    int32_t *forward;          /* (M, L) tasks */
    int32_t *backward;         /* (M, L) or YK_STEP_GRAPH_NO_TASK where nothing is left to do */
    int32_t *update;           /* (L) or YK_STEP_GRAPH_NO_TASK for a frozen layer */
    struct yk_error_band band; /* of its tasks on all devices */
};

yk_status yk_step_graph_create(const struct yk_step_graph_spec *spec,
                               struct yk_step_graph **out) YK_MUST_USE;
void yk_step_graph_destroy(struct yk_step_graph *step);

/* The layer whose placement `layer` follows: itself, or the one it shares weights with. */
int32_t yk_step_graph_weight_owner(const struct yk_step_graph *step, int32_t layer);

/* Turns devices of layers (M, L) into devices of tasks (n). */
void yk_step_graph_task_devices(const struct yk_step_graph *step, const int32_t *layer_devices,
                                int32_t *task_devices);

#endif
