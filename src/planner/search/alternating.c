/* Alternating stages: plans in which the members of a group compute different micro-batches. */
#include "base/number.h"
#include "plan/plan.h"
#include "planner/search/device_sets.h"
#include "planner/search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_HELPERS = 7,
    MAX_HELPED = 16, /* samples; larger batches are better divided by speed */
    AROUND = 1,      /* layers around the estimated cut that are tried */
    MAX_PROPOSALS = 6,
};

/* The slowest device must be this many times slower than the fastest. */
static const double slower = 1.3;

/* An alternating plan with its estimated step time. */
struct proposal {
    double step_s;
    int32_t helper_count;
    int64_t helped; /* samples that helpers compute */
    int32_t cut;    /* number of layers that helpers compute */
    bool front;     /* they are the first layers, not the last */
};

struct alternation {
    struct yk_plan_search *search;
    struct yk_search_context *context;
    int32_t devices[MAX_HELPERS + 1]; /* the main device, which is the fastest, then its helpers */
    int64_t helped[MAX_HELPERS];      /* samples of each helper */
    int32_t helper_count;
    bool front;                               /* helpers compute the first layers */
    bool shared;                              /* some layers share weights */
    double *own_s;                            /* (L) main device, its own samples */
    double *rest_s;                           /* (L) main device, the helpers' samples */
    double *helper_s;                         /* (helpers, L) */
    struct proposal proposals[MAX_PROPOSALS]; /* the shortest first */
    int32_t proposal_count;
};

static yk_status whole_s(const struct alternation *alternation, int32_t device, double *out_s)
{
    const struct yk_search_context *context = alternation->context;
    return yk_search_context_all_layers_compute_s(context, device, context->request->workload.batch,
                                                  NULL, out_s);
}

/* Selects the fastest device and up to MAX_HELPERS others, sorted by speed. */
static yk_status line_up(struct alternation *alternation, const struct yk_device_set *all)
{
    int32_t *devices = alternation->devices;
    double times[MAX_HELPERS + 1];
    int32_t count = 0;
    for (int32_t i = 0; i < all->count; i++) {
        double seconds = 0;
        int32_t at = count;
        YK_TRY(whole_s(alternation, all->devices[i], &seconds));
        while (at > 0 && seconds < times[at - 1]) {
            at--;
        }
        if (at > MAX_HELPERS) {
            continue;
        }
        count += count <= MAX_HELPERS ? 1 : 0;
        for (int32_t j = count - 1; j > at; j--) {
            times[j] = times[j - 1];
            devices[j] = devices[j - 1];
        }
        times[at] = seconds;
        devices[at] = all->devices[i];
    }
    alternation->helper_count = times[count - 1] > slower * times[0] ? count - 1 : 0;
    return YK_OK;
}

/* Whether helpers compute a layer if they have `cut` layers. Layers with shared weights stay
 * together. */
static bool is_helped(const struct alternation *alternation, int32_t layer, int32_t cut)
{
    const struct yk_model *model = alternation->context->model;
    const int32_t L = model->layer_count;
    bool helped = alternation->front ? layer < cut : layer >= L - cut;
    for (int32_t l = 0; l < L && alternation->shared; l++) {
        if (yk_model_weight_owner(model, l) == yk_model_weight_owner(model, layer)) {
            helped = helped && (alternation->front ? l < cut : l >= L - cut);
        }
    }
    return helped;
}

/* Computes the times of every layer for the current division of samples. */
static yk_status price_layers(struct alternation *alternation, int64_t helped)
{
    const struct yk_search_context *context = alternation->context;
    const int32_t L = context->model->layer_count;
    const int64_t own = context->request->workload.batch - helped;
    for (int32_t l = 0; l < L; l++) {
        YK_TRY(yk_search_context_layer_compute_s(context, alternation->devices[0], l, own, false,
                                                 &alternation->own_s[l]));
        YK_TRY(yk_search_context_layer_compute_s(context, alternation->devices[0], l, helped, false,
                                                 &alternation->rest_s[l]));
        for (int32_t i = 0; i < alternation->helper_count; i++) {
            YK_TRY(yk_search_context_layer_compute_s(context, alternation->devices[i + 1], l,
                                                     alternation->helped[i], false,
                                                     &alternation->helper_s[i * L + l]));
        }
    }
    return YK_OK;
}

