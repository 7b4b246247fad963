#include "support/plans/exhaustive_plans.h"

#include "support/support.h"

#include "model/model.h"
#include "planner/order/plan_transfer_order.h"
#include "planner/search/plan_evaluation.h"

#include <math.h>

enum {
    MOST_DEVICES = 3,
    MOST_LAYERS = 8,
    ROUNDS = 3,
};

struct looking {
    struct every_plan *every;
    bool any;
    struct yk_arena *arena; /* of the groups at hand */
    struct yk_plan *plan;
    int32_t several;          /* the group of several members; −1: none */
    int32_t own[MOST_LAYERS]; /* its layers with weights of their own */
    int32_t own_count;
};

static bool is_over(const struct looking *looking)
{
    return looking->any && looking->every->best;
}

static void accept(const struct looking *looking, const struct yk_plan *plan,
                   const struct yk_plan_evaluation *evaluation)
{
    struct every_plan *every = looking->every;
    if (evaluation->fits && evaluation->step_s < every->best_s) {
        struct yk_plan *copy = NULL;
        assert_ok(yk_plan_copy(plan, every->arena, &copy));
        every->best = copy;
        every->best_s = evaluation->step_s;
    }
}

/* State of the group of several that is divided. */
static double sharded_bytes(const struct looking *looking)
{
    const struct yk_model *model = looking->every->context->model;
    double bytes = 0;
    for (int32_t i = 0; i < looking->own_count; i++) {
        const struct yk_model_layer_state_bytes state =
            yk_model_layer_state_bytes(model, &model->layers[looking->own[i]]);
        const enum yk_sharding_strategy strategy = looking->plan->layers[looking->own[i]].strategy;
        if (strategy != YK_SHARDING_REPLICATED) {
            bytes += state.gradient_bytes + state.optimizer_bytes;
        }
        if (strategy == YK_SHARDING_KEPT_AFTER_FORWARD || strategy == YK_SHARDING_FULLY_SHARDED) {
            bytes += state.weight_bytes;
        }
    }
    return bytes;
}

/* What each rank has for state when all samples of one micro-batch have gone forward: at that
 * moment it holds what they saved. */
static void find_rooms(const struct looking *looking, double *rooms)
{
    const struct yk_search_context *context = looking->every->context;
    const struct yk_plan *plan = looking->plan;
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
            const int32_t rank = plan->groups[g].members[i].rank;
            const int32_t device = plan->ranks[rank].device;
            int64_t first = 0;
            int64_t max = 0;
            for (int32_t m = 0; m < plan->micro_batches; m++) {
                const int64_t samples = yk_plan_member_sample_range(plan, g, i, m, &first);
                max = samples > max ? samples : max;
            }
            rooms[rank] = plan->ranks[rank].limit_bytes -
                          yk_device_measurements_context_bytes(context->measurements,
                                                               context->cluster, device);
            for (int32_t l = 0; l < plan->layer_count && max > 0; l++) {
                const struct yk_model *model = NULL;
                if (plan->layers[l].group == g) {
                    assert_ok(
                        yk_model_cache_get(context->cache, max, plan->layers[l].recompute, &model));
                    rooms[rank] -= (double)model->layers[l].saved_bytes;
                }
            }
        }
    }
}

/* False when state alone, however it is divided, is too much beside `rooms`. */
static bool has_room(const struct looking *looking, const double *rooms, bool strategies)
{
    const struct yk_model *model = looking->every->context->model;
    const struct yk_plan *plan = looking->plan;
    for (int32_t g = 0; g < plan->group_count; g++) {
        double whole = 0;
        double divided = 0;
        for (int32_t l = 0; l < plan->layer_count; l++) {
            const struct yk_model_layer_state_bytes state =
                yk_model_layer_state_bytes(model, &model->layers[l]);
            const double changing = state.gradient_bytes + state.optimizer_bytes;
            if (plan->layers[l].group != g) {
                continue;
            }
            const enum yk_sharding_strategy strategy =
                strategies ? yk_plan_effective_strategy(plan, l) : YK_SHARDING_FULLY_SHARDED;
            whole += strategy == YK_SHARDING_REPLICATED ? changing : 0;
            whole += strategy <= YK_SHARDING_SHARDED_STATE ? state.weight_bytes : 0;
            divided += strategy == YK_SHARDING_REPLICATED ? 0 : changing;
            divided += strategy <= YK_SHARDING_SHARDED_STATE ? 0 : state.weight_bytes;
        }
        for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
            const double room = rooms[plan->groups[g].members[i].rank] - whole;
            if (room < 0) {
                return false;
            }
            divided -= room;
        }
        if (divided > 0) {
            return false;
        }
    }
    return true;
}

