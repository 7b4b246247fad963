/* Local search: descends from the starts of a search by small moves. */
#include "planner/order/plan_transfer_order.h"
#include "planner/search/search.h"

#include <math.h>

/* A transfer order is computed for plans up to this factor slower than the best. */
static const double order_gain = 1.3;
/* Smaller relative gains are rounding errors. */
static const double rounding = 1e-9;

enum {
    MAX_VISITED = 1 << 14, /* entries of the hash set of evaluated plans */
    FEW_MOVES = 80,        /* up to this many moves, pairs of moves are tried */
};

struct evaluated {
    struct yk_plan *plan;
    bool fits;
    double step_s;
    double missing_bytes; /* on all ranks together */
};

struct descent {
    struct yk_plan_search *search;
    struct yk_search_context *context;
    struct yk_arena *arena;      /* of the current descent */
    struct yk_arena *step_arena; /* of the current move */
    uint64_t *visited;           /* (MAX_VISITED) hashes of evaluated plans; 0 means: free */
    int32_t visited_count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdU;
}

/* Hashes everything that moves change. Shard fractions and transfers follow from it. */
static uint64_t hash_of(const struct yk_plan *plan)
{
    uint64_t hash = mix(1, (uint64_t)plan->micro_batches);
    hash = mix(hash, (uint64_t)plan->pipeline * 2 + (plan->no_sync ? 1 : 0));
    hash = mix(hash, (uint64_t)plan->prefetch);
    hash = mix(hash, (uint64_t)plan->block_bytes);
    hash = mix(hash, (uint64_t)plan->bucket_bytes);
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
            const struct yk_plan_group_member *member = &plan->groups[g].members[i];
            hash = mix(hash, (uint64_t)plan->ranks[member->rank].device);
            hash = mix(hash, (uint64_t)member->share * 64 + (uint64_t)member->micro_batch_number);
        }
        hash = mix(hash, UINT64_MAX);
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const struct yk_plan_layer *layer = &plan->layers[l];
        hash = mix(hash, (uint64_t)layer->group * 16 + (uint64_t)layer->strategy * 2 +
                             (layer->recompute ? 1 : 0));
    }
    return hash == 0 ? 1 : hash;
}

/* Whether the plan was not evaluated before; always true once the set is full. */
static bool is_new(struct descent *descent, const struct yk_plan *plan)
{
    const uint64_t hash = hash_of(plan);
    uint64_t place = hash % MAX_VISITED;
    while (descent->visited[place] != 0 && descent->visited[place] != hash) {
        place = (place + 1) % MAX_VISITED;
    }
    if (descent->visited[place] == hash) {
        return false;
    }
    if (descent->visited_count < MAX_VISITED / 2) {
        descent->visited[place] = hash;
        descent->visited_count++;
    }
    return true;
}

/* Seconds of all passes of a member; `again` says whether recomputation counts. */
static yk_status member_s(const struct descent *descent, const struct yk_plan *plan, int32_t group,
                          int32_t member, bool again, double *out_s)
{
    const int32_t device = plan->ranks[plan->groups[group].members[member].rank].device;
    int64_t known = -1;
    double known_s = 0;
    *out_s = 0;
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        int64_t first = 0;
        const int64_t samples = yk_plan_member_sample_range(plan, group, member, m, &first);
        if (samples != known) {
            known = samples;
            known_s = 0;
            for (int32_t l = 0; l < plan->layer_count; l++) {
                double layer_s = 0;
                if (plan->layers[l].group == group) {
                    YK_TRY(yk_search_context_layer_compute_s(descent->context, device, l, samples,
                                                             again && plan->layers[l].recompute,
                                                             &layer_s));
                }
                known_s += layer_s;
            }
        }
        *out_s += known_s;
    }
    return YK_OK;
}

