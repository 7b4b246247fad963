/* Plans in which members take turns, as finder.h asks for them. */
#include "plan/plan.h"
#include "planner/search/device_sets.h"
#include "planner/search/search.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_HELPERS = 7,
    MOST_HELPED = 16, /* samples; where there are more, sharing them out serves */
    AROUND = 1,       /* layers that the cut is moved by from where it seems best */
    MOST_WISHES = 6,
};

/* Devices of nearly one speed share samples out, or are stages. */
static const double slower = 1.3;

/* What a plan of turns would be like, by an estimate. */
struct wish {
    double step_s;
    int32_t helper_count;
    int64_t helped; /* samples */
    int32_t cut;    /* layers that are helped */
    bool front;
};

struct looking {
    struct yk_search *finder;
    struct yk_study *study;
    struct yk_arena *arena;        /* of the candidate at hand */
    int32_t main;                  /* the fastest device */
    int32_t helpers[MOST_HELPERS]; /* devices, the fastest first */
    int64_t helped[MOST_HELPERS];  /* samples of each */
    int32_t helper_count;
    bool front;                      /* they do the first layers, not the last */
    bool shared;                     /* some layers share weights */
    double *own_s;                   /* (L) of the main device, for its own samples */
    double *rest_s;                  /* (L) and for those that are helped */
    double *helper_s;                /* (helpers, L) */
    struct wish wishes[MOST_WISHES]; /* the shortest first */
    int32_t wish_count;
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
    looking->helper_count = times[count - 1] > slower * times[0] ? count - 1 : 0;
    for (int32_t i = 0; i < looking->helper_count; i++) {
        looking->helpers[i] = devices[i + 1];
    }
    return YK_OK;
}

/* The layer whose weights a layer uses: often its own. */
static int32_t owner_of(const struct yk_model *model, int32_t layer)
{
    const int32_t shared = model->layers[layer].shares;
    return shared == YK_LAYER_NONE ? layer : shared;
}

/* Whether helpers do a layer where `cut` layers are theirs; layers that share weights are placed
 * together, so that all are or none is. */
static bool is_helped(const struct looking *looking, int32_t layer, int32_t cut)
{
    const struct yk_model *model = looking->study->model;
    const int32_t L = model->layer_count;
    bool helped = looking->front ? layer < cut : layer >= L - cut;
    for (int32_t l = 0; l < L && looking->shared; l++) {
        if (owner_of(model, l) == owner_of(model, layer)) {
            helped = helped && (looking->front ? l < cut : l >= L - cut);
        }
    }
    return helped;
}

/* Forward and backward of every layer, as the samples at hand are divided. */
static yk_status price_layers(struct looking *looking, int64_t helped)
{
    const struct yk_study *study = looking->study;
    const int32_t L = study->model->layer_count;
    const int64_t own = study->request->workload.batch - helped;
    for (int32_t l = 0; l < L; l++) {
        YK_TRY(yk_study_layers_s(study, looking->main, l, l, own, NULL, &looking->own_s[l]));
        YK_TRY(yk_study_layers_s(study, looking->main, l, l, helped, NULL, &looking->rest_s[l]));
        for (int32_t i = 0; i < looking->helper_count; i++) {
            YK_TRY(yk_study_layers_s(study, looking->helpers[i], l, l, looking->helped[i], NULL,
                                     &looking->helper_s[i * L + l]));
        }
    }
    return YK_OK;
}

