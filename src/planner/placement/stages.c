#include "planner/placement/placement_search.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STATES = 20000 /* combinations of numbers of devices of each kind */
};

/* The objective: with many micro-batches the slowest stage dominates, with one the sum. */
enum goal {
    GOAL_SLOWEST,
    GOAL_SUM,
    GOAL_COUNT,
};

/* Micro-batches in flight in a stage: as many as stages from it on, which is fastest, or one, which
 * needs least memory. */
enum flight {
    FLIGHT_FULL,
    FLIGHT_ONE,
    FLIGHT_COUNT,
};

struct kind {
    int32_t device; /* the first of its kind */
    int32_t count;  /* how many may be used */
    int32_t stride; /* weight of its digit in the number of a state */
    double room_bytes;
};

struct cell {
    double value;     /* objective of the remaining layers; INFINITY means: impossible */
    double slowest_s; /* time of the slowest stage */
    double sum_s;
    int32_t end;  /* of the first stage */
    int32_t kind; /* of its device */
};

struct search {
    const struct yk_step_graph *step;
    const struct yk_deadline *deadline;
    struct yk_arena *arena;
    int32_t kind_count;
    int32_t state_count;
    struct kind *kinds;
    int32_t *kind_of;   /* (P) */
    int32_t *used;      /* (states) devices that a state uses */
    double *times;      /* (kinds, L + 1) prefix sums of layer times */
    double *state_sums; /* (L + 1) prefix sums of state bytes */
    double *saved_sums; /* (L + 1) prefix sums of bytes saved for one micro-batch */
    double *workspace;  /* (L) */
    int32_t *leaders;   /* (L + 1) number of layers before that own their weights */
    struct cell *cells; /* (states, L + 1) */
};

bool yk_pipeline_stages_devices_are_equal(const struct yk_step_graph *step, int32_t a, int32_t b)
{
    const struct yk_graph *graph = step->graph;
    if (graph->devices[a].memory_bytes != graph->devices[b].memory_bytes) {
        return false;
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (yk_graph_task_cost(graph, i, a) != yk_graph_task_cost(graph, i, b)) {
            return false;
        }
    }
    return true;
}

static yk_status sort_devices(struct search *search)
{
    const int32_t P = search->step->graph->device_count;
    YK_TRY_NEW(search->arena, search->kinds, P);
    YK_TRY_NEW(search->arena, search->kind_of, P);
    for (int32_t p = 0; p < P; p++) {
        int32_t k = 0;
        while (k < search->kind_count &&
               !yk_pipeline_stages_devices_are_equal(search->step, search->kinds[k].device, p)) {
            k++;
        }
        if (k == search->kind_count) {
            search->kinds[search->kind_count++] = (struct kind){
                .device = p,
                .room_bytes = (double)search->step->graph->devices[p].memory_bytes,
            };
        }
        search->kinds[k].count++;
        search->kind_of[p] = k;
    }
    return YK_OK;
}

/* The kind to use one device less of: the most frequent, then the slowest. */
static struct kind *min_needed(const struct search *search)
{
    const int32_t L = search->step->layer_count;
    struct kind *worst = &search->kinds[0];
    for (int32_t k = 1; k < search->kind_count; k++) {
        struct kind *kind = &search->kinds[k];
        const double *times = &search->times[(int64_t)k * (L + 1)];
        const double *worst_times = &search->times[(worst - search->kinds) * (L + 1)];
        if (kind->count > worst->count ||
            (kind->count == worst->count && times[L] > worst_times[L])) {
            worst = kind;
        }
    }
    return worst;
}

/* Numbers the states. If there are too many, fewer devices are used. */
static void number_states(struct search *search)
{
    double states = INFINITY;
    while (states > MAX_STATES) {
        states = 1;
        for (int32_t k = 0; k < search->kind_count; k++) {
            states *= search->kinds[k].count + 1;
        }
        if (states > MAX_STATES) {
            min_needed(search)->count--;
        }
    }
    search->state_count = 1;
    for (int32_t k = 0; k < search->kind_count; k++) {
        search->kinds[k].stride = search->state_count;
        search->state_count *= search->kinds[k].count + 1;
    }
}