/* A lower bound of the step time: computation of the main device, or of a helper and the rest. */
static double estimate(const struct alternation *alternation, int32_t cut)
{
    const int32_t L = alternation->context->model->layer_count;
    double own_s = 0;
    double rest_s = 0;
    double slowest_s = 0;
    double helper_s[MAX_HELPERS] = {0};
    for (int32_t l = 0; l < L; l++) {
        const bool helped = is_helped(alternation, l, cut);
        own_s += alternation->own_s[l];
        rest_s += helped ? 0 : alternation->rest_s[l];
        for (int32_t i = 0; i < alternation->helper_count && helped; i++) {
            helper_s[i] += alternation->helper_s[i * L + l];
        }
    }
    for (int32_t i = 0; i < alternation->helper_count; i++) {
        slowest_s = fmax(slowest_s, helper_s[i]);
    }
    return rest_s + fmax(own_s, slowest_s);
}

/* The members of group 0 alternate; group 1 is the main device. */
static yk_status make_plan(const struct alternation *alternation, int32_t cut,
                           struct yk_arena *arena, struct yk_plan **out)
{
    const enum yk_sharding_strategy asked = alternation->context->request->strategy;
    const int32_t count = alternation->helper_count + 1;
    struct yk_plan *plan = NULL;
    int32_t devices[MAX_HELPERS + 1];
    memcpy(devices, alternation->devices, sizeof devices);
    qsort(devices, (size_t)count, sizeof devices[0], yk_number_qsort_compare_int32);
    YK_TRY(yk_search_context_create_default_plan(alternation->context, devices, count, 2, arena,
                                                 &plan));
    plan->micro_batches = 2;
    plan->pipeline = YK_PIPELINE_NESTED;
    plan->groups[0].member_count = count;
    plan->groups[1].member_count = 1;
    int64_t own = plan->workload.batch;
    for (int32_t i = 0; i < alternation->helper_count; i++) {
        own -= alternation->helped[i];
    }
    for (int32_t r = 0; r < count; r++) {
        struct yk_plan_group_member *member = &plan->groups[0].members[r];
        /* With YK_PIPELINE_NESTED, the last micro-batch runs forward first and backward last. */
        *member = (struct yk_plan_group_member){.rank = r,
                                                .share = own,
                                                .shard_fraction = 1.0 / count,
                                                .micro_batch_number = alternation->front ? 2 : 1};
        for (int32_t i = 0; i < alternation->helper_count; i++) {
            if (alternation->devices[i + 1] == devices[r]) {
                member->share = alternation->helped[i];
                member->micro_batch_number = alternation->front ? 1 : 2;
            }
        }
        if (devices[r] == alternation->devices[0]) {
            plan->groups[1].members[0] = (struct yk_plan_group_member){
                .rank = r, .share = plan->workload.batch, .shard_fraction = 1};
        }
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l].group = is_helped(alternation, l, cut) ? 0 : 1;
        plan->layers[l].strategy =
            asked == YK_SHARDING_STRATEGY_COUNT ? YK_SHARDING_REPLICATED : asked;
    }
    *out = plan;
    return YK_OK;
}

static yk_status consider(const struct alternation *alternation, int32_t cut,
                          struct yk_arena *arena)
{
    struct yk_plan *plan = NULL;
    if (cut < 1 || cut >= alternation->context->model->layer_count) {
        return YK_OK;
    }
    YK_TRY(make_plan(alternation, cut, arena, &plan));
    const int32_t helped = yk_plan_count_group_layers(plan, 0);
    return helped > 0 && helped < plan->layer_count
               ? yk_plan_search_try_plan(alternation->search, plan, NULL)
               : YK_OK;
}

/* The cut with the shortest estimate. */
static struct proposal best_cut(const struct alternation *alternation, int64_t helped)
{
    struct proposal best = {.step_s = INFINITY,
                            .helper_count = alternation->helper_count,
                            .helped = helped,
                            .front = alternation->front};
    for (int32_t cut = 1; cut < alternation->context->model->layer_count; cut++) {
        const double seconds = estimate(alternation, cut);
        if (seconds < best.step_s) {
            best.step_s = seconds;
            best.cut = cut;
        }
    }
    return best;
}

