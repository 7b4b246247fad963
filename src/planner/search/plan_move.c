#include "planner/search/data_parallel.h"
#include "planner/search/device_sets.h"
#include "planner/search/search.h"

#include <string.h>

enum {
    RANGES = 5,
    AMOUNTS = 3,
    MANY_MEMBERS = 16,
    MANY_DEVICES = 8,
    MAX_MICRO_BATCHES = 64,
    MAX_PREFETCH = 4,
};

static bool are_alike(const struct yk_search_context *context, const struct yk_plan *plan,
                      int32_t a, int32_t b)
{
    const struct yk_layer *layers = context->model->layers;
    return yk_plan_layers_are_equal(&plan->layers[a], &plan->layers[b]) &&
           strcmp(layers[a].shape, layers[b].shape) == 0;
}

/* A range of the run of equal layers that begins at `*first`: all, the first or last half, the
 * first or last layer. Returns false if no run begins there, or the range equals another one. */
static bool find_range(const struct yk_search_context *context, const struct yk_plan *plan,
                       int32_t range, int32_t *first, int32_t *end)
{
    const int32_t from = *first;
    int32_t to = from + 1;
    if (from > 0 && are_alike(context, plan, from - 1, from)) {
        return false;
    }
    while (to < plan->layer_count && are_alike(context, plan, from, to)) {
        to++;
    }
    const int32_t count = to - from;
    const int32_t half = from + count / 2;
    const int32_t firsts[RANGES] = {from, from, half, from, to - 1};
    const int32_t ends[RANGES] = {to, half, to, from + 1, to};
    *first = firsts[range];
    *end = ends[range];
    return range == 0 || (range < 3 && count > 3) || (range >= 3 && count > 1);
}

bool yk_plan_move_reduce_memory(const struct yk_search_context *context, int32_t variant,
                                struct yk_plan *plan)
{
    static const enum yk_sharding_strategy strategies[] = {YK_SHARDING_FULLY_SHARDED,
                                                           YK_SHARDING_SHARDED_STATE};
    for (int32_t l = 0; l < plan->layer_count; l++) {
        struct yk_plan_layer *layer = &plan->layers[l];
        layer->strategy = yk_search_context_chooses_strategies(context) ? strategies[variant % 2]
                                                                        : layer->strategy;
        layer->recompute = yk_search_context_decides(context, YK_DECIDE_RECOMPUTATION)
                               ? context->recomputes[l]
                               : layer->recompute;
    }
    plan->no_sync = variant / 2 % 2 == 1;
    plan->pipeline = yk_plan_has_alternating_members(plan) ? plan->pipeline : YK_PIPELINE_1F1B;
    plan->prefetch = 1;
    return variant < 4;
}

/* Changes strategy and recomputation of a range together: one may free memory for the other. */
static enum yk_plan_move_result change_layers(const struct yk_search_context *context,
                                              int32_t number, struct yk_plan *plan)
{
    const enum yk_sharding_strategy strategy =
        (enum yk_sharding_strategy)(number % YK_SHARDING_STRATEGY_COUNT);
    const bool toggle = number / YK_SHARDING_STRATEGY_COUNT % 2 == 1;
    const int32_t range = number / YK_SHARDING_STRATEGY_COUNT / 2 % RANGES;
    int32_t first = number / YK_SHARDING_STRATEGY_COUNT / 2 / RANGES;
    int32_t end = 0;
    if (first >= plan->layer_count) {
        return YK_PLAN_MOVE_PAST_LAST;
    }
    const bool same = strategy == plan->layers[first].strategy;
    const bool alone = plan->groups[plan->layers[first].group].member_count == 1;
    if ((!same && (alone || !yk_search_context_chooses_strategies(context))) || (same && !toggle) ||
        (toggle && !(context->recomputes[first] &&
                     yk_search_context_decides(context, YK_DECIDE_RECOMPUTATION))) ||
        context->model->layers[first].shares_weights_of != YK_LAYER_NONE ||
        !find_range(context, plan, range, &first, &end)) {
        return YK_PLAN_MOVE_INVALID;
    }
    for (int32_t l = first; l < end; l++) {
        plan->layers[l].strategy = strategy;
        plan->layers[l].recompute = plan->layers[l].recompute != toggle;
    }
    yk_plan_unify_tied_layers(plan, context->model);
    return YK_PLAN_MOVE_APPLIED;
}

