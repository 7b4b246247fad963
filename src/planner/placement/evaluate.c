#include "planner/placement/evaluate.h"

#include "sched/assignment.h"
#include "sched/schedule.h"
#include "sched/timeline/group_placement.h"

#include <math.h>
#include <string.h>

yk_status yk_placement_evaluate_memory_fit(const struct yk_schedule *schedule,
                                           struct yk_placement_memory_fit *out)
{
    const struct yk_graph *graph = schedule->graph;
    struct yk_placement_memory_fit report = {.fits = true};
    int64_t peaks[YK_GRAPH_MAX_DEVICES];
    YK_TRY(yk_schedule_compute_memory_peaks(schedule, peaks));
    for (int32_t p = 0; p < graph->device_count; p++) {
        const int64_t missing = peaks[p] - graph->devices[p].memory_bytes;
        if (missing > report.missing_bytes) {
            report = (struct yk_placement_memory_fit){false, p, missing};
        }
    }
    *out = report;
    return YK_OK;
}

struct trials {
    const struct yk_step_graph *step;
    struct yk_schedule *trial;
    struct yk_schedule *best;
    struct yk_placement_memory_fit best_fit;
    bool found;
    int32_t *task_devices; /* (n) */
    int64_t *priorities;   /* (n) backward before forward, then earlier micro-batches */
    int32_t *gates;        /* (n) */
    struct yk_group_placement groups;
};

/* The number of devices that the map uses. */
static int32_t count_devices(const struct yk_step_graph *step, const int32_t *devices)
{
    bool used[YK_GRAPH_MAX_DEVICES] = {false};
    int32_t count = 0;
    for (int32_t i = 0; i < step->micro_batch_count * step->layer_count; i++) {
        count += used[devices[i]] ? 0 : 1;
        used[devices[i]] = true;
    }
    return count;
}

static void set_priorities(struct trials *trials)
{
    const struct yk_step_graph *step = trials->step;
    const int64_t M = step->micro_batch_count;
    for (int32_t i = 0; i < step->graph->task_count; i++) {
        const struct yk_step_graph_task *task = &step->tasks[i];
        trials->priorities[i] = task->pass == YK_COST_PASS_UPDATE    ? 0
                                : task->pass == YK_COST_PASS_FORWARD ? M - task->micro_batch
                                                                     : 2 * M - task->micro_batch;
    }
}

/* The last task of a micro-batch: backward of the first layer that has one. */
static int32_t last_task(const struct yk_step_graph *step, int32_t micro_batch)
{
    for (int32_t l = 0; l < step->layer_count; l++) {
        const int32_t task = step->backward[micro_batch * step->layer_count + l];
        if (task != YK_STEP_GRAPH_NO_TASK) {
            return task;
        }
    }
    return step->forward[(micro_batch + 1) * step->layer_count - 1];
}

/* A micro-batch may begin when the one `in_flight` before it has ended. */
static void set_gates(struct trials *trials, int32_t in_flight)
{
    const struct yk_step_graph *step = trials->step;
    const struct yk_graph *graph = step->graph;
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t earlier = step->tasks[i].micro_batch - in_flight;
        const bool begins = graph->in_first[i + 1] == graph->in_first[i];
        trials->gates[i] =
            begins && earlier >= 0 ? last_task(step, earlier) : YK_ASSIGNMENT_NO_PREDECESSOR;
    }
}

static yk_status try_order(struct trials *trials, const int64_t *priorities, int32_t in_flight)
{
    struct yk_placement_memory_fit fit = {0};
    set_gates(trials, in_flight);
    const struct yk_assignment assignment = {trials->task_devices, priorities, trials->gates};
    YK_TRY(yk_assignment_make_schedule(&assignment, trials->trial));
    if (trials->best_fit.fits && trials->trial->makespan >= trials->best->makespan) {
        return YK_OK; /* counting memory is slow, and it cannot be the best */
    }
    YK_TRY(yk_placement_evaluate_memory_fit(trials->trial, &fit));
    if (!trials->found ||
        yk_placement_fits_better_or_is_faster(&fit, (double)trials->trial->makespan,
                                              &trials->best_fit, (double)trials->best->makespan)) {
        yk_schedule_copy(trials->trial, trials->best);
        trials->best_fit = fit;
        trials->found = true;
    }
    return YK_OK;
}

/*
 * A pipeline needs about as many micro-batches in flight as it has stages; more only use memory. If
 * all micro-batches at once do not fit, the largest number that fits is found by bisection.
 */