/* `*out` is false if computation alone takes longer than `max_s`. */
static yk_status may_be_faster(const struct descent *descent, const struct yk_plan *plan,
                               bool again, double max_s, bool *out)
{
    *out = true;
    for (int32_t g = 0; g < plan->group_count && *out; g++) {
        for (int32_t i = 0; i < plan->groups[g].member_count && *out; i++) {
            double seconds = 0;
            YK_TRY(member_s(descent, plan, g, i, again, &seconds));
            *out = seconds < max_s;
        }
    }
    return YK_OK;
}

static yk_status order(struct descent *descent, struct evaluated *evaluated)
{
    const struct yk_plan_transfer_order_options options = {.method =
                                                               YK_TRANSFER_ORDER_METHOD_GREEDY};
    struct yk_plan *plan = NULL;
    struct yk_plan_evaluation evaluation;
    bool ordered = false;
    YK_TRY(yk_plan_copy(evaluated->plan, descent->step_arena, &plan));
    YK_TRY(yk_plan_transfer_order_optimize(descent->context, &options, descent->step_arena, plan,
                                           &ordered));
    if (!ordered) {
        return YK_OK;
    }
    YK_TRY(yk_plan_evaluation_run(descent->context, plan, YK_PLAN_EVALUATION_SIMULATE_IF_FITS,
                                  &evaluation));
    if (evaluation.fits && evaluation.step_s < evaluated->step_s) {
        evaluated->plan = plan;
        evaluated->step_s = evaluation.step_s;
    }
    yk_plan_evaluation_free(&evaluation);
    return YK_OK;
}

/* Evaluates the plan with the best shard fractions and no transfer order. */
static yk_status evaluate_unordered(struct descent *descent, struct evaluated *evaluated)
{
    struct yk_plan *plan = evaluated->plan;
    struct yk_plan_evaluation evaluation;
    plan->transfer_count = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group *group = &plan->groups[g];
        for (int32_t i = 0; i < group->member_count; i++) {
            group->members[i].shard_fraction = 1.0 / group->member_count;
        }
    }
    YK_TRY(yk_shard_fractions_fit_plan(descent->context, plan, 0,
                                       YK_PLAN_EVALUATION_SIMULATE_IF_FITS, &evaluation));
    evaluated->fits = evaluation.fits;
    evaluated->step_s = evaluation.step_s;
    evaluated->missing_bytes = evaluation.refused ? INFINITY : 0;
    for (int32_t r = 0; r < plan->rank_count; r++) {
        evaluated->missing_bytes += fmax(0, evaluation.peaks[r].bytes - plan->ranks[r].limit_bytes);
    }
    yk_plan_evaluation_free(&evaluation);
    return YK_OK;
}

/* The same, and with a transfer order if the step time is close to `max_s`. */
static yk_status evaluate(struct descent *descent, double max_s, struct evaluated *evaluated)
{
    const struct yk_plan *plan = evaluated->plan;
    YK_TRY(evaluate_unordered(descent, evaluated));
    if (evaluated->fits && plan->group_count == 1 && plan->rank_count > 1 &&
        plan->micro_batches == 1 &&
        yk_search_context_decides(descent->context, YK_DECIDE_TRANSFER_ORDER) &&
        evaluated->step_s < order_gain * max_s) {
        return order(descent, evaluated);
    }
    return YK_OK;
}

static bool is_better(const struct evaluated *a, const struct evaluated *b)
{
    if (a->fits != b->fits) {
        return a->fits;
    }
    return a->fits ? a->step_s < b->step_s * (1 - rounding)
                   : a->missing_bytes < b->missing_bytes * (1 - rounding);
}

struct step {
    int32_t kind;
    int32_t number;
};

/* Applies the moves one after another; stops at one that is not valid. */
static yk_status make(const struct descent *descent, const struct step *steps, int32_t count,
                      struct yk_plan *plan, enum yk_plan_move_result *out)
{
    *out = YK_PLAN_MOVE_APPLIED;
    for (int32_t i = 0; i < count && *out == YK_PLAN_MOVE_APPLIED; i++) {
        YK_TRY(yk_plan_move_apply(descent->context, steps[i].kind, steps[i].number,
                                  descent->step_arena, plan, out));
    }
    return YK_OK;
}