static int64_t unit_of(const struct yk_plan *plan)
{
    return plan->group_count > 1 && !yk_plan_has_alternating_members(plan) ? plan->micro_batches
                                                                           : 1;
}

/* Whether every micro-batch of an alternating plan has samples. */
static bool alternation_is_full(const struct yk_plan *plan, int32_t group)
{
    bool full = true;
    for (int32_t m = 0; m < plan->micro_batches && yk_plan_has_alternating_members(plan); m++) {
        const int32_t last = plan->groups[group].member_count - 1;
        int64_t first = 0;
        full = full && yk_plan_member_sample_range(plan, group, last, m, &first) + first > 0;
    }
    return full;
}

/* Moves samples between members of a group: one, one of every micro-batch, or all. */
static enum yk_plan_move_result change_shares(const struct yk_search_context *context,
                                              int32_t number, struct yk_plan *plan)
{
    int32_t group = 0;
    if (!yk_search_context_decides(context, YK_DECIDE_SAMPLE_SHARES)) {
        return YK_PLAN_MOVE_PAST_LAST;
    }
    for (; group < plan->group_count; group++) {
        const int32_t n = plan->groups[group].member_count;
        const int32_t moves = n > 1 && n <= MANY_MEMBERS ? AMOUNTS * n * n : 0;
        if (number < moves) {
            break;
        }
        number -= moves;
    }
    if (group == plan->group_count) {
        return YK_PLAN_MOVE_PAST_LAST;
    }
    const int32_t n = plan->groups[group].member_count;
    struct yk_plan_group_member *from = &plan->groups[group].members[number / AMOUNTS / n];
    struct yk_plan_group_member *to = &plan->groups[group].members[number / AMOUNTS % n];
    const int64_t amounts[AMOUNTS] = {unit_of(plan), plan->micro_batches, from->share};
    const int64_t amount = amounts[number % AMOUNTS];
    if (from == to || amount <= 0 || from->share < amount) {
        return YK_PLAN_MOVE_INVALID;
    }
    from->share -= amount;
    to->share += amount;
    return alternation_is_full(plan, group) ? YK_PLAN_MOVE_APPLIED : YK_PLAN_MOVE_INVALID;
}

/* Moves a layer at the end of a stage to the adjacent stage, with any strategy. */
static enum yk_plan_move_result change_cuts(const struct yk_search_context *context, int32_t number,
                                            struct yk_plan *plan)
{
    const enum yk_sharding_strategy strategy =
        (enum yk_sharding_strategy)(number % YK_SHARDING_STRATEGY_COUNT);
    const bool forward = number / YK_SHARDING_STRATEGY_COUNT % 2 == 0;
    const int32_t last = number / YK_SHARDING_STRATEGY_COUNT / 2;
    if (last + 1 >= plan->layer_count || plan->group_count == 1 ||
        !yk_search_context_decides(context, YK_DECIDE_PLACEMENT)) {
        return YK_PLAN_MOVE_PAST_LAST;
    }
    const int32_t moving = forward ? last : last + 1;
    const int32_t here = plan->layers[moving].group;
    const int32_t there = plan->layers[forward ? last + 1 : last].group;
    const bool kept_alike = strategy == plan->layers[moving].strategy;
    if (here == there || context->model->layers[moving].shares_weights_of != YK_LAYER_NONE ||
        (!kept_alike && (plan->groups[there].member_count == 1 ||
                         !yk_search_context_chooses_strategies(context)))) {
        return YK_PLAN_MOVE_INVALID;
    }
    plan->layers[moving].group = there;
    plan->layers[moving].strategy = strategy;
    yk_plan_unify_tied_layers(plan, context->model);
    return yk_plan_count_group_layers(plan, here) > 0 ? YK_PLAN_MOVE_APPLIED : YK_PLAN_MOVE_INVALID;
}

