/* Phases: explores all families of plans, then refines the best plan. */
#include "planner/order/plan_transfer_order.h"
#include "planner/search/data_parallel.h"
#include "planner/search/search.h"

#include <math.h>
#include <string.h>

yk_status yk_plan_search_run_explore_phase(struct yk_plan_search *search)
{
    YK_TRY(yk_plan_search_try_data_parallel(search, YK_PLAN_SEARCH_ALL_DEVICES));
    YK_TRY(yk_plan_search_try_alternating_members(search));
    YK_TRY(yk_plan_search_try_pipelines(search, YK_PLAN_SEARCH_ALL_DEVICES));
    YK_TRY(yk_plan_search_try_data_parallel(search, YK_PLAN_SEARCH_SOME_DEVICES));
    return yk_plan_search_try_pipelines(search, YK_PLAN_SEARCH_SOME_DEVICES);
}

yk_status yk_plan_search_explore_phase_of_request(const struct yk_plan_request *request,
                                                  bool pipelines_first, int64_t *trials,
                                                  bool *out_known, double *out_s)
{
    struct yk_search_context *context = NULL;
    struct yk_plan_search search;
    YK_TRY(yk_search_context_create(request, &context));
    yk_status status = yk_plan_search_create(context, &search);
    if (status == YK_OK) {
        status = pipelines_first ? yk_plan_search_try_pipelines(&search, YK_PLAN_SEARCH_ALL_DEVICES)
                                 : YK_OK;
        YK_IF_OK(yk_plan_search_run_explore_phase(&search));
        status = status == YK_ERROR_STOPPED ? YK_OK : status;
        *out_known = search.best || yk_plan_search_has_budget(&search);
        *out_s = search.best ? search.best_s : NAN;
        yk_plan_search_free(&search);
    }
    *trials += context->trials;
    yk_search_context_destroy(context);
    return status;
}

/* The data-parallel spec of the best plan, which has one group. */
static yk_status split_of_best(const struct yk_plan_search *search, struct yk_arena *arena,
                               struct yk_data_parallel_spec *out)
{
    const struct yk_plan *best = search->best;
    int32_t *devices = NULL;
    YK_TRY_NEW(arena, devices, best->rank_count);
    *out = (struct yk_data_parallel_spec){
        .devices = devices,
        .count = best->rank_count,
        .micro_batches = best->micro_batches,
        .no_sync = best->no_sync,
        .even_shares = !yk_search_context_decides(search->context, YK_DECIDE_SAMPLE_SHARES),
        .prefetch = best->prefetch,
        .block_bytes = best->block_bytes,
        .bucket_bytes = best->bucket_bytes,
        .max_s = search->best_s,
    };
    YK_TRY_NEW(arena, out->strategies, best->layer_count);
    YK_TRY_NEW(arena, out->recompute, best->layer_count);
    for (int32_t r = 0; r < best->rank_count; r++) {
        devices[r] = best->ranks[r].device;
        out->keeps_idle = out->keeps_idle || best->groups[0].members[r].share == 0;
    }
    for (int32_t l = 0; l < best->layer_count; l++) {
        out->strategies[l] = best->layers[l].strategy;
        out->recompute[l] = best->layers[l].recompute;
    }
    return YK_OK;
}

static yk_status change_balance(struct yk_plan_search *search, struct yk_arena *arena)
{
    static const double balances[] = {0.5, 1};
    if (!yk_search_context_decides(search->context, YK_DECIDE_SHARD_FRACTIONS)) {
        return YK_OK;
    }
    for (size_t i = 0;
         i < sizeof balances / sizeof balances[0] && yk_search_context_has_budget(search->context);
         i++) {
        struct yk_data_parallel_spec split;
        YK_TRY(split_of_best(search, arena, &split));
        split.room_balance = balances[i];
        YK_TRY(yk_data_parallel_try_spec(search, &split));
    }
    return YK_OK;
}

static int32_t count_recomputed(const struct yk_plan *plan)
{
    int32_t count = 0;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        count += plan->layers[l].recompute ? 1 : 0;
    }
    return count;
}