/* Divides the helped samples among the helpers by speed. */
static yk_status share_out(struct alternation *alternation, int64_t helped)
{
    double speeds[MAX_HELPERS];
    for (int32_t i = 0; i < alternation->helper_count; i++) {
        YK_TRY(whole_s(alternation, alternation->devices[i + 1], &speeds[i]));
        speeds[i] = 1 / speeds[i];
    }
    yk_plan_divide_batch(speeds, alternation->helper_count, helped, alternation->helped);
    return YK_OK;
}

static void keep_proposal(struct alternation *alternation, struct proposal proposal)
{
    int32_t at = alternation->proposal_count;
    alternation->proposal_count += at < MAX_PROPOSALS ? 1 : 0;
    for (; at > 0 && proposal.step_s < alternation->proposals[at - 1].step_s; at--) {
        if (at < MAX_PROPOSALS) {
            alternation->proposals[at] = alternation->proposals[at - 1];
        }
    }
    if (at < MAX_PROPOSALS) {
        alternation->proposals[at] = proposal;
    }
}

/* Estimates plans with 1, 2, … helpers, or with all of them if no device may be left out. */
static yk_status find_proposals(struct alternation *alternation)
{
    const struct yk_search_context *context = alternation->context;
    const int64_t batch = context->request->workload.batch;
    const int32_t all = alternation->helper_count;
    for (int32_t count = context->request->all_devices ? all : 1; count <= all; count++) {
        alternation->helper_count = count;
        for (int64_t helped = count; helped < batch && helped <= MAX_HELPED; helped++) {
            YK_TRY(share_out(alternation, helped));
            YK_TRY(price_layers(alternation, helped));
            for (int32_t front = 0; front < 2; front++) {
                alternation->front = front == 1;
                keep_proposal(alternation, best_cut(alternation, helped));
            }
        }
    }
    return YK_OK;
}

/* Tries the proposed cuts and those around them, since estimates ignore messages. */
static yk_status try_proposals(struct alternation *alternation)
{
    const struct yk_search_context *context = alternation->context;
    for (int32_t w = 0; w < alternation->proposal_count; w++) {
        const struct proposal *proposal = &alternation->proposals[w];
        if (!(proposal->step_s < alternation->search->best_s) ||
            !yk_plan_search_has_budget(alternation->search)) {
            return YK_OK;
        }
        yk_search_context_report_progress(context, "alternating stages");
        alternation->helper_count = proposal->helper_count;
        alternation->front = proposal->front;
        YK_TRY(share_out(alternation, proposal->helped));
        for (int32_t cut = proposal->cut - AROUND; cut <= proposal->cut + AROUND; cut++) {
            YK_TRY_WITH_TEMPORARY_ARENA(arena, consider(alternation, cut, arena));
        }
    }
    return YK_OK;
}

static yk_status allocate(struct alternation *alternation, struct yk_arena *arena)
{
    const struct yk_model *model = alternation->context->model;
    YK_TRY_NEW(arena, alternation->own_s, model->layer_count);
    YK_TRY_NEW(arena, alternation->rest_s, model->layer_count);
    YK_TRY_NEW(arena, alternation->helper_s, (int64_t)MAX_HELPERS * model->layer_count);
    for (int32_t l = 0; l < model->layer_count; l++) {
        alternation->shared =
            alternation->shared || model->layers[l].shares_weights_of != YK_LAYER_NONE;
    }
    return YK_OK;
}

static yk_status search_in(struct alternation *alternation, struct yk_arena *arena)
{
    struct yk_device_set *sets = NULL;
    int32_t count = 0;
    YK_TRY(yk_device_sets_list(alternation->context, arena, &sets, &count));
    if (sets[0].count > 1) {
        YK_TRY(line_up(alternation, &sets[0]));
    }
    YK_TRY(allocate(alternation, arena));
    if (alternation->helper_count > 0) {
        YK_TRY(find_proposals(alternation));
    }
    return try_proposals(alternation);
}

yk_status yk_plan_search_try_alternating_members(struct yk_plan_search *search)
{
    struct yk_search_context *context = search->context;
    const struct yk_plan_request *request = context->request;
    struct alternation alternation = {.search = search, .context = context};
    if (!yk_search_context_decides(context, YK_DECIDE_PLACEMENT) ||
        !yk_search_context_decides(context, YK_DECIDE_SAMPLE_SHARES) ||
        request->random_strategies ||
        (request->micro_batches != 0 && request->micro_batches != 2)) {
        return YK_OK;
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, search_in(&alternation, arena));
    return YK_OK;
}
