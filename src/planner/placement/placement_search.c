#include "planner/placement/placement_search.h"

#include "base/number.h"
#include "planner/placement/evaluate.h"
#include "sched/assignment.h"
#include "sched/scheduler.h"

#include <math.h>

enum {
    MIN_CUTS = 4,
    MAX_CUTS = 24,
    MAX_EVALUATED = 200000, /* tasks of all cuts together */
    MAX_LOOKAHEAD = 50000,  /* tasks · devices */
    MAX_REFINED = 4000,     /* tasks · devices */
    MAX_DESCENTS = 6,
};

yk_status yk_placement_search_create(const struct yk_step_graph *step,
                                     const struct yk_deadline *deadline,
                                     struct yk_placement_search *out)
{
    struct yk_placement_search candidates = {
        .step = step, .step_s = INFINITY, .on_all_s = INFINITY, .deadline = deadline};
    yk_status status = yk_schedule_create(step->graph, &candidates.best);
    YK_IF_OK(yk_schedule_create(step->graph, &candidates.trial));
    YK_TRY_OR_CLEAN_UP(status, yk_placement_search_free(&candidates));
    *out = candidates;
    return YK_OK;
}

void yk_placement_search_free(struct yk_placement_search *candidates)
{
    yk_schedule_destroy(candidates->best);
    yk_schedule_destroy(candidates->trial);
    *candidates = (struct yk_placement_search){0};
}

static bool is_over(const struct yk_placement_search *candidates)
{
    return candidates->trials > 0 && yk_deadline_has_passed(candidates->deadline);
}

static void consider(struct yk_placement_search *candidates, const struct yk_schedule *schedule,
                     const struct yk_placement_memory_fit *fit)
{
    const double step_s = yk_placement_evaluate_step_s(candidates->step, schedule);
    candidates->trials++;
    candidates->considered_s = step_s;
    candidates->considered_fits = fit->fits;
    if (isinf(candidates->step_s) ||
        yk_placement_fits_better_or_is_faster(fit, step_s, &candidates->fit, candidates->step_s)) {
        yk_schedule_copy(schedule, candidates->best);
        candidates->fit = *fit;
        candidates->step_s = step_s;
    }
    if (fit->fits && step_s < candidates->on_all_s &&
        yk_schedule_count_used_devices(schedule) == candidates->step->graph->device_count) {
        candidates->on_all_s = step_s;
    }
}

yk_status yk_placement_search_try_schedule(struct yk_placement_search *candidates,
                                           const struct yk_schedule *schedule)
{
    struct yk_placement_memory_fit fit;
    YK_TRY(yk_placement_evaluate_memory_fit(schedule, &fit));
    consider(candidates, schedule, &fit);
    return YK_OK;
}

static yk_status consider_map(struct yk_placement_search *candidates, const int32_t *devices)
{
    struct yk_placement_memory_fit fit;
    YK_TRY(yk_placement_evaluate_device_map(candidates->step, devices, candidates->trial, &fit));
    consider(candidates, candidates->trial, &fit);
    return YK_OK;
}

static bool is_first_of_its_kind(const struct yk_step_graph *step, int32_t device)
{
    for (int32_t p = 0; p < device; p++) {
        if (yk_pipeline_stages_devices_are_equal(step, p, device)) {
            return false;
        }
    }
    return true;
}

static int32_t max_cuts(const struct yk_step_graph *step)
{
    const int32_t affordable = MAX_EVALUATED / step->graph->task_count;
    return affordable < MIN_CUTS ? MIN_CUTS : affordable < MAX_CUTS ? affordable : MAX_CUTS;
}

static int64_t micro_batch_ticks(const struct yk_step_graph *step, int32_t micro_batch,
                                 int32_t device)
{
    int64_t ticks = 0;
    for (int32_t l = 0; l < step->layer_count; l++) {
        const int32_t cell = micro_batch * step->layer_count + l;
        ticks += yk_graph_task_cost(step->graph, step->forward[cell], device);
        if (step->backward[cell] != YK_STEP_GRAPH_NO_TASK) {
            ticks += yk_graph_task_cost(step->graph, step->backward[cell], device);
        }
    }
    return ticks;
}

