#include "planner/order/transfer_order.h"

#include "base/clock.h"
#include "planner/order/draft.h"
#include "planner/order/formulation.h"

#include <math.h>
#include <string.h>

/* An order this close to the bound is optimal enough. */
static const double close_enough = 1e-4;

/* A bound this close to the relaxed program's value proves that the allowed slots suffice. */
static const double proven = 1e-6;

enum {
    MARGIN = 2,               /* allowed slots around those in use, at first */
    MORE_MARGIN = 4,          /* factor on the margin if it does not suffice */
    MAX_RELAXED = 300000,     /* block columns of a relaxed program */
    MAX_INTEGER = 6000,       /* of an integer program with all slots */
    MAX_INTEGER_PART = 20000, /* of an integer program with the allowed slots only */
};

struct search {
    const struct yk_transfer_order_problem *problem;
    const struct yk_transfer_order_milp_options *options;
    struct yk_arena *work;
    struct yk_transfer_order *best;
    double end_s;   /* deadline in the time of yk_clock_now_s() */
    bool *allowed;  /* (2n, slots) */
    int64_t places; /* block columns if all slots are allowed */
};

static bool is_done(const struct search *search)
{
    const struct yk_transfer_order *best = search->best;
    return best->step_s <= best->bound_s * (1 + close_enough) ||
           yk_clock_now_s() >= search->end_s ||
           (search->options->stop && atomic_load(search->options->stop));
}

static struct yk_milp_options limits(const struct search *search, bool relaxed)
{
    return (struct yk_milp_options){
        .relaxed = relaxed,
        .budget_s = fmax(0, search->end_s - yk_clock_now_s()),
        .gap = close_enough,
        .stop = search->options->stop,
    };
}

/* The number of block columns if all slots are allowed. */
static int64_t count_places(const struct yk_transfer_order_problem *problem)
{
    int64_t count = 0;
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer_windows windows =
            yk_transfer_order_layer_windows(problem, i);
        count += windows.scatter.length + windows.forward.length + windows.backward.length;
    }
    return count;
}

/* Allows the slots of the best order's blocks and `margin` slots around each; returns the count. */
static int64_t allow_around(struct search *search, int32_t margin)
{
    const struct yk_transfer_order *order = search->best;
    const int32_t slots = yk_transfer_order_slot_count(search->problem);
    const int32_t reach = margin < slots / 2 ? margin : slots / 2;
    int64_t count = 0;
    memset(search->allowed, 0,
           2 * (size_t)search->problem->layer_count * (size_t)slots * sizeof *search->allowed);
    for (int32_t i = 0; i < 2 * search->problem->layer_count; i++) {
        const int32_t *blocks = yk_transfer_order_block_count_pointer(order, slots, i, 0);
        bool *allowed = &search->allowed[(int64_t)i * slots];
        for (int32_t t = 0; t < slots; t++) {
            for (int32_t k = -reach; blocks[t] > 0 && k <= reach; k++) {
                bool *place = &allowed[yk_transfer_order_shift_slot(slots, t, k)];
                count += *place ? 0 : 1;
                *place = true;
            }
        }
    }
    return count;
}

/*
 * Raises the bound by the relaxed program, with blocks only where the form allows them. The bound
 * from its prices holds for blocks anywhere; `*proven_out`: it is as good as with blocks anywhere.
 */
static yk_status relax(struct search *search,
                       const struct yk_transfer_order_formulation_options *form,
                       struct yk_arena *arena, bool *proven_out)
{
    const struct yk_milp_options options = limits(search, true);
    struct yk_transfer_order_formulation *program = NULL;
    struct yk_milp_result result = {0};
    double bound_s = 0;
    YK_TRY(yk_transfer_order_formulation_create(search->problem, form, arena, &program));
    yk_status status = yk_transfer_order_formulation_solve(program, &options, NULL, arena, &result);
    if (status == YK_OK && result.prices) {
        status = yk_transfer_order_formulation_dual_bound(program, result.prices, arena, &bound_s);
        search->best->bound_s = fmax(search->best->bound_s, bound_s);
        *proven_out = result.values && bound_s >= result.objective * (1 - proven);
    }
    yk_transfer_order_formulation_destroy(program);
    return status;
}

