#include "planner/memory_tradeoff.h"

#include "planner/order/plan_transfer_order.h"
#include "planner/search/data_parallel.h"
#include "planner/search/device_sets.h"
#include "planner/search/plan_evaluation.h"
#include "planner/search/search.h"

#include <math.h>

/* Fraction of the remaining time for the integer program. */
static const double milp_part = 0.5;

struct curves {
    struct yk_search_context *context;
    struct yk_memory_tradeoff *tradeoff;
    const struct yk_memory_tradeoff_options *options;
    struct yk_data_parallel_spec spec; /* of the fully-sharded plan on all devices */
};

/* The fully-sharded plan on all devices; NULL if it does not fit. */
static yk_status sharded_plan(const struct curves *curves, bool recompute, struct yk_arena *arena,
                              struct yk_plan **out)
{
    struct yk_search_context *context = curves->context;
    struct yk_plan *plan = NULL;
    bool fits = false;
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        curves->spec.recompute[l] = recompute && context->recomputes[l];
    }
    YK_TRY(yk_data_parallel_create_plan(context, &curves->spec, arena, &plan, &fits));
    *out = plan && fits ? plan : NULL;
    return YK_OK;
}

static yk_status time_of(const struct curves *curves, const struct yk_plan *plan, double *out_s)
{
    struct yk_plan_evaluation evaluation;
    YK_TRY(yk_plan_evaluation_run(curves->context, plan, YK_PLAN_EVALUATION_SIMULATE_IF_FITS,
                                  &evaluation));
    *out_s = evaluation.step_s;
    yk_plan_evaluation_free(&evaluation);
    return YK_OK;
}

static int32_t count_kept(const struct yk_plan *plan)
{
    int32_t count = 0;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        count += yk_plan_effective_strategy(plan, l) == YK_SHARDING_KEPT_AFTER_FORWARD ? 1 : 0;
    }
    return count;
}

/* Optimises strategies and transfer order together. */
static yk_status join(const struct curves *curves, const struct yk_plan *base,
                      enum yk_transfer_order_method method, struct yk_arena *arena, double *out_s,
                      struct yk_plan **out)
{
    const struct yk_search_context *context = curves->context;
    const struct yk_scheduler_options *search = &context->request->search;
    /* Leaves time for the curves that follow. */
    const double left_s =
        search->moves > 0
            ? INFINITY
            : milp_part * search->budget_s * (1 - yk_search_context_spent_budget_fraction(context));
    const struct yk_plan_transfer_order_options options = {
        .method = method, .open = true, .budget_s = fmin(curves->options->milp_s, left_s)};
    bool ordered = false;
    *out_s = NAN;
    YK_TRY(yk_plan_copy(base, arena, out));
    YK_TRY(yk_plan_transfer_order_optimize(curves->context, &options, arena, *out, &ordered));
    return ordered ? time_of(curves, *out, out_s) : YK_OK;
}

/* The plan without recomputation, if it fits and recomputation is not requested, or with it. */
static yk_status plain_plan(const struct curves *curves, struct yk_arena *arena,
                            struct yk_plan **out)
{
    *out = NULL;
    if (!curves->context->request->workload.recompute) {
        YK_TRY(sharded_plan(curves, false, arena, out));
    }
    return *out ? YK_OK : sharded_plan(curves, true, arena, out);
}

/* The same, but with recomputation if that makes the joint plan faster. */
static yk_status base_plan(const struct curves *curves, struct yk_arena *arena,
                           struct yk_plan **out)
{
    struct yk_plan *plain = NULL;
    struct yk_plan *again = NULL;
    struct yk_plan *joint = NULL;
    double plain_s = NAN;
    double again_s = NAN;
    YK_TRY(plain_plan(curves, arena, &plain));
    if (plain) {
        YK_TRY(sharded_plan(curves, true, arena, &again));
    }
    if (again) {
        YK_TRY(join(curves, plain, YK_TRANSFER_ORDER_METHOD_GREEDY, arena, &plain_s, &joint));
        YK_TRY(join(curves, again, YK_TRANSFER_ORDER_METHOD_GREEDY, arena, &again_s, &joint));
    }
    *out = again_s < plain_s ? again : plain;
    return YK_OK;
}