static bool holds_all_weights(const struct yk_step_graph *step, int32_t device)
{
    int64_t bytes = 0;
    for (int32_t s = 0; s < step->graph->store_count; s++) {
        bytes += step->graph->shared_stores[s].bytes;
    }
    return bytes <= step->graph->devices[device].memory_bytes;
}

/* Replicas: whole micro-batches on devices that hold the whole model, each where it ends first. */
static yk_status consider_copies(struct yk_placement_search *candidates, struct yk_arena *arena)
{
    const struct yk_step_graph *step = candidates->step;
    const int32_t L = step->layer_count;
    int32_t *devices = NULL;
    int64_t *busy = NULL;
    YK_TRY_NEW(arena, devices, (int64_t)step->micro_batch_count * L);
    YK_TRY_NEW(arena, busy, step->graph->device_count);
    for (int32_t m = 0; m < step->micro_batch_count; m++) {
        int32_t first = -1;
        int64_t first_end = INT64_MAX;
        for (int32_t p = 0; p < step->graph->device_count; p++) {
            const int64_t end = busy[p] + micro_batch_ticks(step, m, p);
            if (holds_all_weights(step, p) && end < first_end) {
                first = p;
                first_end = end;
            }
        }
        if (first < 0) {
            return YK_OK;
        }
        busy[first] = first_end;
        yk_number_fill_int32_array(&devices[(int64_t)m * L], L, first);
    }
    return consider_map(candidates, devices);
}

static yk_status consider_schedulers(struct yk_placement_search *candidates)
{
    static const struct yk_scheduler *const quick[] = {&yk_scheduler_heft, &yk_scheduler_lookahead,
                                                       &yk_scheduler_heft_memory};
    const struct yk_scheduler_options options = {0};
    const struct yk_graph *graph = candidates->step->graph;
    const int64_t size = (int64_t)graph->task_count * graph->device_count;
    for (size_t i = 0; i < sizeof quick / sizeof quick[0] && !is_over(candidates); i++) {
        if (quick[i] == &yk_scheduler_lookahead && size > MAX_LOOKAHEAD) {
            continue; /* too slow */
        }
        const yk_status status = quick[i]->run(quick[i], &options, candidates->trial);
        if (status == YK_OK) {
            YK_TRY(yk_placement_search_try_schedule(candidates, candidates->trial));
        } else if (status != YK_ERROR_NO_FIT) {
            return status;
        }
    }
    return YK_OK;
}

yk_status yk_placement_search_try_divided_maps(struct yk_placement_search *candidates)
{
    if (candidates->step->micro_batch_count > 1) {
        YK_TRY_WITH_TEMPORARY_ARENA(arena, consider_copies(candidates, arena));
    }
    return consider_schedulers(candidates);
}

/* A local search that moves layers across cuts. */
struct descent {
    struct yk_placement_search *candidates;
    int32_t *devices; /* (M, L) */
    double step_s;
    int32_t leader;    /* the best move: this layer, and those that share its weights, … */
    int32_t device;    /* … to this device; -1 means: no move is better */
    int64_t allowance; /* tasks that may still be evaluated */
};

static void move_layer(const struct descent *descent, int32_t leader, int32_t device)
{
    const struct yk_step_graph *step = descent->candidates->step;
    const int32_t L = step->layer_count;
    for (int32_t k = 0; k < step->micro_batch_count * L; k++) {
        if (yk_model_weight_owner(step->model, k % L) == leader) {
            descent->devices[k] = device;
        }
    }
}

static yk_status try_move(struct descent *descent, int32_t leader, int32_t device)
{
    struct yk_placement_search *candidates = descent->candidates;
    const int32_t before = descent->devices[leader];
    move_layer(descent, leader, device);
    YK_TRY(consider_map(candidates, descent->devices));
    move_layer(descent, leader, before);
    descent->allowance -= candidates->step->graph->task_count;
    if (candidates->considered_fits && candidates->considered_s < descent->step_s) {
        descent->step_s = candidates->considered_s;
        descent->leader = leader;
        descent->device = device;
    }
    return YK_OK;
}

static bool may_go_on(const struct descent *descent)
{
    return descent->allowance > 0 && !is_over(descent->candidates);
}