/* Minimises the number of recomputed layers by bisection: the first ones, which hold longest. */
static yk_status change_recomputation(struct yk_plan_search *search, struct yk_arena *arena)
{
    int32_t low = 0;
    int32_t high = count_recomputed(search->best);
    if (!yk_search_context_decides(search->context, YK_DECIDE_RECOMPUTATION)) {
        return YK_OK;
    }
    while (high - low > 1 && yk_search_context_has_budget(search->context)) {
        const int32_t half = low + (high - low) / 2;
        const double before_s = search->best_s;
        struct yk_data_parallel_spec split;
        int32_t left = half;
        YK_TRY(split_of_best(search, arena, &split));
        for (int32_t l = 0; l < search->best->layer_count; l++) {
            split.recompute[l] = search->context->recomputes[l] && left-- > 0;
        }
        YK_TRY(yk_data_parallel_try_spec(search, &split));
        if (search->best_s < before_s) {
            high = half;
        } else {
            low = half;
        }
    }
    return YK_OK;
}

/* Maximises the number of layers with a strategy that communicates less, by bisection. */
static yk_status upgrade(struct yk_plan_search *search, struct yk_arena *arena,
                         enum yk_sharding_strategy strategy, bool from_first)
{
    const int32_t L = search->best->layer_count;
    int32_t low = 0;
    int32_t high = L + 1;
    while (high - low > 1 && yk_search_context_has_budget(search->context)) {
        const int32_t half = low + (high - low) / 2;
        const double before_s = search->best_s;
        struct yk_data_parallel_spec split;
        YK_TRY(split_of_best(search, arena, &split));
        for (int32_t l = 0; l < L; l++) {
            const bool chosen = from_first ? l < half : l >= L - half;
            if (chosen && split.strategies[l] != YK_SHARDING_REPLICATED) {
                split.strategies[l] = strategy;
            }
        }
        yk_data_parallel_unify_tied_strategies(search->context->model, split.strategies);
        YK_TRY(yk_data_parallel_try_spec(search, &split));
        if (search->best_s < before_s) {
            low = half;
        } else {
            high = half;
        }
    }
    return YK_OK;
}

static yk_status change_strategies(struct yk_plan_search *search, struct yk_arena *arena)
{
    static const enum yk_sharding_strategy better[] = {
        YK_SHARDING_KEPT_AFTER_FORWARD, YK_SHARDING_SHARDED_STATE, YK_SHARDING_REPLICATED};
    if (!yk_search_context_chooses_strategies(search->context) || search->best->rank_count == 1) {
        return YK_OK;
    }
    for (size_t i = 0; i < sizeof better / sizeof better[0]; i++) {
        YK_TRY(upgrade(search, arena, better[i], true));
        YK_TRY(upgrade(search, arena, better[i], false));
    }
    return YK_OK;
}

static yk_status change_sizes(struct yk_plan_search *search)
{
    static const struct {
        enum yk_plan_decision decision;
        int32_t prefetch;    /* 0 means: the same */
        double bucket_scale; /* of the bucket's size */
    } changes[] = {
        {YK_DECIDE_TRANSFER_ORDER, 2, 1}, {YK_DECIDE_TRANSFER_ORDER, 3, 1},
        {YK_DECIDE_TRANSFER_ORDER, 4, 1}, {YK_DECIDE_BLOCK_SIZE, 0, 0.25},
        {YK_DECIDE_BLOCK_SIZE, 0, 4},     {YK_DECIDE_BLOCK_SIZE, 0, 16},
    };
    if (search->best->rank_count == 1) {
        return YK_OK;
    }
    for (size_t i = 0;
         i < sizeof changes / sizeof changes[0] && yk_search_context_has_budget(search->context);
         i++) {
        struct yk_plan plan = *search->best;
        plan.prefetch = changes[i].prefetch > 0 ? changes[i].prefetch : plan.prefetch;
        plan.bucket_bytes *= changes[i].bucket_scale;
        if (plan.transfer_count == 0 &&
            yk_search_context_decides(search->context, changes[i].decision)) {
            YK_TRY(yk_plan_search_try_plan(search, &plan, NULL));
        }
    }
    return YK_OK;
}

/* Moves one unit of samples from one member of a group to another. */
static yk_status move_samples(struct yk_plan_search *search, struct yk_arena *arena, int32_t group,
                              int32_t from, int32_t to, bool *out_better)
{
    struct yk_plan *plan = NULL;
    const double before_s = search->best_s;
    YK_TRY(yk_plan_copy(search->best, arena, &plan));
    const int64_t unit = plan->group_count > 1 ? plan->micro_batches : 1;
    struct yk_plan_group_member *members = plan->groups[group].members;
    *out_better = false;
    if (members[from].share >= unit && !yk_plan_has_alternating_members(plan)) {
        members[from].share -= unit;
        members[to].share += unit;
        YK_TRY(yk_plan_search_try_plan(search, plan, NULL));
        *out_better = search->best_s < before_s;
    }
    return YK_OK;
}

enum {
    MANY_MEMBERS = 16
};

