#include "planner/order/transfer_order.h"

#include "base/random.h"
#include "planner/order/draft.h"

#include <math.h>
#include <string.h>

enum {
    MIN_TRIALS = 4,    /* sets of kept layers to try, whatever the number of layers */
    MORE_TRIALS = 500, /* divided by the number of layers, in addition */
    FEW_LAYERS = 16,   /* up to this many, the balancer is wide */
    GRID = 4,
    RANDOM_ATTEMPTS = 200, /* most of them do not fit */
    MAX_WORK = 300000,     /* of balancing all trials, and again of balancing the best */
    WORK_OF_SUM = 8,       /* layers summed per unit of work */
    WORK_OF_FIT = 256,     /* cells checked per unit of work */
};

/* Tries sets of kept layers and keeps the best order. */
struct search {
    const struct yk_transfer_order_problem *problem;
    struct yk_transfer_order_draft *state;
    struct yk_transfer_order_balancer *balancer;
    struct yk_transfer_order *best;
    double bound_s;
    double tolerance_s; /* smaller gains are ignored */
    int32_t trials;     /* left */
    int64_t work;       /* left */
    int32_t width;      /* of balancing */
    bool *kept;         /* (n) the set to try */
    double *min_bytes;  /* (slots) memory if all is on demand and no undecided layer is kept */
    double *more_bytes; /* (slots) memory of kept layers */
};

static bool is_open(const struct search *search, int32_t layer)
{
    return search->problem->layers[layer].choice == YK_TRANSFER_ORDER_UNDECIDED;
}

static bool is_done(const struct search *search)
{
    return search->trials <= 0 || search->work <= 0 ||
           search->best->step_s <= search->bound_s + search->tolerance_s;
}

/* Whether communication alone takes as long as the best step so far. */
static bool is_hopeless(const struct search *search)
{
    const struct yk_transfer_order_problem *problem = search->problem;
    double sum_s = 0;
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        sum_s += layer->choice == YK_TRANSFER_ORDER_NO_COMMUNICATION ? 0 : layer->scatter_s;
        sum_s += yk_transfer_order_sharding_reduce_scatters(layer->choice) ? layer->gather_s : 0;
        if (layer->choice == YK_TRANSFER_ORDER_FULLY_SHARDED ||
            (layer->choice == YK_TRANSFER_ORDER_UNDECIDED && !search->kept[i])) {
            sum_s += layer->gather_s;
        }
    }
    return sum_s >= search->best->step_s - search->tolerance_s;
}

/* Adds the layer to those kept, if memory suffices with everything else on demand. */
static bool admit(struct search *search, int32_t layer)
{
    const double weight_bytes = search->problem->layers[layer].weight_bytes;
    /* In the slot before its backward the layer is gathered anyway. */
    const int32_t end = yk_transfer_order_backward_slot(search->problem, layer) - 1;
    for (int32_t t = layer + 1; t < end; t++) {
        if (search->min_bytes[t] + search->more_bytes[t] + weight_bytes >
            search->state->limit_bytes[t]) {
            return false;
        }
    }
    for (int32_t t = layer + 1; t < end; t++) {
        search->more_bytes[t] += weight_bytes;
    }
    return true;
}

static void keep_best(struct search *search)
{
    search->state->order->step_s = yk_transfer_order_draft_step_s(search->state);
    yk_transfer_order_copy(search->problem, search->state->order, search->best);
}

/* Tries the set `kept`; true if its order is the best so far. */
static bool try_kept(struct search *search)
{
    const int64_t n = search->problem->layer_count;
    search->work -= 1 + n / WORK_OF_SUM;
    if (is_done(search) || is_hopeless(search)) {
        return false;
    }
    search->work -= n * search->state->slots / WORK_OF_FIT;
    memset(search->more_bytes, 0, (size_t)search->state->slots * sizeof *search->more_bytes);
    for (int32_t i = 0; i < search->problem->layer_count; i++) {
        if (search->kept[i] && !admit(search, i)) {
            return false;
        }
    }
    search->trials--;
    yk_transfer_order_draft_set_on_demand_order(search->state, search->kept);
    yk_transfer_order_balancer_run(search->balancer, search->state, search->width, &search->work);
    if (yk_transfer_order_draft_step_s(search->state) >=
        search->best->step_s - search->tolerance_s) {
        return false;
    }
    keep_best(search);
    return true;
}