static int32_t digit(const struct search *search, int32_t state, int32_t kind)
{
    return state / search->kinds[kind].stride % (search->kinds[kind].count + 1);
}

/* Seconds of the layer's forward and backward for the first micro-batch. */
static double layer_s(const struct yk_step_graph *step, int32_t layer, int32_t device)
{
    const struct yk_graph *graph = step->graph;
    double seconds =
        yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, step->forward[layer], device));
    if (step->backward[layer] != YK_STEP_GRAPH_NO_TASK) {
        seconds +=
            yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, step->backward[layer], device));
    }
    return seconds;
}

/* Computes prefix sums over layers; a layer counts where the owner of its weights is. */
static yk_status add_up(struct search *search)
{
    const struct yk_step_graph *step = search->step;
    const int32_t L = step->layer_count;
    YK_TRY_NEW(search->arena, search->times, (int64_t)search->kind_count * (L + 1));
    YK_TRY_NEW(search->arena, search->state_sums, L + 1);
    YK_TRY_NEW(search->arena, search->saved_sums, L + 1);
    YK_TRY_NEW(search->arena, search->workspace, L);
    YK_TRY_NEW(search->arena, search->leaders, L + 1);
    for (int32_t l = 0; l < L; l++) {
        const struct yk_layer *layer = &step->model->layers[l];
        const int32_t leader = yk_model_weight_owner(step->model, l);
        search->leaders[l + 1] = search->leaders[l] + (leader == l ? 1 : 0);
        search->state_sums[leader + 1] += yk_cost_layer_state_bytes(step->model, layer);
        search->saved_sums[leader + 1] += (double)layer->saved_bytes;
        search->workspace[leader] = fmax(search->workspace[leader], (double)layer->workspace_bytes);
        for (int32_t k = 0; k < search->kind_count; k++) {
            search->times[k * (L + 1) + leader + 1] += layer_s(step, l, search->kinds[k].device);
        }
    }
    for (int32_t l = 0; l < L; l++) {
        search->state_sums[l + 1] += search->state_sums[l];
        search->saved_sums[l + 1] += search->saved_sums[l];
        for (int32_t k = 0; k < search->kind_count; k++) {
            search->times[k * (L + 1) + l + 1] += search->times[k * (L + 1) + l];
        }
    }
    return YK_OK;
}

/* The best first stage that begins at `layer`; all smaller states must be done. */
static struct cell best_cut(const struct search *search, enum goal goal, enum flight flight,
                            int32_t state, int32_t layer)
{
    const int32_t L = search->step->layer_count;
    const int32_t M = search->step->micro_batch_count;
    const int32_t stages = search->used[state];
    const double in_flight = flight == FLIGHT_ONE ? 1 : (stages < M ? stages : M);
    struct cell best = {.value = INFINITY};
    for (int32_t k = 0; k < search->kind_count; k++) {
        if (digit(search, state, k) == 0) {
            continue;
        }
        const struct cell *rest =
            &search->cells[(int64_t)(state - search->kinds[k].stride) * (L + 1)];
        const double *times = &search->times[(int64_t)k * (L + 1)];
        double workspace = 0;
        for (int32_t end = layer + 1; end <= L; end++) {
            workspace = fmax(workspace, search->workspace[end - 1]);
            const double bytes = search->state_sums[end] - search->state_sums[layer] + workspace +
                                 in_flight * (search->saved_sums[end] - search->saved_sums[layer]);
            if (bytes > search->kinds[k].room_bytes) {
                break;
            }
            if (search->leaders[end] == search->leaders[layer]) {
                continue; /* all weights are owned elsewhere, so the device would be unused */
            }
            const double seconds = times[end] - times[layer];
            const struct cell cut = {
                .slowest_s = fmax(seconds, rest[end].slowest_s),
                .sum_s = seconds + rest[end].sum_s,
                .value = fmax(goal == GOAL_SUM ? seconds + rest[end].sum_s
                                               : fmax(seconds, rest[end].slowest_s),
                              isinf(rest[end].value) ? INFINITY : 0),
                .end = end,
                .kind = k,
            };
            const bool better =
                cut.value < best.value || (cut.value == best.value && cut.sum_s < best.sum_s);
            best = better ? cut : best;
        }
    }
    return best;
}