static yk_status change_shares(struct yk_plan_search *search, struct yk_arena *arena)
{
    if (!yk_search_context_decides(search->context, YK_DECIDE_SAMPLE_SHARES)) {
        return YK_OK;
    }
    bool better = true;
    while (better && yk_search_context_has_budget(search->context)) {
        better = false;
        for (int32_t g = 0; g < search->best->group_count; g++) {
            const int32_t n = search->best->groups[g].member_count;
            for (int32_t i = 0;
                 i < n * n && n <= MANY_MEMBERS && yk_search_context_has_budget(search->context);
                 i++) {
                bool moved = false;
                if (i / n != i % n) {
                    YK_TRY(move_samples(search, arena, g, i / n, i % n, &moved));
                }
                better = better || moved;
            }
        }
    }
    return YK_OK;
}

/* Runs the integer program, if the plan has one group and one micro-batch. */
static yk_status change_order(struct yk_plan_search *search, struct yk_arena *arena)
{
    const struct yk_search_context *context = search->context;
    const struct yk_plan *best = search->best;
    /* A search limited in moves has no time budget. */
    const double left_s =
        context->request->search.moves > 0
            ? 0
            : context->request->search.budget_s *
                  (context->budget_fraction - yk_search_context_spent_budget_fraction(context));
    const struct yk_plan_transfer_order_options options = {
        .method = YK_TRANSFER_ORDER_METHOD_MILP,
        .open = yk_search_context_chooses_strategies(context),
        .budget_s = fmin(left_s, 5)};
    struct yk_plan *plan = NULL;
    bool ordered = false;
    if (best->group_count > 1 || best->micro_batches > 1 || best->rank_count == 1 ||
        !yk_search_context_decides(context, YK_DECIDE_TRANSFER_ORDER) || left_s < 1) {
        return YK_OK;
    }
    YK_TRY(yk_plan_copy(best, arena, &plan));
    plan->transfer_count = 0;
    YK_TRY(yk_plan_transfer_order_optimize(search->context, &options, arena, plan, &ordered));
    return ordered ? yk_plan_search_try_plan(search, plan, NULL) : YK_OK;
}

static yk_status move_cut(struct yk_plan_search *search, struct yk_arena *arena, int32_t layer,
                          int32_t group, bool *out_better)
{
    struct yk_plan *plan = NULL;
    const double before_s = search->best_s;
    YK_TRY(yk_plan_copy(search->best, arena, &plan));
    plan->layers[layer].group = group;
    yk_plan_unify_tied_layers(plan, search->context->model);
    YK_TRY(yk_plan_search_try_plan(search, plan, NULL));
    *out_better = search->best_s < before_s;
    return YK_OK;
}

static yk_status change_cuts(struct yk_plan_search *search, struct yk_arena *arena)
{
    bool better = search->best->group_count > 1;
    while (better && yk_search_context_has_budget(search->context)) {
        better = false;
        for (int32_t l = 0;
             l + 1 < search->best->layer_count && yk_search_context_has_budget(search->context);
             l++) {
            const struct yk_plan *best = search->best;
            const int32_t here = best->layers[l].group;
            const int32_t next = best->layers[l + 1].group;
            bool moved = false;
            if (here != next && yk_plan_count_group_layers(best, here) > 1) {
                YK_TRY(move_cut(search, arena, l, next, &moved));
                better = better || moved;
            }
            if (here != next && !moved && yk_plan_count_group_layers(best, next) > 1) {
                YK_TRY(move_cut(search, arena, l + 1, here, &moved));
                better = better || moved;
            }
        }
    }
    return YK_OK;
}

static yk_status refine(struct yk_plan_search *search, struct yk_arena *arena)
{
    YK_TRY(change_cuts(search, arena));
    if (search->best->group_count == 1) {
        YK_TRY(change_recomputation(search, arena));
        YK_TRY(change_strategies(search, arena));
        YK_TRY(change_balance(search, arena));
    }
    YK_TRY(change_sizes(search));
    YK_TRY(change_shares(search, arena));
    return change_order(search, arena);
}

yk_status yk_plan_search_run_refine_phase(struct yk_plan_search *search)
{
    struct yk_arena *arena = NULL;
    yk_search_context_report_progress(search->context, "small changes");
    YK_TRY(yk_arena_create(&arena));
    yk_status status = search->best ? refine(search, arena) : YK_OK;
    const struct yk_plan *before = search->best;
    YK_IF_OK(yk_local_search_run(search));
    if (status == YK_OK && search->best != before) {
        status = change_order(search, arena);
    }
    yk_arena_destroy(arena);
    return status;
}