/* Parts for the rooms that a trial found; false when there is no room for all state. */
static bool change_parts(const struct looking *looking, const struct yk_plan_evaluation *evaluation,
                         double state)
{
    struct yk_plan *plan = looking->plan;
    struct yk_plan_group *group = &plan->groups[looking->several];
    double room[MOST_DEVICES];
    double parts[MOST_DEVICES];
    for (int32_t i = 0; i < group->member_count; i++) {
        const int32_t rank = group->members[i].rank;
        room[i] = plan->ranks[rank].limit_bytes - evaluation->peaks[rank].bytes +
                  state * group->members[i].shard_fraction;
    }
    const yk_status status = yk_shard_fractions_find(group->member_count, state, room, parts);
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].shard_fraction = parts[i];
    }
    return status == YK_OK;
}

static void equal_parts(const struct yk_plan_group *group)
{
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].shard_fraction = 1.0 / group->member_count;
    }
}

/* With equal parts, or with others if they do not fit. */
static bool try_parts(const struct looking *looking)
{
    struct yk_search_context *context = looking->every->context;
    struct yk_plan_evaluation evaluation;
    assert_ok(yk_plan_evaluation_run(context, looking->plan, YK_PLAN_EVALUATION_SIMULATE_IF_FITS,
                                     &evaluation));
    looking->every->looked++;
    accept(looking, looking->plan, &evaluation);
    const double state = looking->several < 0 || evaluation.fits ? 0 : sharded_bytes(looking);
    for (int round = 0; round < ROUNDS && state > 0 && !evaluation.fits; round++) {
        if (!change_parts(looking, &evaluation, state)) {
            break;
        }
        yk_plan_evaluation_free(&evaluation);
        assert_ok(yk_plan_evaluation_run(context, looking->plan,
                                         YK_PLAN_EVALUATION_SIMULATE_IF_FITS, &evaluation));
        accept(looking, looking->plan, &evaluation);
    }
    const bool fits = evaluation.fits;
    yk_plan_evaluation_free(&evaluation);
    return fits;
}

static void try_ordered(const struct looking *looking)
{
    struct yk_search_context *context = looking->every->context;
    const struct yk_plan_transfer_order_options ordering = {.method =
                                                                YK_TRANSFER_ORDER_METHOD_GREEDY};
    struct yk_arena *arena = NULL;
    struct yk_plan *plan = NULL;
    bool ordered = false;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_plan_copy(looking->plan, arena, &plan));
    assert_ok(yk_plan_transfer_order_optimize(context, &ordering, arena, plan, &ordered));
    if (ordered) {
        struct yk_plan_evaluation evaluation;
        assert_ok(yk_plan_evaluation_run(context, plan, YK_PLAN_EVALUATION_SIMULATE_IF_FITS,
                                         &evaluation));
        accept(looking, plan, &evaluation);
        yk_plan_evaluation_free(&evaluation);
    }
    yk_arena_destroy(arena);
}

static bool gathers(const struct looking *looking)
{
    for (int32_t i = 0; i < looking->own_count; i++) {
        if (looking->plan->layers[looking->own[i]].strategy >= YK_SHARDING_KEPT_AFTER_FORWARD) {
            return true;
        }
    }
    return false;
}

static void try_prefetches(const struct looking *looking)
{
    struct yk_plan *plan = looking->plan;
    const int32_t max = looking->several >= 0 && gathers(looking) ? 2 : 1;
    bool fits = true;
    for (plan->prefetch = 1; plan->prefetch <= max && fits && !is_over(looking); plan->prefetch++) {
        if (looking->several >= 0) {
            equal_parts(&plan->groups[looking->several]);
        }
        fits = try_parts(looking);
        if (fits && plan->prefetch == 1 && plan->group_count == 1 && plan->micro_batches == 1 &&
            looking->several >= 0) {
            try_ordered(looking);
        }
    }
}

static void try_strategies(const struct looking *looking)
{
    const struct yk_model *model = looking->every->context->model;
    const int32_t codes = 1 << (2 * looking->own_count);
    double rooms[MOST_DEVICES];
    find_rooms(looking, rooms);
    if (!has_room(looking, rooms, false)) {
        return;
    }
    for (int32_t code = 0; code < codes && !is_over(looking); code++) {
        for (int32_t i = 0; i < looking->own_count; i++) {
            looking->plan->layers[looking->own[i]].strategy =
                (enum yk_sharding_strategy)(code >> (2 * i) & 3);
        }
        for (int32_t l = 0; l < model->layer_count; l++) {
            const int32_t shared = model->layers[l].shares_weights_of;
            if (shared != YK_LAYER_NONE) {
                looking->plan->layers[l].strategy = looking->plan->layers[shared].strategy;
            }
        }
        if (has_room(looking, rooms, true)) {
            try_prefetches(looking);
        }
    }
}