/* Computes `min_bytes` and `free_bytes`. */
static yk_status find_free(const struct curves *curves, const struct yk_plan *base,
                           struct yk_arena *arena, struct yk_transfer_order_problem **out)
{
    double room = INFINITY;
    double weights = 0;
    double gradient = 0;
    YK_TRY(yk_plan_transfer_order_create_problem(curves->context, base, false, arena, out));
    for (int32_t t = 0; t < yk_plan_slot_count(base); t++) {
        room = fmin(room, (*out)->room_bytes[t]);
    }
    for (int32_t l = 0; l < base->layer_count; l++) {
        weights = fmax(weights, (*out)->layers[l].weight_bytes);
        gradient = fmax(gradient, (*out)->layers[l].gradient_bytes);
    }
    curves->tradeoff->min_bytes = weights + gradient;
    curves->tradeoff->free_bytes = fmax(0, room - weights - gradient);
    return YK_OK;
}

/* Keeps as many layers as fit into `bytes`, the last first, since they are needed again soonest. */
static void keep_layers(const struct curves *curves,
                        const struct yk_transfer_order_problem *problem, double bytes,
                        struct yk_plan *plan)
{
    for (int32_t l = plan->layer_count - 1; l >= 0; l--) {
        const struct yk_layer *layer = &curves->context->model->layers[l];
        if (plan->layers[l].strategy == YK_SHARDING_FULLY_SHARDED &&
            layer->shares_weights_of == YK_LAYER_NONE && problem->layers[l].weight_bytes <= bytes) {
            plan->layers[l].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
            bytes -= problem->layers[l].weight_bytes;
        }
    }
    yk_plan_unify_tied_layers(plan, curves->context->model);
}

static yk_status offer(const struct curves *curves, const struct yk_plan *plan, double step_s)
{
    struct yk_memory_tradeoff *tradeoff = curves->tradeoff;
    struct yk_plan *copy = NULL;
    if (!(step_s < tradeoff->joint_s)) {
        return YK_OK;
    }
    YK_TRY(yk_plan_copy(plan, tradeoff->arena, &copy));
    tradeoff->joint = copy;
    tradeoff->joint_s = step_s;
    tradeoff->joint_kept = count_kept(plan);
    return YK_OK;
}

/*
 * The memory limit of each slot: the minimum of a layer, the fraction reserved for scheduling, and
 * the layers that are kept during the slot. Memory reserved for strategies is not used for
 * scheduling, even if it is free.
 */
static void limit_slots(const struct curves *curves,
                        const struct yk_transfer_order_problem *problem, const struct yk_plan *plan,
                        double part, double *max_bytes)
{
    const struct yk_memory_tradeoff *tradeoff = curves->tradeoff;
    const int32_t L = plan->layer_count;
    for (int32_t t = 0; t < yk_plan_slot_count(plan); t++) {
        max_bytes[t] = tradeoff->min_bytes + part * tradeoff->free_bytes;
        for (int32_t l = 0; l < L; l++) {
            const bool resident = t > l && t < 2 * L - l;
            if (resident && yk_plan_effective_strategy(plan, l) == YK_SHARDING_KEPT_AFTER_FORWARD) {
                max_bytes[t] += problem->layers[l].weight_bytes;
            }
        }
    }
}

static yk_status split_point(const struct curves *curves, const struct yk_plan *base,
                             const struct yk_transfer_order_problem *problem, int32_t point,
                             struct yk_arena *arena)
{
    struct yk_memory_tradeoff *tradeoff = curves->tradeoff;
    double *max_bytes = NULL;
    const double part = tradeoff->scheduling_fraction[point];
    struct yk_plan *plan = NULL;
    struct yk_plan *kept = NULL;
    bool ordered = false;
    YK_TRY(yk_plan_copy(base, arena, &plan));
    keep_layers(curves, problem, (1 - part) * tradeoff->free_bytes, plan);
    tradeoff->kept[point] = count_kept(plan);
    YK_TRY_NEW(arena, max_bytes, yk_plan_slot_count(plan));
    limit_slots(curves, problem, plan, part, max_bytes);
    const struct yk_plan_transfer_order_options options = {
        .method = YK_TRANSFER_ORDER_METHOD_GREEDY, .max_bytes = max_bytes};
    YK_TRY(yk_plan_transfer_order_optimize(curves->context, &options, arena, plan, &ordered));
    if (ordered) {
        YK_TRY(time_of(curves, plan, &tradeoff->split_s[point]));
        YK_TRY(yk_plan_copy(plan, tradeoff->arena, &kept));
        tradeoff->split[point] = kept;
        YK_TRY(offer(curves, plan, tradeoff->split_s[point]));
    }
    return YK_OK;
}

