#include "planner/placement/traffic.h"

#include <math.h>
#include <string.h>

struct ports {
    const struct yk_step_graph *step;
    double *out_s; /* (P) */
    double *in_s;  /* (P) */
};

static void carry(struct ports *ports, int32_t from, int32_t to, double bytes)
{
    if (from != to && bytes > 0) {
        const int64_t P = ports->step->graph->device_count;
        const double seconds = bytes / ports->step->links[from * P + to].bytes_per_s;
        ports->out_s[from] += seconds;
        ports->in_s[to] += seconds;
    }
}

/* What is saved between the passes of a layer never travels: they are on one device. Gradients pass
 * without being held, and are counted once for all micro-batches below. */
static void carry_activations(struct ports *ports, const struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        carry(ports, schedule->devices[edge->from], schedule->devices[edge->to],
              (double)edge->resident_bytes);
    }
}

static void carry_gradients(struct ports *ports, const struct yk_step_graph *step,
                            const struct yk_schedule *schedule, int32_t layer, bool *holds)
{
    const int32_t update = step->update[layer];
    const int32_t P = step->graph->device_count;
    if (update == YK_STEP_GRAPH_NO_TASK) {
        return;
    }
    const double bytes = (double)step->model->layers[layer].trainable *
                         (double)yk_precision_bytes(step->spec.workload.precision);
    memset(holds, 0, (size_t)P * sizeof *holds);
    for (int32_t m = 0; m < step->micro_batch_count; m++) {
        holds[schedule->devices[step->forward[m * step->layer_count + layer]]] = true;
    }
    for (int32_t p = 0; p < P; p++) {
        if (holds[p]) {
            carry(ports, p, schedule->devices[update], bytes);
            carry(ports, schedule->devices[update], p, bytes);
        }
    }
}

yk_status yk_evaluate_traffic_s(const struct yk_step_graph *step,
                                const struct yk_schedule *schedule, double *out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const size_t P = (size_t)step->graph->device_count;
    struct ports ports = {
        .step = step,
        .out_s = yk_arena_allocate(arena, P, sizeof *ports.out_s),
        .in_s = yk_arena_allocate(arena, P, sizeof *ports.in_s),
    };
    bool *holds = yk_arena_allocate(arena, P, sizeof *holds);
    if (!ports.out_s || !ports.in_s || !holds) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    carry_activations(&ports, schedule);
    for (int32_t l = 0; l < step->layer_count; l++) {
        carry_gradients(&ports, step, schedule, l, holds);
    }
    double busiest_s = 0;
    for (size_t p = 0; p < P; p++) {
        busiest_s = fmax(busiest_s, fmax(ports.out_s[p], ports.in_s[p]));
    }
    yk_arena_destroy(arena);
    *out = busiest_s;
    return YK_OK;
}

yk_status yk_evaluate_step_s(const struct yk_step_graph *step, const struct yk_schedule *schedule,
                             double *out)
{
    double busiest_s = 0;
    YK_TRY(yk_evaluate_traffic_s(step, schedule, &busiest_s));
    *out = fmax(busiest_s, yk_graph_time(step->graph, schedule->makespan));
    return YK_OK;
}