/* The slowest rank computes this long, whatever the rest. */
static double compute_s(const struct looking *looking)
{
    const struct yk_plan *plan = looking->plan;
    struct yk_layer_costs *costs = looking->every->context->costs;
    double slowest_s = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
            const int32_t device = plan->ranks[plan->groups[g].members[i].rank].device;
            double busy_s = 0;
            for (int32_t m = 0; m < plan->micro_batches; m++) {
                int64_t first = 0;
                const int64_t samples = yk_plan_member_sample_range(plan, g, i, m, &first);
                for (int32_t l = 0; l < plan->layer_count; l++) {
                    double forward_s = 0;
                    double backward_s = 0;
                    if (plan->layers[l].group != g) {
                        continue;
                    }
                    assert_ok(yk_layer_costs_seconds(costs, device, l, samples,
                                                     YK_COST_PASS_FORWARD, &forward_s));
                    assert_ok(yk_layer_costs_seconds(costs, device, l, samples,
                                                     YK_COST_PASS_BACKWARD, &backward_s));
                    busy_s += backward_s + (plan->layers[l].recompute ? 2 : 1) * forward_s;
                }
            }
            slowest_s = fmax(slowest_s, busy_s);
        }
    }
    return slowest_s;
}

/* Parameters and gradients of the group of several, once over its slowest link. */
static double travel_s(const struct looking *looking)
{
    const struct yk_search_context *context = looking->every->context;
    const struct yk_plan *plan = looking->plan;
    double bytes = 0;
    double slowest = INFINITY;
    if (looking->several < 0) {
        return 0;
    }
    const struct yk_plan_group *group = &plan->groups[looking->several];
    const int32_t n = group->member_count;
    for (int32_t i = 0; i < looking->own_count; i++) {
        const struct yk_model_layer_state_bytes state =
            yk_model_layer_state_bytes(context->model, &context->model->layers[looking->own[i]]);
        bytes += state.weight_bytes + state.gradient_bytes;
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t a = plan->ranks[group->members[i].rank].device;
        const int32_t b = plan->ranks[group->members[(i + 1) % n].rank].device;
        slowest = fmin(slowest, yk_cluster_link_between(context->cluster, a, b)->bytes_per_s);
    }
    return bytes * (n - 1) / n / slowest;
}

/* Gradients kept whole until the last micro-batch, or not. */
static void try_sums(const struct looking *looking)
{
    struct yk_plan *plan = looking->plan;
    if (fmax(compute_s(looking), travel_s(looking)) >= looking->every->best_s) {
        return;
    }
    if (yk_plan_check(plan, looking->every->context->model) != YK_OK) {
        return; /* more micro-batches than samples of a share */
    }
    plan->no_sync = true;
    try_strategies(looking);
    if (plan->micro_batches > 1 && looking->several >= 0) {
        plan->no_sync = false;
        try_strategies(looking);
    }
}

/* Members from `member` on take the units that are left. */
static void try_shares(const struct looking *looking, int32_t member, int64_t units, int64_t unit)
{
    struct yk_plan_group *group =
        &looking->plan->groups[looking->several < 0 ? 0 : looking->several];
    if (looking->several < 0) {
        try_sums(looking);
    } else if (member + 1 == group->member_count) {
        group->members[member].share = units * unit;
        try_sums(looking);
    } else {
        for (int64_t used = 0; used <= units && !is_over(looking); used++) {
            group->members[member].share = used * unit;
            try_shares(looking, member + 1, units - used, unit);
        }
    }
}

static void try_recomputation(const struct looking *looking)
{
    const struct yk_search_context *context = looking->every->context;
    const int64_t batch = context->request->workload.batch;
    const int64_t unit = looking->plan->group_count > 1 ? looking->plan->micro_batches : 1;
    int32_t blocks[MOST_LAYERS];
    int32_t count = 0;
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        if (context->recomputes[l]) {
            blocks[count++] = l;
        }
    }
    for (int32_t code = 0; code < 1 << count && !is_over(looking); code++) {
        for (int32_t i = 0; i < count; i++) {
            looking->plan->layers[blocks[i]].recompute = (code >> i & 1) != 0;
        }
        try_shares(looking, 0, batch / unit, unit);
    }
}