/* What computing takes at least: all that the main device does, or the way of helped samples. */
static double estimate(const struct looking *looking, int32_t cut)
{
    const int32_t L = looking->study->model->layer_count;
    double own_s = 0;
    double rest_s = 0;
    double slowest_s = 0;
    double helper_s[MOST_HELPERS] = {0};
    for (int32_t l = 0; l < L; l++) {
        const bool helped = is_helped(looking, l, cut);
        own_s += looking->own_s[l];
        rest_s += helped ? 0 : looking->rest_s[l];
        for (int32_t i = 0; i < looking->helper_count && helped; i++) {
            helper_s[i] += looking->helper_s[i * L + l];
        }
    }
    for (int32_t i = 0; i < looking->helper_count; i++) {
        slowest_s = fmax(slowest_s, helper_s[i]);
    }
    return rest_s + fmax(own_s, slowest_s);
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
    YK_TRY(yk_study_create_plan(looking->study, devices, count, 2, looking->arena, &plan));
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
        *member = (struct yk_plan_member){.rank = r,
                                          .share = own,
                                          .part = 1.0 / count,
                                          .micro_batch_number = looking->front ? 2 : 1};
        for (int32_t i = 0; i < looking->helper_count; i++) {
            if (looking->helpers[i] == devices[r]) {
                member->share = looking->helped[i];
                member->micro_batch_number = looking->front ? 1 : 2;
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
        status = yk_search_consider(looking->finder, plan, "turns", NULL);
    }
    yk_arena_destroy(looking->arena);
    looking->arena = NULL;
    return status;
}

/* Where the helped layers end at best, by the estimate. */
static struct wish best_cut(const struct looking *looking, int64_t helped)
{
    struct wish best = {.step_s = INFINITY,
                        .helper_count = looking->helper_count,
                        .helped = helped,
                        .front = looking->front};
    for (int32_t cut = 1; cut < looking->study->model->layer_count; cut++) {
        const double seconds = estimate(looking, cut);
        if (seconds < best.step_s) {
            best.step_s = seconds;
            best.cut = cut;
        }
    }
    return best;
}

/* So many samples are helped, shared out among the helpers by their speed. */
static yk_status share_out(struct looking *looking, int64_t helped)
{
    double speeds[MOST_HELPERS];
    for (int32_t i = 0; i < looking->helper_count; i++) {
        YK_TRY(whole_s(looking, looking->helpers[i], &speeds[i]));
        speeds[i] = 1 / speeds[i];
    }
    yk_plan_divide(speeds, looking->helper_count, helped, looking->helped);
    return YK_OK;
}

/* Keeps a wish if it is among the shortest. */
static void keep(struct looking *looking, struct wish wish)
{
    int32_t at = looking->wish_count;
    looking->wish_count += at < MOST_WISHES ? 1 : 0;
    for (; at > 0 && wish.step_s < looking->wishes[at - 1].step_s; at--) {
        if (at < MOST_WISHES) {
            looking->wishes[at] = looking->wishes[at - 1];
        }
    }
    if (at < MOST_WISHES) {
        looking->wishes[at] = wish;
    }
}

/* The fastest helpers, one after the other; all of them where none may be left out. */
static yk_status find_wishes(struct looking *looking)
{
    const struct yk_study *study = looking->study;
    const int64_t batch = study->request->workload.batch;
    const int32_t all = looking->helper_count;
    for (int32_t count = study->request->all_devices ? all : 1; count <= all; count++) {
        looking->helper_count = count;
        for (int64_t helped = count; helped < batch && helped <= MOST_HELPED; helped++) {
            YK_TRY(share_out(looking, helped));
            YK_TRY(price_layers(looking, helped));
            for (int32_t front = 0; front < 2; front++) {
                looking->front = front == 1;
                keep(looking, best_cut(looking, helped));
            }
        }
    }
    return YK_OK;
}

/* The cut that was wished for, and those around it: estimates leave out messages. */
static yk_status try_wishes(struct looking *looking)
{
    const struct yk_study *study = looking->study;
    for (int32_t w = 0; w < looking->wish_count; w++) {
        const struct wish *wish = &looking->wishes[w];
        if (!(wish->step_s < looking->finder->best_s) || !yk_search_has_budget(looking->finder)) {
            return YK_OK;
        }
        yk_study_report(study, "turns");
        looking->helper_count = wish->helper_count;
        looking->front = wish->front;
        YK_TRY(share_out(looking, wish->helped));
        for (int32_t cut = wish->cut - AROUND; cut <= wish->cut + AROUND; cut++) {
            YK_TRY(consider(looking, cut));
        }
    }
    return YK_OK;
}

static yk_status take_room(struct looking *looking, struct yk_arena *arena)
{
    const struct yk_model *model = looking->study->model;
    YK_TRY_NEW(arena, looking->own_s, model->layer_count);
    YK_TRY_NEW(arena, looking->rest_s, model->layer_count);
    YK_TRY_NEW(arena, looking->helper_s, (int64_t)MOST_HELPERS * model->layer_count);
    for (int32_t l = 0; l < model->layer_count; l++) {
        looking->shared = looking->shared || model->layers[l].shares != YK_LAYER_NONE;
    }
    return YK_OK;
}

yk_status yk_search_alternating(struct yk_search *finder)
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
    yk_status status = yk_device_sets_list(study, arena, &sets, &count);
    if (status == YK_OK && sets[0].count > 1) {
        status = line_up(&looking, &sets[0]);
    }
    if (status == YK_OK) {
        status = take_room(&looking, arena);
    }
    if (status == YK_OK && looking.helper_count > 0) {
        status = find_wishes(&looking);
    }
    if (status == YK_OK) {
        status = try_wishes(&looking);
    }
    yk_arena_destroy(arena);
    return status;
}