/* Returns the number of states that are done before the deadline. */
static int32_t fill_cells(struct search *search, enum goal goal, enum flight flight)
{
    const int32_t L = search->step->layer_count;
    int32_t state = 0;
    for (; state < search->state_count && !yk_deadline_has_passed(search->deadline); state++) {
        struct cell *row = &search->cells[(int64_t)state * (L + 1)];
        row[L] = (struct cell){.value = state == 0 ? 0 : INFINITY};
        for (int32_t l = L - 1; l >= 0; l--) {
            row[l] = state == 0 ? (struct cell){.value = INFINITY}
                                : best_cut(search, goal, flight, state, l);
        }
    }
    return state;
}

/* A cut with its estimated step time. */
struct proposal {
    double estimate_s;
    int32_t state;
    int32_t used;     /* devices */
    int32_t *devices; /* (L) NULL if it is not promising */
};

static int by_estimate(const void *left, const void *right)
{
    const struct proposal *a = left;
    const struct proposal *b = right;
    return (a->estimate_s > b->estimate_s) - (a->estimate_s < b->estimate_s);
}

/* The unused device of a kind with the fastest link to `previous`, which may be -1. */
static int32_t choose_device(const struct search *search, int32_t kind, int32_t previous,
                             const bool *used)
{
    const int64_t P = search->step->graph->device_count;
    int32_t chosen = -1;
    double fastest = -1;
    for (int32_t p = 0; p < P; p++) {
        const double speed =
            previous < 0 || previous == p ? 0 : search->step->links[previous * P + p].bytes_per_s;
        if (!used[p] && search->kind_of[p] == kind && speed > fastest) {
            chosen = p;
            fastest = speed;
        }
    }
    return chosen;
}

/* Reconstructs the cut of a proposal. */
static yk_status write_down(const struct search *search, struct proposal *proposal)
{
    const struct yk_step_graph *step = search->step;
    const int32_t L = step->layer_count;
    bool used[YK_GRAPH_MAX_DEVICES] = {false};
    int32_t *devices = NULL;
    int32_t state = proposal->state;
    int32_t device = -1;
    YK_TRY_NEW(search->arena, devices, L);
    for (int32_t layer = 0; layer < L;) {
        const struct cell *cell = &search->cells[(int64_t)state * (L + 1) + layer];
        device = choose_device(search, cell->kind, device, used);
        used[device] = true;
        yk_number_fill_int32_array(&devices[layer], cell->end - layer, device);
        layer = cell->end;
        state -= search->kinds[cell->kind].stride;
    }
    for (int32_t l = 0; l < L; l++) {
        devices[l] = devices[yk_model_weight_owner(step->model, l)];
    }
    proposal->devices = devices;
    return YK_OK;
}

/* Whether a proposal before proposal i has the same devices. */
static bool is_repeated(const struct proposal *proposals, int32_t i, int32_t layers)
{
    for (int32_t j = 0; j < i; j++) {
        if (proposals[j].devices && memcmp(proposals[j].devices, proposals[i].devices,
                                           (size_t)layers * sizeof *proposals[i].devices) == 0) {
            return true;
        }
    }
    return false;
}

