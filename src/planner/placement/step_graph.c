#include "planner/placement/step_graph.h"

#include "base/number.h"
#include "base/text.h"
#include "cost/communication.h"
#include "graph/builder.h"

#include <math.h>

struct making {
    struct yk_step_graph *step;
    struct yk_graph_builder *builder;
    const struct yk_model **models; /* (M) the model for each micro-batch's samples */
    const char **names;             /* (n) of the tasks */
    double *costs;                  /* (P) of the current task */
    int32_t task_count;
};

/* Micro-batches differ by at most one sample, so at most two models are described. */
static yk_status describe_models(struct making *making)
{
    struct yk_step_graph *step = making->step;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(step->arena, making->models, step->micro_batch_count);
    for (int32_t m = 0; m < step->micro_batch_count; m++) {
        struct yk_workload workload = step->spec.workload;
        workload.batch = yk_number_even_part_size(workload.batch, step->micro_batch_count, m);
        if (m > 0 && workload.batch == making->models[m - 1]->workload.batch) {
            making->models[m] = making->models[m - 1];
        } else {
            YK_TRY(yk_model_build(step->spec.config, &workload, step->arena, &making->models[m]));
        }
    }
    step->model = making->models[0];
    step->layer_count = step->model->layer_count;
    return YK_OK;
}

static yk_status allocate_arrays(struct making *making)
{
    struct yk_step_graph *step = making->step;
    const int64_t cells = (int64_t)step->micro_batch_count * step->layer_count;
    YK_TRY_NEW(step->arena, step->forward, cells);
    YK_TRY_NEW(step->arena, step->backward, cells);
    YK_TRY_NEW(step->arena, step->update, step->layer_count);
    YK_TRY_NEW(step->arena, step->tasks, 2 * cells + step->layer_count);
    YK_TRY_NEW(step->arena, step->kinds, 2 * cells + step->layer_count);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(step->arena, making->names, 2 * cells + step->layer_count);
    const int64_t P = step->spec.cost_sources->cluster->device_count;
    YK_TRY_NEW(step->arena, making->costs, P);
    YK_TRY_NEW(step->arena, step->links, P * P);
    return YK_OK;
}

/* The memory of a device in the graph does not include the driver's context. */
static yk_status add_devices(const struct making *making)
{
    const struct yk_device_measurements *measurements =
        making->step->spec.cost_sources->measurements;
    const struct yk_cluster *cluster = making->step->spec.cost_sources->cluster;
    const struct yk_model *model = making->step->model;
    const double typical = model->edge_count > 0 ? (double)model->edges[0].bytes : 1;
    for (int32_t p = 0; p < cluster->device_count; p++) {
        const struct yk_device *device = &cluster->devices[p];
        const double room =
            device->memory_bytes - yk_device_measurements_context_bytes(measurements, cluster, p);
        YK_TRY(yk_graph_builder_add_device(making->builder, device->name, room > 0 ? room : 0));
    }
    for (int32_t p = 0; p < cluster->device_count; p++) {
        for (int32_t q = 0; q < p; q++) {
            struct yk_link *link = &making->step->links[(int64_t)p * cluster->device_count + q];
            YK_TRY(yk_communication_effective_link(making->step->spec.cost_sources, p, q, typical,
                                                   link));
            making->step->links[(int64_t)q * cluster->device_count + p] = *link;
            YK_TRY(yk_graph_builder_set_link(making->builder, cluster->devices[p].name,
                                             cluster->devices[q].name, link->latency_s,
                                             link->bytes_per_s));
        }
    }
    return YK_OK;
}

static yk_status name_task(const struct yk_step_graph *step, struct yk_step_graph_task task,
                           const char **out)
{
    static const char *const passes[] = {"forward", "backward", "update"};
    struct yk_text text = {0};
    yk_text_addf(&text, "%s %s", step->model->layers[task.layer].name, passes[task.pass]);
    if (step->micro_batch_count > 1 && task.pass != YK_COST_PASS_UPDATE) {
        yk_text_addf(&text, " %d", task.micro_batch + 1);
    }
    return yk_text_move_to_arena(&text, step->arena, out);
}