static void try_micro_batches(const struct looking *looking)
{
    const int64_t batch = looking->every->context->request->workload.batch;
    struct yk_plan *plan = looking->plan;
    for (int32_t M = 1; M <= batch; M++) {
        if (batch % M != 0) {
            continue;
        }
        plan->micro_batches = M;
        plan->pipeline = YK_PIPELINE_1F1B;
        try_recomputation(looking);
        if (plan->group_count > 1 && M > 1) {
            plan->pipeline = YK_PIPELINE_GPIPE;
            try_recomputation(looking);
        }
    }
}

/* A stage ends after layer l where bit l of `cuts` is set. */
static void place_layers(struct looking *looking, int32_t chain, uint32_t cuts)
{
    const struct yk_model *model = looking->every->context->model;
    int32_t group = 0;
    looking->own_count = 0;
    for (int32_t l = 0; l < model->layer_count; l++) {
        const int32_t shared = model->layers[l].shares_weights_of;
        looking->plan->layers[l].group =
            shared == YK_LAYER_NONE ? group : looking->plan->layers[shared].group;
        if (shared == YK_LAYER_NONE && group == looking->several) {
            looking->own[looking->own_count++] = l;
        }
        group += l + 1 < chain && (cuts >> l & 1) != 0 ? 1 : 0;
    }
}

/* `places` (devices) are groups, −1 for devices that are left out. */
static void begin_plan(struct looking *looking, const int32_t *places, int32_t groups)
{
    const struct yk_search_context *context = looking->every->context;
    int32_t devices[MOST_DEVICES];
    int32_t sizes[MOST_DEVICES] = {0};
    int32_t count = 0;
    for (int32_t g = 0; g < groups; g++) {
        for (int32_t p = 0; p < context->cluster->device_count; p++) {
            if (places[p] == g) {
                devices[count++] = p;
                sizes[g]++;
            }
        }
    }
    assert_ok(yk_search_context_create_default_plan(context, devices, count, groups, looking->arena,
                                                    &looking->plan));
    looking->several = -1;
    for (int32_t g = 0, rank = 0; g < groups; g++) {
        struct yk_plan_group *group = &looking->plan->groups[g];
        looking->several = sizes[g] > 1 ? g : looking->several;
        group->member_count = sizes[g];
        group->members =
            yk_arena_allocate(looking->arena, (size_t)sizes[g], sizeof *group->members);
        assert_non_null(group->members);
        for (int32_t i = 0; i < sizes[g]; i++) {
            group->members[i] =
                (struct yk_plan_group_member){.rank = rank++,
                                              .share = context->request->workload.batch,
                                              .shard_fraction = 1.0 / sizes[g]};
        }
    }
}

static int32_t count_bits(uint32_t bits)
{
    int32_t count = 0;
    for (; bits; bits &= bits - 1) {
        count++;
    }
    return count;
}

static void try_places(struct looking *looking, const int32_t *places, int32_t groups)
{
    const struct yk_model *model = looking->every->context->model;
    int32_t chain = model->layer_count;
    while (model->layers[chain - 1].shares_weights_of != YK_LAYER_NONE) {
        chain--;
    }
    assert_ok(yk_arena_create(&looking->arena));
    begin_plan(looking, places, groups);
    for (uint32_t cuts = 0; cuts < (uint32_t)1 << (chain - 1) && !is_over(looking); cuts++) {
        if (count_bits(cuts) == groups - 1) {
            place_layers(looking, chain, cuts);
            try_micro_batches(looking);
        }
    }
    yk_arena_destroy(looking->arena);
}

void every_plan_look(struct yk_search_context *context, double below_s, bool any,
                     struct yk_arena *arena, struct every_plan *out)
{
    const int32_t P = context->cluster->device_count;
    struct looking looking = {.every = out, .any = any};
    *out = (struct every_plan){
        .context = context, .arena = arena, .below_s = below_s, .best_s = below_s};
    assert_true(P <= MOST_DEVICES && context->model->layer_count <= MOST_LAYERS);
    for (int32_t groups = 1; groups <= P; groups++) {
        int32_t codes = 1;
        for (int32_t p = 0; p < P; p++) {
            codes *= groups + 1;
        }
        for (int32_t code = 0; code < codes && !is_over(&looking); code++) {
            int32_t places[MOST_DEVICES] = {0};
            uint32_t used = 0;
            for (int32_t p = 0, left = code; p < P; p++, left /= groups + 1) {
                places[p] = left % (groups + 1) - 1;
                used |= places[p] >= 0 ? (uint32_t)1 << places[p] : 0;
            }
            if (count_bits(used) == groups) {
                try_places(&looking, places, groups);
            }
        }
    }
}
