/* Goes downhill from the starts that were found, as finder.h asks for it. */
#include "planner/order/plan.h"
#include "planner/search/fit.h"
#include "planner/search/plan_move.h"
#include "planner/search/search.h"

#include <math.h>

/* An order is found for plans that come this near without one. */
static const double order_gain = 1.3;
/* Gains smaller than this part are rounding. */
static const double rounding = 1e-9;

enum {
    SEEN = 1 << 14,   /* plans remembered, so that none is tried twice */
    FEW_CHANGES = 80, /* of a plan that can be tried in pairs */
};

/* A plan and what it is worth. */
struct worth {
    struct yk_plan *plan;
    bool fits;
    double step_s;
    double missing_bytes; /* on all ranks together */
};

struct improving {
    struct yk_search *finder;
    struct yk_study *study;
    struct yk_arena *arena;      /* of the descent at hand */
    struct yk_arena *step_arena; /* of the change at hand */
    uint64_t *seen;              /* (SEEN) hashes; 0: free */
    int32_t seen_count;
};

static bool goes_on(const struct improving *improving)
{
    return yk_study_has_budget(improving->study);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdU;
}

/* Of all that changes make of a plan: not of parts and transfers, which follow. */
static uint64_t hash_of(const struct yk_plan *plan)
{
    uint64_t hash = mix(1, (uint64_t)plan->micro_batches);
    hash = mix(hash, (uint64_t)plan->pipeline * 2 + (plan->no_sync ? 1 : 0));
    hash = mix(hash, (uint64_t)plan->prefetch);
    hash = mix(hash, (uint64_t)plan->block_bytes);
    hash = mix(hash, (uint64_t)plan->bucket_bytes);
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
            const struct yk_plan_member *member = &plan->groups[g].members[i];
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

/* True the first time; once the memory is full, always. */
static bool is_new(struct improving *improving, const struct yk_plan *plan)
{
    const uint64_t hash = hash_of(plan);
    uint64_t place = hash % SEEN;
    while (improving->seen[place] != 0 && improving->seen[place] != hash) {
        place = (place + 1) % SEEN;
    }
    if (improving->seen[place] == hash) {
        return false;
    }
    if (improving->seen_count < SEEN / 2) {
        improving->seen[place] = hash;
        improving->seen_count++;
    }
    return true;
}

/* A member's passes of all its layers, with or without those that are done again. */
static yk_status member_s(const struct improving *improving, const struct yk_plan *plan,
                          int32_t group, int32_t member, bool again, double *out_s)
{
    const int32_t device = plan->ranks[plan->groups[group].members[member].rank].device;
    int64_t known = -1;
    double known_s = 0;
    *out_s = 0;
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        int64_t first = 0;
        const int64_t samples = yk_plan_samples(plan, group, member, m, &first);
        if (samples != known) {
            known = samples;
            known_s = 0;
            for (int32_t l = 0; l < plan->layer_count; l++) {
                double forward_s = 0;
                double backward_s = 0;
                if (plan->layers[l].group != group) {
                    continue;
                }
                YK_TRY(yk_layer_costs_seconds(improving->study->prices, device, l, samples,
                                              YK_COST_FORWARD, &forward_s));
                YK_TRY(yk_layer_costs_seconds(improving->study->prices, device, l, samples,
                                              YK_COST_BACKWARD, &backward_s));
                known_s += (again && plan->layers[l].recompute ? 2 : 1) * forward_s + backward_s;
            }
        }
        *out_s += known_s;
    }
    return YK_OK;
}

/* False when computation alone takes longer than `most_s`. */
static yk_status may_be_faster(const struct improving *improving, const struct yk_plan *plan,
                               bool again, double most_s, bool *out)
{
    *out = true;
    for (int32_t g = 0; g < plan->group_count && *out; g++) {
        for (int32_t i = 0; i < plan->groups[g].member_count && *out; i++) {
            double seconds = 0;
            YK_TRY(member_s(improving, plan, g, i, again, &seconds));
            *out = seconds < most_s;
        }
    }
    return YK_OK;
}

static yk_status order(struct improving *improving, struct worth *worth)
{
    const struct yk_order_plan_options ordering = {.method = YK_ORDER_METHOD_GREEDY};
    struct yk_plan *plan = NULL;
    struct yk_trial trial;
    bool ordered = false;
    YK_TRY(yk_plan_copy(worth->plan, improving->step_arena, &plan));
    YK_TRY(yk_order_plan_apply(improving->study, &ordering, improving->step_arena, plan, &ordered));
    if (!ordered) {
        return YK_OK;
    }
    YK_TRY(yk_trial_run(improving->study, plan, YK_TRIAL_TIME, &trial));
    if (trial.fits && trial.step_s < worth->step_s) {
        worth->plan = plan;
        worth->step_s = trial.step_s;
    }
    yk_trial_free(&trial);
    return YK_OK;
}

