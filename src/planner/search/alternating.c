/* Alternating stages: plans in which the members of a group compute different micro-batches. */
#include "base/number.h"
#include "plan/plan.h"
#include "planner/search/device_sets.h"
#include "planner/search/search.h"

#include <math.h>
#include <stdlib.h>

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

struct context {
    struct yk_plan_search *search;
    struct yk_search_context *context;
    int32_t main;                 /* the fastest device */
    int32_t helpers[MAX_HELPERS]; /* devices, the fastest first */
    int64_t helped[MAX_HELPERS];  /* samples of each */
    int32_t helper_count;
    bool front;                               /* helpers compute the first layers */
    bool shared;                              /* some layers share weights */
    double *own_s;                            /* (L) main device, its own samples */
    double *rest_s;                           /* (L) main device, the helpers' samples */
    double *helper_s;                         /* (helpers, L) */
    struct proposal proposals[MAX_PROPOSALS]; /* the shortest first */
    int32_t proposal_count;
};

static yk_status whole_s(const struct context *context, int32_t device, double *out_s)
{
    const struct yk_search_context *study = context->context;
    return yk_search_context_all_layers_seconds(study, device, study->request->workload.batch, NULL,
                                                out_s);
}

/* Selects the fastest device and up to MAX_HELPERS others, sorted by speed. */
static yk_status line_up(struct context *context, const struct yk_device_set *all)
{
    double times[MAX_HELPERS + 1];
    int32_t devices[MAX_HELPERS + 1];
    int32_t count = 0;
    for (int32_t i = 0; i < all->count; i++) {
        double seconds = 0;
        int32_t at = count;
        YK_TRY(whole_s(context, all->devices[i], &seconds));
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
    context->main = devices[0];
    context->helper_count = times[count - 1] > slower * times[0] ? count - 1 : 0;
    for (int32_t i = 0; i < context->helper_count; i++) {
        context->helpers[i] = devices[i + 1];
    }
    return YK_OK;
}

/* The layer that owns the weights of `layer`. */
static int32_t owner_of(const struct yk_model *model, int32_t layer)
{
    const int32_t shared = model->layers[layer].shares_weights_of;
    return shared == YK_LAYER_NONE ? layer : shared;
}

/* Whether helpers compute a layer if they have `cut` layers. Layers with shared weights stay
 * together. */
static bool is_helped(const struct context *context, int32_t layer, int32_t cut)
{
    const struct yk_model *model = context->context->model;
    const int32_t L = model->layer_count;
    bool helped = context->front ? layer < cut : layer >= L - cut;
    for (int32_t l = 0; l < L && context->shared; l++) {
        if (owner_of(model, l) == owner_of(model, layer)) {
            helped = helped && (context->front ? l < cut : l >= L - cut);
        }
    }
    return helped;
}

/* Computes the times of every layer for the current division of samples. */
static yk_status price_layers(struct context *context, int64_t helped)
{
    const struct yk_search_context *study = context->context;
    const int32_t L = study->model->layer_count;
    const int64_t own = study->request->workload.batch - helped;
    for (int32_t l = 0; l < L; l++) {
        YK_TRY(yk_search_context_layer_seconds(study, context->main, l, own, false,
                                               &context->own_s[l]));
        YK_TRY(yk_search_context_layer_seconds(study, context->main, l, helped, false,
                                               &context->rest_s[l]));
        for (int32_t i = 0; i < context->helper_count; i++) {
            YK_TRY(yk_search_context_layer_seconds(study, context->helpers[i], l,
                                                   context->helped[i], false,
                                                   &context->helper_s[i * L + l]));
        }
    }
    return YK_OK;
}

/* A lower bound of the step time: computation of the main device, or of a helper and the rest. */
static double estimate(const struct context *context, int32_t cut)
{
    const int32_t L = context->context->model->layer_count;
    double own_s = 0;
    double rest_s = 0;
    double slowest_s = 0;
    double helper_s[MAX_HELPERS] = {0};
    for (int32_t l = 0; l < L; l++) {
        const bool helped = is_helped(context, l, cut);
        own_s += context->own_s[l];
        rest_s += helped ? 0 : context->rest_s[l];
        for (int32_t i = 0; i < context->helper_count && helped; i++) {
            helper_s[i] += context->helper_s[i * L + l];
        }
    }
    for (int32_t i = 0; i < context->helper_count; i++) {
        slowest_s = fmax(slowest_s, helper_s[i]);
    }
    return rest_s + fmax(own_s, slowest_s);
}

/* The members of group 0 alternate; group 1 is the main device. */
static yk_status make_plan(const struct context *context, int32_t cut, struct yk_arena *arena,
                           struct yk_plan **out)
{
    const enum yk_sharding_strategy asked = context->context->request->strategy;
    const int32_t count = context->helper_count + 1;
    struct yk_plan *plan = NULL;
    int32_t devices[MAX_HELPERS + 1] = {context->main};
    for (int32_t i = 0; i < context->helper_count; i++) {
        devices[i + 1] = context->helpers[i];
    }
    qsort(devices, (size_t)count, sizeof devices[0], yk_number_compare_int32);
    YK_TRY(yk_search_context_create_plan(context->context, devices, count, 2, arena, &plan));
    plan->micro_batches = 2;
    plan->pipeline = YK_PIPELINE_NESTED;
    plan->groups[0].member_count = count;
    plan->groups[1].member_count = 1;
    int64_t own = plan->workload.batch;
    for (int32_t i = 0; i < context->helper_count; i++) {
        own -= context->helped[i];
    }
    for (int32_t r = 0; r < count; r++) {
        struct yk_plan_group_member *member = &plan->groups[0].members[r];
        /* With YK_PIPELINE_NESTED, the last micro-batch runs forward first and backward last. */
        *member = (struct yk_plan_group_member){.rank = r,
                                                .share = own,
                                                .shard_fraction = 1.0 / count,
                                                .micro_batch_number = context->front ? 2 : 1};
        for (int32_t i = 0; i < context->helper_count; i++) {
            if (context->helpers[i] == devices[r]) {
                member->share = context->helped[i];
                member->micro_batch_number = context->front ? 1 : 2;
            }
        }
        if (devices[r] == context->main) {
            plan->groups[1].members[0] = (struct yk_plan_group_member){
                .rank = r, .share = plan->workload.batch, .shard_fraction = 1};
        }
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l].group = is_helped(context, l, cut) ? 0 : 1;
        plan->layers[l].strategy =
            asked == YK_SHARDING_STRATEGY_COUNT ? YK_SHARDING_REPLICATED : asked;
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

static yk_status consider(const struct context *context, int32_t cut, struct yk_arena *arena)
{
    struct yk_plan *plan = NULL;
    if (cut < 1 || cut >= context->context->model->layer_count) {
        return YK_OK;
    }
    YK_TRY(make_plan(context, cut, arena, &plan));
    return plan && has_both_groups(plan) ? yk_plan_search_evaluate(context->search, plan, NULL)
                                         : YK_OK;
}

/* The cut with the shortest estimate. */
static struct proposal best_cut(const struct context *context, int64_t helped)
{
    struct proposal best = {.step_s = INFINITY,
                            .helper_count = context->helper_count,
                            .helped = helped,
                            .front = context->front};
    for (int32_t cut = 1; cut < context->context->model->layer_count; cut++) {
        const double seconds = estimate(context, cut);
        if (seconds < best.step_s) {
            best.step_s = seconds;
            best.cut = cut;
        }
    }
    return best;
}

/* Divides the helped samples among the helpers by speed. */
static yk_status share_out(struct context *context, int64_t helped)
{
    double speeds[MAX_HELPERS];
    for (int32_t i = 0; i < context->helper_count; i++) {
        YK_TRY(whole_s(context, context->helpers[i], &speeds[i]));
        speeds[i] = 1 / speeds[i];
    }
    yk_plan_divide_batch(speeds, context->helper_count, helped, context->helped);
    return YK_OK;
}

static void keep_proposal(struct context *context, struct proposal proposal)
{
    int32_t at = context->proposal_count;
    context->proposal_count += at < MAX_PROPOSALS ? 1 : 0;
    for (; at > 0 && proposal.step_s < context->proposals[at - 1].step_s; at--) {
        if (at < MAX_PROPOSALS) {
            context->proposals[at] = context->proposals[at - 1];
        }
    }
    if (at < MAX_PROPOSALS) {
        context->proposals[at] = proposal;
    }
}

/* Estimates plans with 1, 2, … helpers, or with all of them if no device may be left out. */
static yk_status find_proposals(struct context *context)
{
    const struct yk_search_context *study = context->context;
    const int64_t batch = study->request->workload.batch;
    const int32_t all = context->helper_count;
    for (int32_t count = study->request->all_devices ? all : 1; count <= all; count++) {
        context->helper_count = count;
        for (int64_t helped = count; helped < batch && helped <= MAX_HELPED; helped++) {
            YK_TRY(share_out(context, helped));
            YK_TRY(price_layers(context, helped));
            for (int32_t front = 0; front < 2; front++) {
                context->front = front == 1;
                keep_proposal(context, best_cut(context, helped));
            }
        }
    }
    return YK_OK;
}

/* Tries the proposed cuts and those around them, since estimates ignore messages. */
static yk_status try_proposals(struct context *context)
{
    const struct yk_search_context *study = context->context;
    for (int32_t w = 0; w < context->proposal_count; w++) {
        const struct proposal *proposal = &context->proposals[w];
        if (!(proposal->step_s < context->search->best_s) ||
            !yk_plan_search_has_budget(context->search)) {
            return YK_OK;
        }
        yk_search_context_report_progress(study, "alternating stages");
        context->helper_count = proposal->helper_count;
        context->front = proposal->front;
        YK_TRY(share_out(context, proposal->helped));
        for (int32_t cut = proposal->cut - AROUND; cut <= proposal->cut + AROUND; cut++) {
            YK_TRY_WITH_TEMPORARY_ARENA(arena, consider(context, cut, arena));
        }
    }
    return YK_OK;
}

static yk_status allocate(struct context *context, struct yk_arena *arena)
{
    const struct yk_model *model = context->context->model;
    YK_TRY_NEW(arena, context->own_s, model->layer_count);
    YK_TRY_NEW(arena, context->rest_s, model->layer_count);
    YK_TRY_NEW(arena, context->helper_s, (int64_t)MAX_HELPERS * model->layer_count);
    for (int32_t l = 0; l < model->layer_count; l++) {
        context->shared = context->shared || model->layers[l].shares_weights_of != YK_LAYER_NONE;
    }
    return YK_OK;
}

static yk_status search_in(struct context *context, struct yk_arena *arena)
{
    struct yk_device_set *sets = NULL;
    int32_t count = 0;
    YK_TRY(yk_device_sets_list(context->context, arena, &sets, &count));
    if (sets[0].count > 1) {
        YK_TRY(line_up(context, &sets[0]));
    }
    YK_TRY(allocate(context, arena));
    if (context->helper_count > 0) {
        YK_TRY(find_proposals(context));
    }
    return try_proposals(context);
}

yk_status yk_plan_search_alternating(struct yk_plan_search *search)
{
    struct yk_search_context *study = search->context;
    const struct yk_plan_request *request = study->request;
    struct context context = {.search = search, .context = study};
    if (!yk_search_context_decides(study, YK_DECIDE_PLACEMENT) ||
        !yk_search_context_decides(study, YK_DECIDE_SAMPLE_SHARES) || request->random_strategies ||
        (request->micro_batches != 0 && request->micro_batches != 2)) {
        return YK_OK;
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, search_in(&context, arena));
    return YK_OK;
}