static yk_status try_steps(struct descent *descent, const struct step *steps, int32_t count,
                           struct yk_arena *arena, struct evaluated *now,
                           enum yk_plan_move_result *out_changed, bool *out_better)
{
    const double max_s = now->fits ? now->step_s : descent->search->best_s;
    struct evaluated next = {0};
    bool promising = false;
    descent->step_arena = arena;
    *out_better = false;
    YK_TRY(yk_plan_copy(now->plan, arena, &next.plan));
    next.plan->transfer_count = 0; /* may be invalid after the move */
    YK_TRY(make(descent, steps, count, next.plan, out_changed));
    if (*out_changed != YK_PLAN_MOVE_APPLIED || !is_new(descent, next.plan)) {
        return YK_OK;
    }
    /* A plan that does not fit yet may not need recomputation later. */
    YK_TRY(may_be_faster(descent, next.plan, now->fits, max_s, &promising));
    if (!promising || yk_plan_check(next.plan, descent->context->model) != YK_OK) {
        return YK_OK;
    }
    YK_TRY(evaluate(descent, max_s, &next));
    if (is_better(&next, now)) {
        *out_better = true;
        *now = next;
        YK_TRY(yk_plan_copy(next.plan, descent->arena, &now->plan));
        if (now->fits) {
            return yk_plan_search_keep_if_best(descent->search, now->plan, now->step_s);
        }
    }
    return YK_OK;
}

static yk_status try_kind(struct descent *descent, int32_t kind, struct evaluated *now,
                          bool *out_better)
{
    enum yk_plan_move_result changed = YK_PLAN_MOVE_APPLIED;
    for (int32_t number = 0;
         changed != YK_PLAN_MOVE_PAST_LAST && yk_search_context_has_budget(descent->context);
         number++) {
        const struct step step = {kind, number};
        bool better = false;
        YK_TRY_WITH_TEMPORARY_ARENA(arena,
                                    try_steps(descent, &step, 1, arena, now, &changed, &better));
        *out_better = *out_better || better;
    }
    return YK_OK;
}

/* Applies improving moves of all kinds from `first` on; with `until_fits`, until it fits. */
static yk_status descend(struct descent *descent, int32_t first, bool until_fits,
                         struct evaluated *now)
{
    bool better = true;
    while (better && yk_search_context_has_budget(descent->context)) {
        better = false;
        for (int32_t k = first; k < YK_PLAN_MOVE_KIND_COUNT && !(until_fits && now->fits); k++) {
            YK_TRY(try_kind(descent, k, now, &better));
        }
    }
    return YK_OK;
}

/* Finds the variant that uses least memory; NAN missing bytes if all were evaluated before. */
static yk_status save_memory(struct descent *descent, struct evaluated *now)
{
    struct evaluated best = {.plan = now->plan, .missing_bytes = NAN};
    bool more = true;
    for (int32_t way = 0; more && !best.fits; way++) {
        struct evaluated next = {0};
        YK_TRY(yk_plan_copy(now->plan, descent->arena, &next.plan));
        more = yk_plan_move_reduce_memory(descent->context, way, next.plan);
        if (!more || !is_new(descent, next.plan)) {
            continue;
        }
        YK_TRY(evaluate_unordered(descent, &next));
        if (isnan(best.missing_bytes) || is_better(&next, &best)) {
            best = next;
        }
    }
    *now = best;
    return best.fits ? yk_plan_search_keep_if_best(descent->search, best.plan, best.step_s) : YK_OK;
}

/* A plan that does not fit first gets the variant with least memory, then moves until it fits. */
static yk_status descend_from(struct descent *descent,
                              const struct yk_plan_search_starting_point *start)
{
    struct evaluated now = {
        .fits = start->fits, .step_s = start->step_s, .missing_bytes = start->missing_bytes};
    YK_TRY(yk_plan_copy(start->plan, descent->arena, &now.plan));
    if (!now.fits) {
        YK_TRY(save_memory(descent, &now));
        if (!now.fits && !isnan(now.missing_bytes)) {
            YK_TRY(descend(descent, YK_PLAN_MOVE_FIRST_PLACEMENT_KIND, true, &now));
        }
    }
    return now.fits ? descend(descent, 0, false, &now) : YK_OK;
}