/* With several micro-batches the weights are a store. Updates belong to the first micro-batch. */
static yk_status add_to_group(struct making *making, struct yk_step_graph_task task)
{
    const struct yk_step_graph *step = making->step;
    const char *layer = step->model->layers[yk_model_weight_owner(step->model, task.layer)].name;
    if (step->micro_batch_count == 1) {
        return yk_graph_builder_set_last_task_group(making->builder, layer);
    }
    struct yk_text text = {0};
    const char *group = NULL;
    yk_text_addf(&text, "%s, micro-batch %d", layer, task.micro_batch + 1);
    YK_TRY(yk_text_move_to_arena(&text, step->arena, &group));
    YK_TRY(yk_graph_builder_set_last_task_group(making->builder, group));
    return yk_graph_builder_set_group_shared_store(making->builder, group, layer);
}

static yk_status add_task(struct making *making, struct yk_step_graph_task task, int32_t *out)
{
    struct yk_step_graph *step = making->step;
    const struct yk_model *model = making->models[task.micro_batch];
    const struct yk_layer *layer = &model->layers[task.layer];
    const struct yk_cost_sources *sources = step->spec.cost_sources;
    for (int32_t p = 0; p < sources->cluster->device_count; p++) {
        struct yk_cost_time_estimate time;
        YK_TRY(yk_cost_layer_time(sources, p, model, layer, task.pass, &time));
        making->costs[p] = time.seconds;
        yk_error_band_add_time(&step->band, &time, time.seconds);
    }
    const char **name = &making->names[making->task_count];
    YK_TRY(name_task(step, task, name));
    YK_TRY(yk_graph_builder_add_task(making->builder, *name, making->costs));
    if (task.pass != YK_COST_PASS_UPDATE) {
        YK_TRY(
            yk_graph_builder_set_last_task_bytes(making->builder, (double)layer->workspace_bytes));
    }
    YK_TRY(add_to_group(making, task));
    step->tasks[making->task_count] = task;
    step->kinds[making->task_count] = step->micro_batch_count == 1 ? task.layer : task.micro_batch;
    *out = making->task_count++;
    return YK_OK;
}

static yk_status add_tasks(struct making *making)
{
    struct yk_step_graph *step = making->step;
    const int32_t L = step->layer_count;
    for (int32_t m = 0; m < step->micro_batch_count; m++) {
        for (int32_t l = 0; l < L; l++) {
            YK_TRY(add_task(making, (struct yk_step_graph_task){YK_COST_PASS_FORWARD, l, m},
                            &step->forward[m * L + l]));
        }
        for (int32_t l = L - 1; l >= 0; l--) {
            step->backward[m * L + l] = YK_STEP_GRAPH_NO_TASK;
            if (step->model->layers[l].backward.count > 0) {
                YK_TRY(add_task(making, (struct yk_step_graph_task){YK_COST_PASS_BACKWARD, l, m},
                                &step->backward[m * L + l]));
            }
        }
    }
    for (int32_t l = L - 1; l >= 0; l--) {
        step->update[l] = YK_STEP_GRAPH_NO_TASK;
        if (step->model->layers[l].update.count > 0) {
            YK_TRY(add_task(making, (struct yk_step_graph_task){YK_COST_PASS_UPDATE, l, 0},
                            &step->update[l]));
        }
    }
    return YK_OK;
}

/* Adds weights, gradients and optimizer state, once for all layers that share weights. */
static yk_status add_state(const struct making *making)
{
    const struct yk_step_graph *step = making->step;
    for (int32_t leader = 0; leader < step->layer_count; leader++) {
        double bytes = 0;
        if (yk_model_weight_owner(step->model, leader) != leader) {
            continue;
        }
        for (int32_t l = leader; l < step->layer_count; l++) {
            if (yk_model_weight_owner(step->model, l) == leader) {
                bytes += yk_cost_layer_state_bytes(step->model, &step->model->layers[l]);
            }
        }
        const char *name = step->model->layers[leader].name;
        YK_TRY(step->micro_batch_count == 1
                   ? yk_graph_builder_set_group_resident_bytes(making->builder, name, bytes)
                   : yk_graph_builder_set_shared_store_bytes(making->builder, name, bytes));
    }
    return YK_OK;
}