/* Applies the best move of one layer across a cut, until none is better. */
static yk_status go_down(struct descent *descent)
{
    const struct yk_step_graph *step = descent->candidates->step;
    do {
        descent->device = -1;
        for (int32_t l = 0; l + 1 < step->layer_count && may_go_on(descent); l++) {
            const int32_t here = yk_model_weight_owner(step->model, l);
            const int32_t next = yk_model_weight_owner(step->model, l + 1);
            if (descent->devices[here] != descent->devices[next]) {
                YK_TRY(try_move(descent, here, descent->devices[next]));
                YK_TRY(try_move(descent, next, descent->devices[here]));
            }
        }
        if (descent->device >= 0) {
            move_layer(descent, descent->leader, descent->device);
        }
    } while (descent->device >= 0 && may_go_on(descent));
    return YK_OK;
}

static yk_status refine(struct yk_placement_search *candidates, struct yk_arena *arena)
{
    const struct yk_step_graph *step = candidates->step;
    const int32_t cells = step->micro_batch_count * step->layer_count;
    struct descent descent = {
        .candidates = candidates,
        .step_s = candidates->step_s,
        .allowance = 10 * (int64_t)MAX_EVALUATED,
    };
    YK_TRY_NEW(arena, descent.devices, cells);
    for (int32_t i = 0; i < cells; i++) {
        descent.devices[i] = candidates->best->devices[step->forward[i]];
    }
    return go_down(&descent);
}

yk_status yk_placement_search_refine_stage_cuts(struct yk_placement_search *candidates)
{
    if (candidates->fit.fits) {
        YK_TRY_WITH_TEMPORARY_ARENA(arena, refine(candidates, arena));
    }
    return YK_OK;
}

/* Every micro-batch goes through the same stages. */
static yk_status consider_stages(struct yk_placement_search *candidates, struct yk_arena *arena)
{
    const struct yk_step_graph *step = candidates->step;
    const int32_t L = step->layer_count;
    const int32_t M = step->micro_batch_count;
    /* In a small step, the first few cuts are improved by local search. */
    const int64_t size = (int64_t)step->graph->task_count * step->graph->device_count;
    const int32_t refined = size <= MAX_REFINED ? MAX_DESCENTS : 0;
    struct yk_pipeline_stages_assignments cuts = {0};
    int32_t *devices = NULL;
    YK_TRY(yk_pipeline_stages_propose_assignments(step, max_cuts(step), candidates->deadline, arena,
                                                  &cuts));
    YK_TRY_NEW(arena, devices, (int64_t)M * L);
    for (int32_t i = 0; i < cuts.count && !is_over(candidates); i++) {
        for (int32_t k = 0; k < M * L; k++) {
            devices[k] = cuts.devices[(int64_t)i * L + k % L];
        }
        YK_TRY(consider_map(candidates, devices));
        if (i < refined) {
            struct descent descent = {
                .candidates = candidates,
                .devices = devices,
                .step_s = candidates->considered_s,
                .allowance = MAX_EVALUATED,
            };
            YK_TRY(go_down(&descent));
        }
    }
    for (int32_t p = 0; p < step->graph->device_count && !is_over(candidates); p++) {
        yk_number_fill_int32_array(devices, (int64_t)M * L, p);
        if (is_first_of_its_kind(step, p)) {
            YK_TRY(consider_map(candidates, devices));
        }
    }
    return YK_OK;
}

yk_status yk_placement_search_try_undivided_maps(struct yk_placement_search *candidates)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, consider_stages(candidates, arena));
    return YK_OK;
}

yk_status yk_placement_search_make_subcluster(const struct yk_cost_sources *whole,
                                              const int32_t *numbers, int32_t count,
                                              struct yk_arena *arena,
                                              struct yk_placement_search_subcluster *out)
{
    struct yk_device_measurements *measurements = NULL;
    YK_TRY_NEW(arena, out->devices, count);
    YK_TRY_NEW(arena, measurements, count);
    YK_TRY_NEW(arena, out->links, (int64_t)count * count);
    for (int32_t p = 0; p < count; p++) {
        out->devices[p] = whole->cluster->devices[numbers[p]];
        measurements[p] = yk_device_measurements_of_device(whole->measurements, numbers[p]);
        for (int32_t q = 0; q < count; q++) {
            out->links[(int64_t)p * count + q] =
                *yk_cluster_link_between(whole->cluster, numbers[p], numbers[q]);
        }
    }
    out->cluster = *whole->cluster;
    out->cluster.devices = out->devices;
    out->cluster.links = out->links;
    out->cluster.device_count = count;
    out->sources = *whole;
    out->sources.cluster = &out->cluster;
    out->sources.measurements = measurements;
    return YK_OK;
}