/* With parts that suit it, in the usual order. */
static yk_status weigh_alone(struct improving *improving, struct worth *worth)
{
    struct yk_plan *plan = worth->plan;
    struct yk_trial trial;
    plan->transfer_count = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group *group = &plan->groups[g];
        for (int32_t i = 0; i < group->member_count; i++) {
            group->members[i].part = 1.0 / group->member_count;
        }
    }
    YK_TRY(yk_parts_fit(improving->study, plan, 0, YK_TRIAL_TIME, &trial));
    worth->fits = trial.fits;
    worth->step_s = trial.step_s;
    worth->missing_bytes = trial.refused ? INFINITY : 0;
    for (int32_t r = 0; r < plan->rank_count; r++) {
        worth->missing_bytes += fmax(0, trial.peaks[r].bytes - plan->ranks[r].limit_bytes);
    }
    yk_trial_free(&trial);
    return YK_OK;
}

/* With an order, too, if it comes near `most_s` without one. */
static yk_status weigh(struct improving *improving, double most_s, struct worth *worth)
{
    const struct yk_plan *plan = worth->plan;
    YK_TRY(weigh_alone(improving, worth));
    if (worth->fits && plan->group_count == 1 && plan->rank_count > 1 && plan->micro_batches == 1 &&
        yk_study_decides(improving->study, YK_DECIDE_ORDER) &&
        worth->step_s < order_gain * most_s) {
        return order(improving, worth);
    }
    return YK_OK;
}

static bool is_better(const struct worth *a, const struct worth *b)
{
    if (a->fits != b->fits) {
        return a->fits;
    }
    return a->fits ? a->step_s < b->step_s * (1 - rounding)
                   : a->missing_bytes < b->missing_bytes * (1 - rounding);
}

/* A change of one kind, by its number. */
struct step {
    int32_t kind;
    int32_t number;
};

/* Makes the changes one after the other; all must change something. */
static yk_status make(const struct improving *improving, const struct step *steps, int32_t count,
                      struct yk_plan *plan, enum yk_plan_move_result *out)
{
    *out = YK_PLAN_MOVE_DONE;
    for (int32_t i = 0; i < count && *out == YK_PLAN_MOVE_DONE; i++) {
        YK_TRY(yk_plan_moves[steps[i].kind].make(improving->study, steps[i].number,
                                                 improving->step_arena, plan, out));
    }
    return YK_OK;
}

/* Tries changes of `now`, and goes there if that is better. */
static yk_status try_in(struct improving *improving, const struct step *steps, int32_t count,
                        struct worth *now, enum yk_plan_move_result *out_changed, bool *out_better)
{
    const double most_s = now->fits ? now->step_s : improving->finder->best_s;
    struct worth next = {0};
    bool hopeful = false;
    YK_TRY(yk_plan_copy(now->plan, improving->step_arena, &next.plan));
    next.plan->transfer_count = 0; /* its order may not be one of what it becomes */
    YK_TRY(make(improving, steps, count, next.plan, out_changed));
    if (*out_changed != YK_PLAN_MOVE_DONE || !is_new(improving, next.plan)) {
        return YK_OK;
    }
    /* What does not fit yet may do without recomputation once it does. */
    YK_TRY(may_be_faster(improving, next.plan, now->fits, most_s, &hopeful));
    if (!hopeful || yk_plan_check(next.plan, improving->study->model) != YK_OK) {
        return YK_OK;
    }
    YK_TRY(weigh(improving, most_s, &next));
    if (is_better(&next, now)) {
        *out_better = true;
        *now = next;
        YK_TRY(yk_plan_copy(next.plan, improving->arena, &now->plan));
        if (now->fits) {
            return yk_search_accept(improving->finder, now->plan, now->step_s,
                                    yk_plan_moves[steps[count - 1].kind].how);
        }
    }
    return YK_OK;
}

static yk_status try_steps(struct improving *improving, const struct step *steps, int32_t count,
                           struct worth *now, enum yk_plan_move_result *out_changed,
                           bool *out_better)
{
    *out_better = false;
    YK_TRY(yk_arena_create(&improving->step_arena));
    const yk_status status = try_in(improving, steps, count, now, out_changed, out_better);
    yk_arena_destroy(improving->step_arena);
    return status;
}

/* All changes of one kind, as long as they are better. */
static yk_status try_kind(struct improving *improving, int32_t kind, struct worth *now,
                          bool *out_better)
{
    enum yk_plan_move_result changed = YK_PLAN_MOVE_DONE;
    for (int32_t number = 0; changed != YK_PLAN_MOVE_END && goes_on(improving); number++) {
        const struct step step = {kind, number};
        bool better = false;
        YK_TRY(try_steps(improving, &step, 1, now, &changed, &better));
        *out_better = *out_better || better;
    }
    return YK_OK;
}

/* All changes of all kinds from `first` on, until none is better; or, with `until_fits`, until the
 * plan fits. */
static yk_status descend(struct improving *improving, int32_t first, bool until_fits,
                         struct worth *now)
{
    bool better = true;
    while (better && goes_on(improving)) {
        better = false;
        for (int32_t k = first; k < yk_plan_move_count && !(until_fits && now->fits); k++) {
            YK_TRY(try_kind(improving, k, now, &better));
        }
    }
    return YK_OK;
}