static yk_status try_fewer_in_flight(struct trials *trials, int32_t stages)
{
    const int32_t M = trials->step->micro_batch_count;
    if (trials->best_fit.fits) {
        for (int32_t in_flight = stages; in_flight <= stages + 1 && in_flight < M; in_flight++) {
            YK_TRY(try_order(trials, trials->priorities, in_flight));
        }
        return YK_OK;
    }
    int32_t few_enough = 0;
    int32_t too_many = stages + 2 < M ? stages + 2 : M;
    while (too_many - few_enough > 1) {
        const int32_t next = few_enough + (too_many - few_enough) / 2;
        const int64_t before = trials->best_fit.fits ? trials->best->makespan : INT64_MAX;
        YK_TRY(try_order(trials, trials->priorities, next));
        if (trials->best_fit.fits && trials->best->makespan < before) {
            few_enough = next;
        } else {
            too_many = next;
        }
    }
    return YK_OK;
}

/* Whether the weights alone fit; otherwise no order can fit. */
static bool holds_weights(const struct trials *trials)
{
    const struct yk_graph *graph = trials->step->graph;
    int64_t resident_bytes[YK_GRAPH_MAX_DEVICES] = {0};
    struct yk_group_placement groups = trials->groups;
    yk_group_placement_clear(&groups);
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t device = trials->task_devices[i];
        resident_bytes[device] += yk_group_placement_added_bytes(&groups, i, device);
        yk_group_placement_add_task(&groups, i, device);
        if (resident_bytes[device] > graph->devices[device].memory_bytes) {
            return false;
        }
    }
    return true;
}

static yk_status try_orders(struct trials *trials, const int32_t *devices, struct yk_arena *arena)
{
    const struct yk_step_graph *step = trials->step;
    const int32_t n = step->graph->task_count;
    const int32_t M = step->micro_batch_count;
    YK_TRY_NEW(arena, trials->task_devices, n);
    YK_TRY_NEW(arena, trials->priorities, n);
    YK_TRY_NEW(arena, trials->gates, n);
    YK_TRY(yk_group_placement_create(arena, step->graph, &trials->groups));
    yk_step_graph_fill_task_devices(step, devices, trials->task_devices);
    set_priorities(trials);
    YK_TRY(try_order(trials, NULL, M));
    if (!trials->best_fit.fits && !holds_weights(trials)) {
        return YK_OK;
    }
    YK_TRY(try_order(trials, trials->priorities, M));
    return M > 1 ? try_fewer_in_flight(trials, count_devices(step, devices)) : YK_OK;
}

yk_status yk_placement_evaluate_device_map(const struct yk_step_graph *step, const int32_t *devices,
                                           struct yk_schedule *schedule,
                                           struct yk_placement_memory_fit *out)
{
    struct trials trials = {.step = step, .best = schedule};
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_schedule_create(step->graph, &trials.trial);
    YK_IF_OK(try_orders(&trials, devices, arena));
    yk_schedule_destroy(trials.trial);
    yk_arena_destroy(arena);
    *out = trials.best_fit;
    return status;
}

struct ports {
    const struct yk_step_graph *step;
    double out_s[YK_GRAPH_MAX_DEVICES];
    double in_s[YK_GRAPH_MAX_DEVICES];
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

/* Saved activations stay on their device. Weight gradients have no resident bytes, and are counted
 * by carry_gradients(). */
static void carry_activations(struct ports *ports, const struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        carry(ports, schedule->devices[edge->from], schedule->devices[edge->to],
              (double)edge->resident_bytes);
    }
}

static void carry_gradients(struct ports *ports, const struct yk_schedule *schedule, int32_t layer)
{
    const struct yk_step_graph *step = ports->step;
    const int32_t update = step->update[layer];
    const int32_t P = step->graph->device_count;
    bool holds[YK_GRAPH_MAX_DEVICES];
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

double yk_placement_evaluate_busiest_port_s(const struct yk_step_graph *step,
                                            const struct yk_schedule *schedule)
{
    struct ports ports = {.step = step};
    double busiest_s = 0;
    carry_activations(&ports, schedule);
    for (int32_t l = 0; l < step->layer_count; l++) {
        carry_gradients(&ports, schedule, l);
    }
    for (int32_t p = 0; p < step->graph->device_count; p++) {
        busiest_s = fmax(busiest_s, fmax(ports.out_s[p], ports.in_s[p]));
    }
    return busiest_s;
}

double yk_placement_evaluate_step_s(const struct yk_step_graph *step,
                                    const struct yk_schedule *schedule)
{
    return fmax(yk_placement_evaluate_busiest_port_s(step, schedule),
                yk_graph_ticks_to_time(step->graph, schedule->makespan));
}