int32_t yk_plan_move_next_micro_batch_count(int64_t batch, int32_t micro_batches)
{
    const int64_t max = batch < MAX_MICRO_BATCHES ? batch : MAX_MICRO_BATCHES;
    for (int32_t M = micro_batches + 1; M <= max; M++) {
        if (batch % M == 0 || (M & (M - 1)) == 0) {
            return M;
        }
    }
    return 0;
}

static int32_t previous_micro_batches(int64_t batch, int32_t micro_batches)
{
    int32_t previous = 0;
    for (int32_t M = 1; M > 0 && M < micro_batches;
         M = yk_plan_move_next_micro_batch_count(batch, M)) {
        previous = M;
    }
    return previous;
}

/* Makes shares multiples of the micro-batches, if required; false if that is impossible. */
static bool fit_shares(const struct yk_plan *plan)
{
    const int64_t unit = unit_of(plan);
    for (int32_t g = 0; g < plan->group_count && unit > 1; g++) {
        struct yk_plan_group *group = &plan->groups[g];
        int64_t left = plan->workload.batch;
        if (group->member_count == 1) {
            continue;
        }
        if (left % unit != 0) {
            return false;
        }
        for (int32_t i = 0; i < group->member_count; i++) {
            group->members[i].share -= group->members[i].share % unit;
            left -= group->members[i].share;
        }
        for (int32_t i = 0; left > 0; i = (i + 1) % group->member_count, left -= unit) {
            group->members[i].share += unit;
        }
    }
    return true;
}

static enum yk_plan_move_result change_micro_batches(const struct yk_search_context *context,
                                                     int32_t number, struct yk_plan *plan)
{
    const int64_t batch = plan->workload.batch;
    if (number > 1 || context->request->micro_batches > 0 ||
        yk_plan_has_alternating_members(plan)) {
        return YK_PLAN_MOVE_PAST_LAST;
    }
    plan->micro_batches = number == 0
                              ? previous_micro_batches(batch, plan->micro_batches)
                              : yk_plan_move_next_micro_batch_count(batch, plan->micro_batches);
    return plan->micro_batches > 0 && fit_shares(plan) ? YK_PLAN_MOVE_APPLIED
                                                       : YK_PLAN_MOVE_INVALID;
}

/* Changes no_sync, the pipeline schedule, the prefetch, or the size of messages. */
static enum yk_plan_move_result change_messages(const struct yk_search_context *context,
                                                int32_t number, struct yk_plan *plan)
{
    const bool sends = plan->rank_count > plan->group_count;
    const bool prefetch = sends && yk_search_context_decides(context, YK_DECIDE_TRANSFER_ORDER);
    const bool sizes = sends && yk_search_context_decides(context, YK_DECIDE_BLOCK_SIZE);
    bool changed = false;
    switch (number) {
    case 0:
        changed = sends && plan->micro_batches > 1;
        plan->no_sync = !plan->no_sync;
        break;
    case 1:
        changed = plan->group_count > 1 && plan->micro_batches > 1 &&
                  !yk_plan_has_alternating_members(plan);
        plan->pipeline = plan->pipeline == YK_PIPELINE_GPIPE ? YK_PIPELINE_1F1B : YK_PIPELINE_GPIPE;
        break;
    case 2:
        changed = prefetch && plan->prefetch < MAX_PREFETCH;
        plan->prefetch++;
        break;
    case 3:
        changed = prefetch && plan->prefetch > 1;
        plan->prefetch--;
        break;
    case 4:
    case 5:
        changed =
            sizes && (number == 4 || plan->block_bytes * 0.25 >= YK_DATA_PARALLEL_MIN_BLOCK_BYTES);
        plan->block_bytes *= number == 4 ? 4 : 0.25;
        break;
    case 6:
    case 7:
        changed = sizes;
        plan->bucket_bytes *= number == 6 ? 4 : 0.25;
        break;
    default:
        return YK_PLAN_MOVE_PAST_LAST;
    }
    return changed ? YK_PLAN_MOVE_APPLIED : YK_PLAN_MOVE_INVALID;
}

