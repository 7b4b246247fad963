/* Plans in which members take turns, as finder.h asks for them. */
#include "plan/plan_divide.h"
#include "planner/finder.h"
#include "planner/sets.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_HELPERS = 7,
    MOST_HELPED = 16, /* samples; where there are more, sharing them out serves */
    AROUND = 1,       /* layers that the cut is moved by from where it seems best */
};

/* Estimates leave out messages: plans that seem this much longer than the best may still be. */
static const double benefit = 1.05;

struct looking {
    struct yk_finder *finder;
    struct yk_study *study;
    struct yk_arena *arena;        /* of the candidate at hand */
    int32_t main;                  /* the fastest device */
    int32_t helpers[MOST_HELPERS]; /* devices, the fastest first */
    int64_t helped[MOST_HELPERS];  /* samples of each */
    int32_t helper_count;
    bool front; /* they do the first layers, not the last */
};

/* Of the whole batch, by a device. */
static yk_status whole_s(const struct looking *looking, int32_t device, double *out_s)
{
    const struct yk_study *study = looking->study;
    return yk_study_layers_s(study, device, 0, study->model->layer_count - 1,
                             study->request->workload.batch, NULL, out_s);
}

/* The fastest device and up to MOST_HELPERS others, by speed. */
static yk_status line_up(struct looking *looking, const struct yk_device_set *all)
{
    double times[MOST_HELPERS + 1];
    int32_t devices[MOST_HELPERS + 1];
    int32_t count = 0;
    for (int32_t i = 0; i < all->count; i++) {
        double seconds = 0;
        int32_t at = count;
        YK_TRY(whole_s(looking, all->devices[i], &seconds));
        while (at > 0 && seconds < times[at - 1]) {
            at--;
        }
        if (at > MOST_HELPERS) {
            continue;
        }
        count += count <= MOST_HELPERS ? 1 : 0;
        for (int32_t j = count - 1; j > at; j--) {
            times[j] = times[j - 1];
            devices[j] = devices[j - 1];
        }
        times[at] = seconds;
        devices[at] = all->devices[i];
    }
    looking->main = devices[0];
    looking->helper_count = count - 1;
    for (int32_t i = 0; i + 1 < count; i++) {
        looking->helpers[i] = devices[i + 1];
    }
    return YK_OK;
}

/* Whether helpers do a layer where `cut` layers are theirs; layers that share weights are placed
 * together, so that both are or none is. */
static bool is_helped(const struct looking *looking, int32_t layer, int32_t cut)
{
    const struct yk_model *model = looking->study->model;
    const int32_t L = model->layer_count;
    bool helped = looking->front ? layer < cut : layer >= L - cut;
    for (int32_t l = 0; l < L; l++) {
        if (model->layers[l].shares == layer || model->layers[layer].shares == l) {
            helped = helped && (looking->front ? l < cut : l >= L - cut);
        }
    }
    return helped;
}

/* Seconds of layers that are, or are not, helped, for some samples on a device. */
static yk_status part_s(const struct looking *looking, int32_t device, int32_t cut, bool helped,
                        int64_t samples, double *out_s)
{
    *out_s = 0;
    for (int32_t l = 0; l < looking->study->model->layer_count && samples > 0; l++) {
        if (is_helped(looking, l, cut) == helped) {
            double seconds = 0;
            YK_TRY(yk_study_layers_s(looking->study, device, l, l, samples, NULL, &seconds));
            *out_s += seconds;
        }
    }
    return YK_OK;
}

/* What computing takes at least: all that the main device does, or the way of helped samples. */
static yk_status estimate(const struct looking *looking, int32_t cut, int64_t helped, double *out_s)
{
    const int64_t own = looking->study->request->workload.batch - helped;
    double own_s = 0;
    double own_rest_s = 0;
    double rest_s = 0;
    double slowest_s = 0;
    YK_TRY(part_s(looking, looking->main, cut, true, own, &own_s));
    YK_TRY(part_s(looking, looking->main, cut, false, own, &own_rest_s));
    YK_TRY(part_s(looking, looking->main, cut, false, helped, &rest_s));
    for (int32_t i = 0; i < looking->helper_count; i++) {
        double seconds = 0;
        YK_TRY(part_s(looking, looking->helpers[i], cut, true, looking->helped[i], &seconds));
        slowest_s = fmax(slowest_s, seconds);
    }
    *out_s = rest_s + fmax(own_s + own_rest_s, slowest_s);
    return YK_OK;
}

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Group 0 takes turns, group 1 is the main device alone. */
static yk_status make_plan(const struct looking *looking, int32_t cut, enum yk_strategy strategy,
                           struct yk_plan **out)
{
    const int32_t count = looking->helper_count + 1;
    struct yk_plan *plan = NULL;
    int32_t devices[MOST_HELPERS + 1] = {looking->main};
    for (int32_t i = 0; i < looking->helper_count; i++) {
        devices[i + 1] = looking->helpers[i];
    }
    qsort(devices, (size_t)count, sizeof devices[0], by_number);
    YK_TRY(yk_study_begin_plan(looking->study, devices, count, 2, looking->arena, &plan));
    YK_TRY_NEW(looking->arena, plan->groups[0].members, count);
    YK_TRY_NEW(looking->arena, plan->groups[1].members, 1);
    plan->micro_batches = 2;
    plan->pipeline = YK_NESTED;
    plan->groups[0].member_count = count;
    plan->groups[1].member_count = 1;
    int64_t own = plan->workload.batch;
    for (int32_t i = 0; i < looking->helper_count; i++) {
        own -= looking->helped[i];
    }
    for (int32_t r = 0; r < count; r++) {
        struct yk_plan_member *member = &plan->groups[0].members[r];
        /* Who helps with the first layers goes backward last, with the last ones forward first. */
        *member = (struct yk_plan_member){
            .rank = r, .share = own, .part = 1.0 / count, .turn = looking->front ? 2 : 1};
        for (int32_t i = 0; i < looking->helper_count; i++) {
            if (looking->helpers[i] == devices[r]) {
                member->share = looking->helped[i];
                member->turn = looking->front ? 1 : 2;
            }
        }
        if (devices[r] == looking->main) {
            plan->groups[1].members[0] =
                (struct yk_plan_member){.rank = r, .share = plan->workload.batch, .part = 1};
        }
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l].group = is_helped(looking, l, cut) ? 0 : 1;
        plan->layers[l].strategy = strategy;
    }
    *out = plan;
    return YK_OK;
}