static yk_status compute_split_curve(const struct curves *curves, const struct yk_plan *base,
                                     struct yk_arena *arena)
{
    struct yk_transfer_order_problem *problem = NULL;
    struct yk_plan *joint = NULL;
    double joint_s = NAN;
    YK_TRY(find_free(curves, base, arena, &problem));
    for (int32_t i = 0; i < curves->tradeoff->points; i++) {
        yk_search_context_report_progress(curves->context, "splits of memory");
        YK_TRY(split_point(curves, base, problem, i, arena));
        curves->tradeoff->split_points++;
    }
    YK_TRY(join(curves, base, YK_TRANSFER_ORDER_METHOD_GREEDY, arena, &joint_s, &joint));
    YK_TRY(offer(curves, joint, joint_s));
    if (curves->options->milp_s > 0) {
        YK_TRY(join(curves, base, YK_TRANSFER_ORDER_METHOD_MILP, arena, &joint_s, &joint));
        YK_TRY(offer(curves, joint, joint_s));
    }
    return YK_OK;
}

static void limit_memory(const struct curves *curves, double bytes)
{
    const struct yk_search_context *context = curves->context;
    for (int32_t p = 0; p < context->cluster->device_count; p++) {
        context->limit_bytes[p] = fmin(context->cluster->devices[p].memory_bytes, bytes);
    }
}

/* The smallest memory that suffices, by bisection. */
static yk_status min_memory(const struct curves *curves, double max, double *out)
{
    double low = 0;
    double high = max;
    for (int32_t step = 0; step < 20; step++) {
        struct yk_plan *plan = NULL;
        const double half = low + (high - low) / 2;
        limit_memory(curves, half);
        YK_TRY_WITH_TEMPORARY_ARENA(arena, plain_plan(curves, arena, &plan));
        if (plan) {
            high = half;
        } else {
            low = half;
        }
    }
    *out = high;
    return YK_OK;
}

static yk_status memory_point(const struct curves *curves, int32_t point, struct yk_arena *arena)
{
    struct yk_memory_tradeoff *tradeoff = curves->tradeoff;
    struct yk_plan *plain = NULL;
    struct yk_plan *base = NULL;
    struct yk_plan *joint = NULL;
    limit_memory(curves, tradeoff->memory_bytes[point]);
    YK_TRY(plain_plan(curves, arena, &plain));
    if (!plain) {
        return YK_OK;
    }
    YK_TRY(base_plan(curves, arena, &base));
    YK_TRY(time_of(curves, plain, &tradeoff->ahead_of_memory_s[point]));
    YK_TRY(join(curves, base, YK_TRANSFER_ORDER_METHOD_GREEDY, arena,
                &tradeoff->joint_of_memory_s[point], &joint));
    tradeoff->joint_of_memory_s[point] =
        fmin(tradeoff->joint_of_memory_s[point], tradeoff->ahead_of_memory_s[point]);
    return YK_OK;
}

static yk_status compute_memory_curve(const struct curves *curves)
{
    struct yk_memory_tradeoff *tradeoff = curves->tradeoff;
    const int32_t last = tradeoff->points - 1;
    double max = 0;
    double min = 0;
    for (int32_t i = 0; i < curves->spec.count; i++) {
        max = fmax(max, curves->context->limit_bytes[curves->spec.devices[i]]);
    }
    YK_TRY(min_memory(curves, max, &min));
    for (int32_t i = 0; i <= last; i++) {
        yk_search_context_report_progress(curves->context, "sizes of memory");
        tradeoff->memory_bytes[i] = i == last ? max : min + (max - min) * i / last;
        tradeoff->memory_gib[i] = tradeoff->memory_bytes[i] / (1024.0 * 1024 * 1024);
        YK_TRY_WITH_TEMPORARY_ARENA(arena, memory_point(curves, i, arena));
        /* A plan that fits in less memory also fits in more. */
        if (i > 0 && tradeoff->joint_of_memory_s[i - 1] < tradeoff->joint_of_memory_s[i]) {
            tradeoff->joint_of_memory_s[i] = tradeoff->joint_of_memory_s[i - 1];
        }
        tradeoff->memory_points++;
    }
    return YK_OK;
}