/* The first of those that use the most devices. */
static int32_t widest_of(const struct proposal *proposals, int32_t count)
{
    int32_t widest = 0;
    for (int32_t i = 1; i < count; i++) {
        widest = proposals[i].used > proposals[widest].used ? i : widest;
    }
    return widest;
}

/* Sorts the proposals of one table of cells, and reconstructs those that may be among the best
 * `max` of all tables, and the widest one. */
static yk_status sort(struct search *search, struct proposal *proposals, int32_t count, int32_t max)
{
    int32_t different = 0;
    qsort(proposals, (size_t)count, sizeof *proposals, by_estimate);
    for (int32_t i = 0; i < count && different <= max; i++) {
        YK_TRY(write_down(search, &proposals[i]));
        different += is_repeated(proposals, i, search->step->layer_count) ? 0 : 1;
    }
    const int32_t widest = widest_of(proposals, count);
    return count == 0 || proposals[widest].devices ? YK_OK : write_down(search, &proposals[widest]);
}

/* Adds the cuts of the first `states` states. */
static yk_status collect(struct search *search, enum flight flight, int32_t states, int32_t max,
                         struct proposal *proposals, int32_t *count)
{
    const int32_t first = *count;
    const int32_t L = search->step->layer_count;
    const int32_t M = search->step->micro_batch_count;
    for (int32_t state = 1; state < states; state++) {
        const struct cell *cell = &search->cells[(int64_t)state * (L + 1)];
        if (isinf(cell->value)) {
            continue;
        }
        proposals[(*count)++] = (struct proposal){
            .estimate_s =
                flight == FLIGHT_ONE ? M * cell->sum_s : (M - 1) * cell->slowest_s + cell->sum_s,
            .state = state,
            .used = search->used[state],
        };
    }
    return sort(search, &proposals[first], *count - first, max);
}

static yk_status prepare(struct search *search)
{
    YK_TRY(sort_devices(search));
    YK_TRY(add_up(search));
    number_states(search);
    YK_TRY_NEW(search->arena, search->used, search->state_count);
    YK_TRY_NEW(search->arena, search->cells,
               (int64_t)search->state_count * (search->step->layer_count + 1));
    for (int32_t state = 0; state < search->state_count; state++) {
        for (int32_t k = 0; k < search->kind_count; k++) {
            search->used[state] += digit(search, state, k);
        }
    }
    return YK_OK;
}

yk_status yk_pipeline_stages_propose_assignments(const struct yk_step_graph *step, int32_t max,
                                                 const struct yk_deadline *deadline,
                                                 struct yk_arena *arena,
                                                 struct yk_pipeline_stages_assignments *out)
{
    struct search search = {.step = step, .deadline = deadline, .arena = arena};
    struct proposal *proposals = NULL;
    int32_t count = 0;
    YK_TRY(prepare(&search));
    YK_TRY_NEW(arena, proposals, (int64_t)GOAL_COUNT * FLIGHT_COUNT * search.state_count);
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        for (int flight = 0; flight < FLIGHT_COUNT; flight++) {
            const int32_t states = fill_cells(&search, (enum goal)goal, (enum flight)flight);
            YK_TRY(collect(&search, (enum flight)flight, states, max, proposals, &count));
        }
    }
    qsort(proposals, (size_t)count, sizeof *proposals, by_estimate);
    const int32_t L = step->layer_count;
    struct yk_pipeline_stages_assignments list = {0};
    YK_TRY_NEW(arena, list.devices, (int64_t)max * L);
    /* The best proposal with the most devices is evaluated, too. */
    const int32_t widest = widest_of(proposals, count);
    if (widest >= max) {
        proposals[max - 1] = proposals[widest];
    }
    for (int32_t i = 0; i < count && list.count < max; i++) {
        if (proposals[i].devices && !is_repeated(proposals, i, L)) {
            memcpy(&list.devices[(int64_t)list.count++ * L], proposals[i].devices,
                   (size_t)L * sizeof(int32_t));
        }
    }
    *out = list;
    return YK_OK;
}