/* Adds an edge if both tasks exist. */
static yk_status join(const struct making *making, int32_t from, int32_t to, double bytes,
                      bool passing)
{
    if (from == YK_STEP_GRAPH_NO_TASK || to == YK_STEP_GRAPH_NO_TASK) {
        return YK_OK;
    }
    const struct yk_graph_builder_edge edge = {
        .from = making->names[from],
        .to = making->names[to],
        .cost = NAN,
        .bytes = bytes,
        .passing = passing,
    };
    return yk_graph_builder_add_edge(making->builder, &edge);
}

static yk_status join_micro_batch(const struct making *making, int32_t m)
{
    const struct yk_step_graph *step = making->step;
    const struct yk_model *model = making->models[m];
    const int32_t *forward = &step->forward[(int64_t)m * step->layer_count];
    const int32_t *backward = &step->backward[(int64_t)m * step->layer_count];
    for (int32_t e = 0; e < model->edge_count; e++) {
        const struct yk_layer_edge *edge = &model->edges[e];
        const double bytes = (double)edge->bytes;
        YK_TRY(join(making, forward[edge->from], forward[edge->to], bytes, false));
        YK_TRY(join(making, backward[edge->to], backward[edge->from], bytes, false));
    }
    for (int32_t l = 0; l < step->layer_count; l++) {
        const struct yk_layer *layer = &model->layers[l];
        /* Between a device and the one that updates the layer: the gradient, and the new weights
         * back. Both are part of the layer's state in memory. */
        const double exchanged = 2 * (double)layer->trainable *
                                 (double)yk_precision_bytes(step->spec.workload.precision);
        const int32_t leader = yk_model_weight_owner(step->model, l);
        YK_TRY(join(making, forward[l], backward[l], (double)layer->saved_bytes, false));
        YK_TRY(join(making, backward[l], step->update[l], exchanged, true));
        if (leader != l) {
            YK_TRY(join(making, backward[l], step->update[leader], 0, true));
        }
    }
    return YK_OK;
}

static yk_status make_graph(struct making *making)
{
    YK_TRY(describe_models(making));
    YK_TRY(allocate_arrays(making));
    YK_TRY(yk_graph_builder_create(&making->builder));
    YK_TRY(add_devices(making));
    YK_TRY(add_tasks(making));
    YK_TRY(add_state(making));
    for (int32_t m = 0; m < making->step->micro_batch_count; m++) {
        YK_TRY(join_micro_batch(making, m));
    }
    return yk_graph_builder_finish(making->builder, &making->step->graph);
}

yk_status yk_step_graph_create(const struct yk_step_graph_spec *spec, struct yk_step_graph **out)
{
    struct yk_step_graph *step = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(step);
    step->spec = *spec;
    step->micro_batch_count = spec->micro_batches;
    struct making making = {.step = step};
    const yk_status status = make_graph(&making);
    yk_graph_builder_destroy(making.builder);
    YK_TRY_OR_CLEAN_UP(status, yk_step_graph_destroy(step));
    *out = step;
    return YK_OK;
}

void yk_step_graph_destroy(struct yk_step_graph *step)
{
    if (step) {
        yk_graph_destroy(step->graph);
        yk_arena_destroy(step->arena);
    }
}

void yk_step_graph_fill_task_devices(const struct yk_step_graph *step, const int32_t *layer_devices,
                                     int32_t *task_devices)
{
    for (int32_t i = 0; i < step->graph->task_count; i++) {
        const struct yk_step_graph_task *task = &step->tasks[i];
        const int32_t layer = yk_model_weight_owner(step->model, task->layer);
        task_devices[i] = layer_devices[(int64_t)task->micro_batch * step->layer_count + layer];
    }
}