/* Tries the first `count` of the layers in `sequence`. */
static void try_first(struct search *search, const int32_t *sequence, int32_t count)
{
    memset(search->kept, 0, (size_t)search->problem->layer_count * sizeof *search->kept);
    for (int32_t k = 0; k < count; k++) {
        search->kept[sequence[k]] = true;
    }
    (void)try_kept(search);
}

/*
 * Searches for the best number of layers to keep, in the order of `sequence`. Keeping more layers
 * means less to gather, but also less room for gathering early, so the optimum is in between.
 */
static void try_numbers(struct search *search, int32_t *sequence, int32_t count)
{
    int32_t fitting = 0;
    memset(search->more_bytes, 0, (size_t)search->state->slots * sizeof *search->more_bytes);
    for (int32_t k = 0; k < count; k++) {
        if (admit(search, sequence[k])) {
            sequence[fitting++] = sequence[k];
        }
    }
    int32_t best = fitting;
    int32_t stride = fitting;
    /* Halves the stride around the best number. */
    try_first(search, sequence, fitting);
    double best_s = search->best->step_s;
    while (stride > 1 && !is_done(search)) {
        const int32_t centre = best;
        stride = (stride + 1) / 2;
        for (int32_t k = centre - GRID / 2 * stride; k <= centre + GRID / 2 * stride; k += stride) {
            if (k >= 0 && k <= fitting && k != centre) {
                try_first(search, sequence, k);
                if (search->best->step_s < best_s) {
                    best_s = search->best->step_s;
                    best = k;
                }
            }
        }
    }
}

/* What makes a layer worth keeping. */
enum worth {
    WORTH_LAST,    /* last layers first, which are held for a short time */
    WORTH_DENSITY, /* seconds saved per byte */
    WORTH_SECONDS, /* seconds saved, so that large layers come first */
    WORTH_COUNT,
};

static double worth_of(const struct yk_transfer_order_layer *layer, enum worth worth)
{
    const double density = layer->gather_s / fmax(1e-9 * layer->gather_s, layer->weight_bytes);
    return worth == WORTH_DENSITY ? density : worth == WORTH_SECONDS ? layer->gather_s : 0;
}

/* Sorts the undecided layers by worth, the largest first; of equal ones the last layer first. */
static int32_t list_by_worth(const struct search *search, enum worth worth, int32_t *out)
{
    const struct yk_transfer_order_problem *problem = search->problem;
    int32_t count = 0;
    for (int32_t i = problem->layer_count - 1; i >= 0; i--) {
        const double own = worth_of(&problem->layers[i], worth);
        int32_t at = count;
        if (!is_open(search, i)) {
            continue;
        }
        /* Differences due to rounding do not count. */
        while (at > 0 && own > worth_of(&problem->layers[out[at - 1]], worth) * (1 + 1e-6)) {
            out[at] = out[at - 1];
            at--;
        }
        out[at] = i;
        count++;
    }
    return count;
}