static yk_status allocate_curves(struct yk_memory_tradeoff *tradeoff)
{
    const int64_t n = tradeoff->points;
    YK_TRY_NEW(tradeoff->arena, tradeoff->scheduling_fraction, n);
    YK_TRY_NEW(tradeoff->arena, tradeoff->split_s, n);
    YK_TRY_NEW(tradeoff->arena, tradeoff->kept, n);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(tradeoff->arena, tradeoff->split, n);
    YK_TRY_NEW(tradeoff->arena, tradeoff->memory_bytes, n);
    YK_TRY_NEW(tradeoff->arena, tradeoff->memory_gib, n);
    YK_TRY_NEW(tradeoff->arena, tradeoff->joint_of_memory_s, n);
    YK_TRY_NEW(tradeoff->arena, tradeoff->ahead_of_memory_s, n);
    for (int64_t i = 0; i < n; i++) {
        tradeoff->scheduling_fraction[i] = (double)i / (double)(n - 1);
        tradeoff->split_s[i] = NAN;
        tradeoff->memory_bytes[i] = NAN;
        tradeoff->memory_gib[i] = NAN;
        tradeoff->joint_of_memory_s[i] = NAN;
        tradeoff->ahead_of_memory_s[i] = NAN;
    }
    return YK_OK;
}

/* The deadline ends a curve without an error, if at least one point fits. */
static yk_status end_curve(const struct curves *curves, yk_status status)
{
    const struct yk_memory_tradeoff *tradeoff = curves->tradeoff;
    bool some = false;
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        some = some || isfinite(tradeoff->split_s[i]);
    }
    return status == YK_ERROR_STOPPED && some ? YK_OK : status;
}

static yk_status make_titles(struct yk_memory_tradeoff *tradeoff)
{
    static const char *const titles[] = {"Step time against the split of memory",
                                         "Step time against the devices' memory"};
    const int32_t counts[] = {tradeoff->split_points, tradeoff->memory_points};
    for (int i = 0; i < 2; i++) {
        struct yk_text title = {0};
        yk_text_add(&title, titles[i]);
        if (counts[i] < tradeoff->points) {
            yk_text_addf(&title, ": %d of %d points", counts[i], tradeoff->points);
        }
        YK_TRY(yk_text_move_to_arena(&title, tradeoff->arena, &tradeoff->titles[i]));
    }
    return YK_OK;
}

static yk_status compute(struct curves *curves, struct yk_arena *arena)
{
    struct yk_search_context *context = curves->context;
    struct yk_device_set *sets = NULL;
    struct yk_plan *base = NULL;
    int32_t count = 0;
    YK_TRY(allocate_curves(curves->tradeoff));
    YK_TRY(yk_device_sets_list(context, arena, &sets, &count));
    curves->spec = (struct yk_data_parallel_spec){.devices = sets[0].devices,
                                                  .count = sets[0].count,
                                                  .micro_batches = 1,
                                                  .no_sync = true,
                                                  .prefetch = 1,
                                                  .max_s = INFINITY};
    YK_TRY_NEW(arena, curves->spec.strategies, context->model->layer_count);
    YK_TRY_NEW(arena, curves->spec.recompute, context->model->layer_count);
    yk_data_parallel_set_large_layer_strategy(context, YK_SHARDING_FULLY_SHARDED,
                                              curves->spec.strategies);
    YK_TRY(yk_data_parallel_choose_block_bytes(context, curves->spec.devices, curves->spec.count,
                                               &curves->spec.block_bytes));
    curves->spec.bucket_bytes = curves->spec.block_bytes;
    YK_TRY(base_plan(curves, arena, &base));
    if (curves->spec.count < 2) {
        return yk_fail(YK_ERROR_INPUT,
                       "with one device nothing is sent, so that there is nothing to trade off");
    }
    if (!base) {
        return yk_fail(YK_ERROR_NO_FIT,
                       "%s does not fit these devices in one micro-batch even when all layers are "
                       "fully-sharded and recomputed; take a smaller batch",
                       context->model->config->name);
    }
    YK_TRY(end_curve(curves, compute_split_curve(curves, base, arena)));
    if (!curves->tradeoff->joint) {
        curves->tradeoff->joint_s = NAN;
    }
    YK_TRY(yk_lower_bound_of_step_s(context, &curves->tradeoff->bound_s));
    YK_TRY(end_curve(curves, compute_memory_curve(curves)));
    curves->tradeoff->band = *yk_layer_costs_error_band(context->costs);
    return make_titles(curves->tradeoff);
}