static bool is_used(const struct yk_plan *plan, int32_t device)
{
    for (int32_t r = 0; r < plan->rank_count; r++) {
        if (plan->ranks[r].device == device) {
            return true;
        }
    }
    return false;
}

/* Adds an unused device to a group, to store a part of its state. */
static yk_status add_device(const struct yk_search_context *context, int32_t number,
                            struct yk_arena *arena, struct yk_plan *plan,
                            enum yk_plan_move_result *out)
{
    const int32_t device = number % context->cluster->device_count;
    const int32_t g = number / context->cluster->device_count;
    struct yk_plan_rank *ranks = NULL;
    struct yk_plan_group_member *members = NULL;
    *out = YK_PLAN_MOVE_PAST_LAST;
    if (g >= plan->group_count || context->cluster->device_count > MANY_DEVICES ||
        yk_plan_has_alternating_members(plan) ||
        !yk_search_context_decides(context, YK_DECIDE_PLACEMENT)) {
        return YK_OK;
    }
    *out = YK_PLAN_MOVE_INVALID;
    if (is_used(plan, device) || yk_search_context_excludes_device(context, device)) {
        return YK_OK;
    }
    const int32_t n = plan->groups[g].member_count;
    YK_TRY_NEW(arena, ranks, plan->rank_count + 1);
    YK_TRY_NEW(arena, members, n + 1);
    memcpy(ranks, plan->ranks, (size_t)plan->rank_count * sizeof *ranks);
    memcpy(members, plan->groups[g].members, (size_t)n * sizeof *members);
    ranks[plan->rank_count] = yk_search_context_make_plan_rank(context, device);
    members[n] = (struct yk_plan_group_member){.rank = plan->rank_count};
    plan->ranks = ranks;
    plan->rank_count++;
    plan->groups[g].members = members;
    plan->groups[g].member_count++;
    *out = fit_shares(plan) ? YK_PLAN_MOVE_APPLIED : YK_PLAN_MOVE_INVALID;
    return YK_OK;
}

/* Gives a rank another device; the rank that had it gets the old one. */
static enum yk_plan_move_result exchange_devices(const struct yk_search_context *context,
                                                 int32_t number, struct yk_plan *plan)
{
    const int32_t r = number / context->cluster->device_count;
    const int32_t device = number % context->cluster->device_count;
    if (r >= plan->rank_count || context->cluster->device_count > MANY_DEVICES ||
        !yk_search_context_decides(context, YK_DECIDE_PLACEMENT)) {
        return YK_PLAN_MOVE_PAST_LAST;
    }
    const int32_t own = plan->ranks[r].device;
    if (own == device || yk_search_context_excludes_device(context, device) ||
        yk_device_sets_devices_can_swap(context, own, device)) {
        return YK_PLAN_MOVE_INVALID;
    }
    for (int32_t i = 0; i < plan->rank_count; i++) {
        if (plan->ranks[i].device == device) {
            plan->ranks[i] = yk_search_context_make_plan_rank(context, own);
        }
    }
    plan->ranks[r] = yk_search_context_make_plan_rank(context, device);
    return YK_PLAN_MOVE_APPLIED;
}

yk_status yk_plan_move_apply(const struct yk_search_context *context, int32_t kind, int32_t number,
                             struct yk_arena *arena, struct yk_plan *plan,
                             enum yk_plan_move_result *out)
{
    static enum yk_plan_move_result (*const kinds[YK_PLAN_MOVE_KIND_COUNT])(
        const struct yk_search_context *context, int32_t number, struct yk_plan *plan) = {
        change_layers,   change_messages,      change_shares,
        change_cuts,     change_micro_batches, NULL /* allocates: add_device() */,
        exchange_devices};
    if (!kinds[kind]) {
        return add_device(context, number, arena, plan, out);
    }
    *out = kinds[kind](context, number, plan);
    return YK_OK;
}