/* Keeps one layer more or less than the best does, or one instead of another. */
static bool try_neighbours(struct search *search)
{
    const int32_t n = search->problem->layer_count;
    const size_t size = (size_t)n * sizeof *search->kept;
    for (int32_t i = n - 1; i >= 0; i--) {
        if (is_open(search, i)) {
            memcpy(search->kept, search->best->kept, size);
            search->kept[i] = !search->kept[i];
            if (try_kept(search)) {
                return true;
            }
        }
    }
    for (int32_t i = n - 1; i >= 0 && !is_done(search); i--) {
        for (int32_t j = n - 1; j >= 0 && !is_done(search); j--) {
            if (is_open(search, i) && is_open(search, j) && search->best->kept[i] &&
                !search->best->kept[j]) {
                memcpy(search->kept, search->best->kept, size);
                search->kept[i] = false;
                search->kept[j] = true;
                if (try_kept(search)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Flips a few layers of the best set at random, with a fixed seed. */
static void try_random(struct search *search)
{
    const int32_t n = search->problem->layer_count;
    struct yk_random random = yk_random_from_seed(1);
    for (int32_t attempts = RANDOM_ATTEMPTS; attempts > 0 && !is_done(search); attempts--) {
        memcpy(search->kept, search->best->kept, (size_t)n * sizeof *search->kept);
        for (int64_t flips = 2 + yk_random_below(&random, 3); flips > 0; flips--) {
            const int64_t layer = yk_random_below(&random, n);
            search->kept[layer] = search->kept[layer] != is_open(search, (int32_t)layer);
        }
        (void)try_kept(search);
    }
}

/* Balances the best order once more with full width. */
static void finish(struct search *search)
{
    if (search->best->step_s > search->bound_s + search->tolerance_s) {
        yk_transfer_order_draft_set_order(search->state, search->best);
        int64_t work = MAX_WORK;
        yk_transfer_order_balancer_run(search->balancer, search->state,
                                       YK_TRANSFER_ORDER_BALANCER_WIDE, &work);
        keep_best(search);
    }
}

static yk_status prepare(struct search *search, struct yk_arena *arena)
{
    const struct yk_transfer_order_problem *problem = search->problem;
    const int32_t n = problem->layer_count;
    YK_TRY_NEW(arena, search->kept, n);
    YK_TRY(yk_transfer_order_draft_create(problem, arena, &search->state));
    YK_TRY_NEW(arena, search->min_bytes, search->state->slots);
    YK_TRY_NEW(arena, search->more_bytes, search->state->slots);
    yk_transfer_order_draft_set_on_demand_order(search->state, search->kept);
    memcpy(search->min_bytes, search->state->used_bytes,
           (size_t)search->state->slots * sizeof *search->min_bytes);
    YK_TRY(yk_status_prefix_message(yk_transfer_order_check_slot_memory(problem, search->min_bytes),
                                    "no order fits"));
    keep_best(search);
    YK_TRY(yk_transfer_order_balancer_create(search->state, arena, &search->balancer));
    YK_TRY(yk_transfer_order_bound_simple(problem, search->min_bytes, arena, &search->bound_s));
    search->tolerance_s = 1e-9 * search->best->step_s;
    search->trials = MIN_TRIALS + MORE_TRIALS / n;
    search->work = MAX_WORK;
    search->width =
        n <= FEW_LAYERS ? YK_TRANSFER_ORDER_BALANCER_WIDE / 2 : YK_TRANSFER_ORDER_BALANCER_NARROW;
    return YK_OK;
}

static yk_status find(struct search *search, struct yk_arena *arena)
{
    const size_t n = (size_t)search->problem->layer_count;
    int32_t *sequence = NULL;
    int32_t *before = NULL;
    YK_TRY(prepare(search, arena));
    YK_TRY_NEW(arena, sequence, n);
    YK_TRY_NEW(arena, before, n);
    for (enum worth worth = 0; worth < WORTH_COUNT; worth++) {
        const int32_t count = list_by_worth(search, worth, sequence);
        const bool same = worth > 0 && memcmp(sequence, before, n * sizeof *before) == 0;
        memcpy(before, sequence, n * sizeof *before);
        if (!same) {
            try_numbers(search, sequence, count);
        }
    }
    bool better = true;
    while (better && !is_done(search)) {
        better = try_neighbours(search);
    }
    try_random(search);
    finish(search);
    return yk_transfer_order_sort_gathers(search->problem, search->best, arena);
}

yk_status yk_transfer_order_solve_greedy(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena, struct yk_transfer_order **out)
{
    struct search search = {.problem = problem};
    YK_TRY(yk_transfer_order_create_empty(problem, arena, &search.best));
    YK_TRY_WITH_TEMPORARY_ARENA(work, find(&search, work));
    search.best->bound_s = search.bound_s;
    search.best->method = "greedy";
    *out = search.best;
    return YK_OK;
}