static bool has_both_groups(const struct yk_plan *plan)
{
    bool groups[2] = {false, false};
    for (int32_t l = 0; l < plan->layer_count; l++) {
        groups[plan->layers[l].group] = true;
    }
    return groups[0] && groups[1];
}

static yk_status consider(struct looking *looking, int32_t cut)
{
    const struct yk_study *study = looking->study;
    const enum yk_strategy asked = study->request->strategy;
    struct yk_plan *plan = NULL;
    if (cut < 1 || cut >= study->model->layer_count) {
        return YK_OK;
    }
    YK_TRY(yk_arena_create(&looking->arena));
    yk_status status =
        make_plan(looking, cut, asked == YK_STRATEGY_COUNT ? YK_REPLICATED : asked, &plan);
    if (status == YK_OK && has_both_groups(plan)) {
        status = yk_finder_consider(looking->finder, plan, "turns", NULL);
    }
    yk_arena_destroy(looking->arena);
    looking->arena = NULL;
    return status;
}

/* Where the helped layers end at best, by the estimate, and a few layers around it. */
static yk_status try_cuts(struct looking *looking, int64_t helped)
{
    const int32_t L = looking->study->model->layer_count;
    double best_s = INFINITY;
    int32_t best = 0;
    for (int32_t cut = 1; cut < L; cut++) {
        double seconds = 0;
        YK_TRY(estimate(looking, cut, helped, &seconds));
        best = seconds < best_s ? cut : best;
        best_s = fmin(best_s, seconds);
    }
    if (!(best_s < benefit * looking->finder->best_s)) {
        return YK_OK;
    }
    for (int32_t cut = best - AROUND; cut <= best + AROUND; cut++) {
        YK_TRY(consider(looking, cut));
    }
    return YK_OK;
}

/* So many samples are helped, shared out among the helpers by their speed. */
static yk_status try_helped(struct looking *looking, int64_t helped)
{
    double speeds[MOST_HELPERS];
    for (int32_t i = 0; i < looking->helper_count; i++) {
        YK_TRY(whole_s(looking, looking->helpers[i], &speeds[i]));
        speeds[i] = 1 / speeds[i];
    }
    yk_plan_divide(speeds, looking->helper_count, helped, looking->helped);
    for (int32_t front = 0; front < 2; front++) {
        looking->front = front == 1;
        YK_TRY(try_cuts(looking, helped));
    }
    return YK_OK;
}

/* The fastest helpers, one after the other; all of them where none may be left out. */
static yk_status try_helpers(struct looking *looking)
{
    const struct yk_study *study = looking->study;
    const int64_t batch = study->request->workload.batch;
    const int32_t all = looking->helper_count;
    for (int32_t count = study->request->all_devices ? all : 1; count <= all; count++) {
        looking->helper_count = count;
        for (int64_t helped = count; helped < batch && helped <= MOST_HELPED; helped++) {
            if (looking->finder->best && !yk_study_goes_on(study)) {
                return YK_OK;
            }
            yk_study_report(study, "turns");
            YK_TRY(try_helped(looking, helped));
        }
    }
    return YK_OK;
}

yk_status yk_finder_turns(struct yk_finder *finder)
{
    struct yk_study *study = finder->study;
    const struct yk_plan_request *request = study->request;
    struct looking looking = {.finder = finder, .study = study};
    struct yk_arena *arena = NULL;
    struct yk_device_set *sets = NULL;
    int32_t count = 0;
    if (!yk_study_decides(study, YK_DECIDE_PLACEMENT) ||
        !yk_study_decides(study, YK_DECIDE_SHARES) || request->random_strategies ||
        (request->micro_batches != 0 && request->micro_batches != 2)) {
        return YK_OK;
    }
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_sets_of_devices(study, arena, &sets, &count);
    if (status == YK_OK && sets[0].count > 1) {
        status = line_up(&looking, &sets[0]);
    }
    if (status == YK_OK && looking.helper_count > 0) {
        status = try_helpers(&looking);
    }
    yk_arena_destroy(arena);
    return status;
}