/* Considers a schedule for the devices `numbers` on the whole cluster. Tasks have the same numbers.
 */
static yk_status translate(const struct yk_schedule *schedule, const int32_t *numbers,
                           struct yk_arena *arena, struct yk_placement_search *candidates)
{
    const int32_t n = schedule->graph->task_count;
    int32_t *devices = NULL;
    int64_t *priorities = NULL;
    YK_TRY_NEW(arena, devices, n);
    YK_TRY_NEW(arena, priorities, n);
    for (int32_t k = 0; k < n; k++) {
        const int32_t task = schedule->order[k];
        devices[task] = numbers[schedule->devices[task]];
        priorities[task] = n - k;
    }
    const struct yk_assignment assignment = {.devices = devices, .priorities = priorities};
    YK_TRY(yk_assignment_make_schedule(&assignment, candidates->trial));
    return yk_placement_search_try_schedule(candidates, candidates->trial);
}

/* Lists the devices of a node; returns their number. */
static int32_t list_node(const struct yk_cluster *cluster, int32_t node, int32_t *numbers)
{
    int32_t count = 0;
    for (int32_t p = 0; p < cluster->device_count; p++) {
        if (cluster->devices[p].node == node) {
            numbers[count++] = p;
        }
    }
    return count;
}

/* Whether an earlier node has the same devices. */
static bool is_repeated(const struct yk_step_graph *step, int32_t node, const int32_t *numbers,
                        int32_t count, int32_t *room)
{
    const struct yk_cluster *cluster = step->spec.cost_sources->cluster;
    for (int32_t other = 0; other < node; other++) {
        bool alike = list_node(cluster, other, room) == count;
        for (int32_t p = 0; alike && p < count; p++) {
            alike = yk_pipeline_stages_devices_are_equal(step, room[p], numbers[p]);
        }
        if (alike) {
            return true;
        }
    }
    return false;
}

static yk_status consider_node(struct yk_placement_search *candidates, int32_t node,
                               struct yk_arena *arena)
{
    struct yk_placement_search_subcluster selected;
    struct yk_step_graph_spec spec = candidates->step->spec;
    const struct yk_cluster *cluster = spec.cost_sources->cluster;
    struct yk_step_graph *step = NULL;
    struct yk_placement_search own = {0};
    int32_t *numbers = NULL;
    int32_t *room = NULL;
    YK_TRY_NEW(arena, numbers, cluster->device_count);
    YK_TRY_NEW(arena, room, cluster->device_count);
    const int32_t count = list_node(cluster, node, numbers);
    if (count < 2 || is_repeated(candidates->step, node, numbers, count, room)) {
        return YK_OK;
    }
    YK_TRY(
        yk_placement_search_make_subcluster(spec.cost_sources, numbers, count, arena, &selected));
    spec.cost_sources = &selected.sources;
    YK_TRY(yk_step_graph_create(&spec, &step));
    yk_status status = yk_placement_search_create(step, candidates->deadline, &own);
    YK_IF_OK(yk_placement_search_try_undivided_maps(&own));
    YK_IF_OK(yk_placement_search_try_divided_maps(&own));
    candidates->trials += own.trials;
    if (status == YK_OK && isfinite(own.step_s)) {
        status = translate(own.best, numbers, arena, candidates);
    }
    yk_placement_search_free(&own);
    yk_step_graph_destroy(step);
    return status;
}

yk_status yk_placement_search_try_single_nodes(struct yk_placement_search *candidates)
{
    const struct yk_cluster *cluster = candidates->step->spec.cost_sources->cluster;
    for (int32_t node = 0; cluster->node_count > 1 && node < cluster->node_count &&
                           !yk_deadline_has_passed(candidates->deadline);
         node++) {
        YK_TRY_WITH_TEMPORARY_ARENA(arena, consider_node(candidates, node, arena));
    }
    return YK_OK;
}