yk_status yk_memory_tradeoff_compute(const struct yk_plan_request *request,
                                     const struct yk_memory_tradeoff_options *options,
                                     struct yk_memory_tradeoff **out)
{
    struct curves curves = {.options = options};
    struct yk_arena *scratch = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(curves.tradeoff);
    curves.tradeoff->points = options->points;
    curves.tradeoff->joint_s = INFINITY;
    yk_status status = yk_search_context_create(request, &curves.context);
    YK_IF_OK(yk_arena_create(&scratch));
    YK_IF_OK(compute(&curves, scratch));
    if (status == YK_ERROR_STOPPED) {
        status = yk_fail(
            YK_ERROR_STOPPED,
            "no point of the curves was complete within the budget of %.3g s; give more time",
            request->search.budget_s);
    }
    yk_arena_destroy(scratch);
    yk_search_context_destroy(curves.context);
    YK_TRY_OR_CLEAN_UP(status, yk_memory_tradeoff_destroy(curves.tradeoff));
    *out = curves.tradeoff;
    return YK_OK;
}

void yk_memory_tradeoff_destroy(struct yk_memory_tradeoff *tradeoff)
{
    if (tradeoff) {
        yk_arena_destroy(tradeoff->arena);
    }
}

bool yk_memory_tradeoff_is_cut_short(const struct yk_memory_tradeoff *tradeoff)
{
    return tradeoff->split_points < tradeoff->points || tradeoff->memory_points < tradeoff->points;
}

int32_t yk_memory_tradeoff_fill_charts(const struct yk_memory_tradeoff *tradeoff,
                                       struct yk_plan_chart_curve *curves,
                                       struct yk_plan_tradeoff_chart charts[2])
{
    int32_t best = -1;
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        if (!isnan(tradeoff->split_s[i]) &&
            (best < 0 || tradeoff->split_s[i] < tradeoff->split_s[best])) {
            best = i;
        }
    }
    curves[0] = (struct yk_plan_chart_curve){"strategies first, then the order",
                                             tradeoff->scheduling_fraction, tradeoff->split_s,
                                             tradeoff->split_points};
    curves[1] = (struct yk_plan_chart_curve){"strategies and order together", tradeoff->memory_gib,
                                             tradeoff->joint_of_memory_s, tradeoff->memory_points};
    curves[2] =
        (struct yk_plan_chart_curve){"fully-sharded, one gather ahead", tradeoff->memory_gib,
                                     tradeoff->ahead_of_memory_s, tradeoff->memory_points};
    charts[0] = (struct yk_plan_tradeoff_chart){
        .title = tradeoff->titles[0],
        .definition =
            "Free memory is what is left on the fullest rank, in the fullest slot, beside "
            "state, activations and one layer's parameters and gradient. One part of it "
            "is for scheduling only: gathers ahead of their use and gradients on their "
            "way. The rest is for strategies only: the last layers' parameters, kept from "
            "forward to backward.",
        .x_label = "part of the free memory reserved for scheduling",
        .curves = &curves[0],
        .curve_count = 1,
        .chosen_x = best >= 0 ? tradeoff->scheduling_fraction[best] : NAN,
        .chosen_s = best >= 0 ? tradeoff->split_s[best] : NAN,
        .joint_s = tradeoff->joint_s,
        .bound_s = tradeoff->bound_s,
    };
    charts[1] = (struct yk_plan_tradeoff_chart){
        .title = tradeoff->titles[1],
        .definition = "The most bytes of every device that the plan may use.",
        .x_label = "memory of a device, GiB",
        .curves = &curves[1],
        .curve_count = 2,
        .chosen_x = NAN,
        .chosen_s = NAN,
        .joint_s = NAN,
        .bound_s = tradeoff->bound_s,
    };
    return tradeoff->memory_points > 0 ? 2 : 1;
}