/* Starts with few slots: they mostly suffice, and are much faster than all. */
static yk_status raise_bound(struct search *search)
{
    bool enough = false;
    for (int32_t margin = MARGIN; !enough && !is_done(search); margin *= MORE_MARGIN) {
        const bool all = margin >= yk_transfer_order_slot_count(search->problem);
        const struct yk_transfer_order_formulation_options form = {
            .allowed = all ? NULL : search->allowed};
        if ((all ? search->places : allow_around(search, margin)) > MAX_RELAXED) {
            return YK_OK;
        }
        YK_TRY_WITH_TEMPORARY_ARENA(arena, relax(search, &form, arena, &enough));
        enough = enough || all;
    }
    return YK_OK;
}

/* Balances an order of the program, and keeps it if it is the best. */
static yk_status offer(struct search *search, struct yk_transfer_order *order)
{
    struct yk_transfer_order_draft *state = NULL;
    struct yk_transfer_order_balancer *balancer = NULL;
    int64_t work = INT64_MAX;
    double step_s = 0;
    if (yk_transfer_order_check(search->problem, order, &step_s) != YK_OK) {
        return YK_OK; /* valid only within the solver's tolerances */
    }
    YK_TRY(yk_transfer_order_draft_create(search->problem, search->work, &state));
    yk_transfer_order_draft_set_order(state, order);
    YK_TRY(yk_transfer_order_balancer_create(state, search->work, &balancer));
    yk_transfer_order_balancer_run(balancer, state, YK_TRANSFER_ORDER_BALANCER_WIDE, &work);
    YK_TRY(yk_transfer_order_sort_gathers(search->problem, state->order, search->work));
    YK_TRY(yk_transfer_order_check(search->problem, state->order, &step_s));
    if (step_s < search->best->step_s) {
        state->order->step_s = step_s;
        state->order->bound_s = search->best->bound_s;
        state->order->method = "milp";
        yk_transfer_order_copy(search->problem, state->order, search->best);
    }
    return YK_OK;
}

/* Solves the integer program. Its bound is valid only if all slots are allowed. */
static yk_status solve_integer(struct search *search)
{
    const bool all = search->places <= MAX_INTEGER;
    const struct yk_transfer_order_formulation_options form = {
        .allowed = all ? NULL : search->allowed, .apart = true};
    struct yk_transfer_order_formulation *program = NULL;
    struct yk_milp_result result = {0};
    struct yk_transfer_order *found = NULL;
    if (!all && allow_around(search, MARGIN) > MAX_INTEGER_PART) {
        return YK_OK;
    }
    YK_TRY(yk_transfer_order_create_empty(search->problem, search->work, &found));
    YK_TRY(yk_transfer_order_formulation_create(search->problem, &form, search->work, &program));
    const struct yk_milp_options options = limits(search, false);
    yk_status status =
        yk_transfer_order_formulation_solve(program, &options, search->best, search->work, &result);
    if (status == YK_OK && all) {
        /* The solver's tolerances are absolute, one for each slot. */
        search->best->bound_s = fmax(search->best->bound_s, result.bound * (1 - proven));
    }
    if (status == YK_OK && result.values) {
        yk_transfer_order_formulation_to_order(program, result.values, found);
        status = offer(search, found);
    }
    yk_transfer_order_formulation_destroy(program);
    return status;
}

static yk_status run(struct search *search, struct yk_arena *arena)
{
    const struct yk_transfer_order_problem *problem = search->problem;
    const size_t slots = (size_t)yk_transfer_order_slot_count(problem);
    search->work = arena;
    YK_TRY_NEW(search->work, search->allowed, 2 * (size_t)problem->layer_count * slots);
    search->places = count_places(problem);
    YK_TRY(raise_bound(search));
    return is_done(search) ? YK_OK : solve_integer(search);
}

yk_status yk_transfer_order_solve_milp(const struct yk_transfer_order_problem *problem,
                                       const struct yk_transfer_order_milp_options *options,
                                       struct yk_arena *arena, struct yk_transfer_order **out)
{
    struct search search = {
        .problem = problem,
        .options = options,
        .end_s = yk_clock_now_s() + options->budget_s,
    };
    YK_TRY(yk_transfer_order_solve_greedy(problem, arena, &search.best));
    YK_TRY_WITH_TEMPORARY_ARENA(work, run(&search, work));
    search.best->bound_s = fmin(search.best->bound_s, search.best->step_s);
    *out = search.best;
    return YK_OK;
}