static yk_status make_in_copy(struct descent *descent, const struct yk_plan *plan,
                              const struct step *step, struct yk_arena *arena,
                              enum yk_plan_move_result *out)
{
    struct yk_plan *copy = NULL;
    descent->step_arena = arena;
    YK_TRY(yk_plan_copy(plan, arena, &copy));
    return make(descent, step, 1, copy, out);
}

/* Lists the valid moves of a plan, at most FEW_MOVES + 1. */
static yk_status list_steps(struct descent *descent, const struct yk_plan *plan, struct step *steps,
                            int32_t *out_count)
{
    *out_count = 0;
    for (int32_t k = 0; k < YK_PLAN_MOVE_KIND_COUNT; k++) {
        enum yk_plan_move_result changed = YK_PLAN_MOVE_APPLIED;
        for (int32_t number = 0; changed != YK_PLAN_MOVE_PAST_LAST; number++) {
            const struct step step = {k, number};
            YK_TRY_WITH_TEMPORARY_ARENA(arena, make_in_copy(descent, plan, &step, arena, &changed));
            if (changed == YK_PLAN_MOVE_APPLIED && *out_count <= FEW_MOVES) {
                steps[(*out_count)++] = step;
            }
        }
    }
    return YK_OK;
}

static yk_status try_pairs(struct descent *descent, struct evaluated *now, bool *out_better)
{
    struct step steps[FEW_MOVES + 1];
    int32_t count = 0;
    *out_better = false;
    YK_TRY(list_steps(descent, now->plan, steps, &count));
    for (int32_t i = 0; i < count && count <= FEW_MOVES && !*out_better; i++) {
        for (int32_t j = 0;
             j < count && !*out_better && yk_search_context_has_budget(descent->context); j++) {
            const struct step pair[] = {steps[i], steps[j]};
            enum yk_plan_move_result changed = YK_PLAN_MOVE_APPLIED;
            if (i != j) {
                YK_TRY_WITH_TEMPORARY_ARENA(
                    arena, try_steps(descent, pair, 2, arena, now, &changed, out_better));
            }
        }
    }
    return YK_OK;
}

static yk_status descend_in_pairs(struct descent *descent)
{
    struct evaluated now = {.fits = true, .step_s = descent->search->best_s};
    bool better = descent->search->best != NULL;
    if (better) {
        YK_TRY(yk_plan_copy(descent->search->best, descent->arena, &now.plan));
    }
    while (better && yk_search_context_has_budget(descent->context)) {
        YK_TRY(descend(descent, 0, false, &now));
        YK_TRY(try_pairs(descent, &now, &better));
    }
    return YK_OK;
}

static yk_status search_from_starts(struct descent *descent, struct yk_arena *arena)
{
    struct yk_plan_search *search = descent->search;
    yk_status status = YK_OK;
    YK_TRY_NEW(arena, descent->visited, MAX_VISITED);
    for (int32_t i = 0; i <= search->start_count && status == YK_OK &&
                        yk_search_context_has_budget(descent->context);
         i++) {
        YK_TRY(yk_arena_create(&descent->arena));
        status = i < search->start_count ? descend_from(descent, &search->starts[i])
                                         : descend_in_pairs(descent);
        yk_arena_destroy(descent->arena);
    }
    return status;
}

yk_status yk_local_search_run(struct yk_plan_search *search)
{
    struct descent descent = {.search = search, .context = search->context};
    yk_search_context_report_progress(search->context, "small changes");
    YK_TRY_WITH_TEMPORARY_ARENA(arena, search_from_starts(&descent, arena));
    return YK_OK;
}