/* The most sparing of the ways to keep layers; NAN bytes missing when all were looked at before. */
static yk_status save_memory(struct improving *improving, struct worth *now)
{
    struct worth best = {.plan = now->plan, .missing_bytes = NAN};
    bool more = true;
    for (int32_t way = 0; more && !best.fits; way++) {
        struct worth next = {0};
        YK_TRY(yk_plan_copy(now->plan, improving->arena, &next.plan));
        more = yk_plan_move_save_memory(improving->study, way, next.plan);
        if (!more || !is_new(improving, next.plan)) {
            continue;
        }
        YK_TRY(weigh_alone(improving, &next));
        if (isnan(best.missing_bytes) || is_better(&next, &best)) {
            best = next;
        }
    }
    *now = best;
    return best.fits ? yk_search_accept(improving->finder, best.plan, best.step_s, "sparing")
                     : YK_OK;
}

/* A plan that does not fit is made as sparing as can be, then changed until it fits. */
static yk_status descend_from(struct improving *improving, const struct yk_search_start *start)
{
    struct worth now = {
        .fits = start->fits, .step_s = start->step_s, .missing_bytes = start->missing_bytes};
    YK_TRY(yk_plan_copy(start->plan, improving->arena, &now.plan));
    if (!now.fits) {
        YK_TRY(save_memory(improving, &now));
        if (!now.fits && !isnan(now.missing_bytes)) {
            YK_TRY(descend(improving, YK_PLAN_MOVES_OF_SHAPE, true, &now));
        }
    }
    return now.fits ? descend(improving, 0, false, &now) : YK_OK;
}

/* The changes that a plan has; one more than FEW_CHANGES at most. */
static yk_status list_steps(struct improving *improving, const struct yk_plan *plan,
                            struct step *steps, int32_t *out_count)
{
    *out_count = 0;
    for (int32_t k = 0; k < yk_plan_move_count; k++) {
        enum yk_plan_move_result changed = YK_PLAN_MOVE_DONE;
        for (int32_t number = 0; changed != YK_PLAN_MOVE_END; number++) {
            const struct step step = {k, number};
            struct yk_plan *copy = NULL;
            YK_TRY(yk_arena_create(&improving->step_arena));
            yk_status status = yk_plan_copy(plan, improving->step_arena, &copy);
            if (status == YK_OK) {
                status = make(improving, &step, 1, copy, &changed);
            }
            yk_arena_destroy(improving->step_arena);
            YK_TRY(status);
            if (changed == YK_PLAN_MOVE_DONE && *out_count <= FEW_CHANGES) {
                steps[(*out_count)++] = step;
            }
        }
    }
    return YK_OK;
}

/* Two changes at once, where a plan has few. */
static yk_status try_pairs(struct improving *improving, struct worth *now, bool *out_better)
{
    struct step steps[FEW_CHANGES + 1];
    int32_t count = 0;
    *out_better = false;
    YK_TRY(list_steps(improving, now->plan, steps, &count));
    for (int32_t i = 0; i < count && count <= FEW_CHANGES && !*out_better; i++) {
        for (int32_t j = 0; j < count && !*out_better && goes_on(improving); j++) {
            const struct step pair[] = {steps[i], steps[j]};
            enum yk_plan_move_result changed = YK_PLAN_MOVE_DONE;
            if (i != j) {
                YK_TRY(try_steps(improving, pair, 2, now, &changed, out_better));
            }
        }
    }
    return YK_OK;
}

/* From the best of all, pairs of changes as long as they help. */
static yk_status go_on_in_pairs(struct improving *improving)
{
    struct worth now = {.fits = true, .step_s = improving->finder->best_s};
    bool better = improving->finder->best != NULL;
    if (better) {
        YK_TRY(yk_plan_copy(improving->finder->best, improving->arena, &now.plan));
    }
    while (better && goes_on(improving)) {
        YK_TRY(descend(improving, 0, false, &now));
        YK_TRY(try_pairs(improving, &now, &better));
    }
    return YK_OK;
}

static yk_status improve(struct improving *improving)
{
    struct yk_search *finder = improving->finder;
    yk_status status = YK_OK;
    for (int32_t i = 0; i <= finder->start_count && status == YK_OK && goes_on(improving); i++) {
        YK_TRY(yk_arena_create(&improving->arena));
        status = i < finder->start_count ? descend_from(improving, &finder->starts[i])
                                         : go_on_in_pairs(improving);
        yk_arena_destroy(improving->arena);
    }
    return status;
}

yk_status yk_local_search_run(struct yk_search *finder)
{
    struct improving improving = {.finder = finder, .study = finder->study};
    struct yk_arena *arena = NULL;
    yk_study_report(finder->study, "small changes");
    YK_TRY(yk_arena_create(&arena));
    improving.seen = yk_arena_allocate(arena, SEEN, sizeof *improving.seen);
    const yk_status status = improving.seen ? improve(&improving) : yk_fail_out_of_memory();
    yk_arena_destroy(arena);
    return status;
}
