#include "planner/search/search_context.h"

#include <math.h>

/* While no plan fits, the limit of moves is multiplied by this. */
static const double patience = 16;
static const double min_moves = 100;

static const double plain_block_bytes = 25.0 * 1024 * 1024;

static yk_status find_recomputed(struct yk_search_context *context)
{
    const struct yk_model *saving = NULL;
    YK_TRY(yk_model_cache_get(context->cache, context->request->workload.batch, true, &saving));
    YK_TRY_NEW(context->arena, context->recomputes, context->model->layer_count);
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        context->recomputes[l] =
            saving->layers[l].saved_bytes < context->model->layers[l].saved_bytes;
    }
    return YK_OK;
}

static yk_status start(struct yk_search_context *context)
{
    const struct yk_plan_request *request = context->request;
    YK_TRY(yk_model_cache_create(request->config, &request->workload, &context->cache));
    YK_TRY(yk_layer_costs_create(request->cost_sources, context->cache, &context->costs));
    context->model = yk_model_cache_get_whole_batch(context->cache);
    YK_TRY_NEW(context->arena, context->limit_bytes, context->cluster->device_count);
    YK_TRY(find_recomputed(context));
    for (int32_t p = 0; p < context->cluster->device_count; p++) {
        const double memory = context->cluster->devices[p].memory_bytes;
        context->limit_bytes[p] =
            request->memory_bytes > 0 ? fmin(memory, request->memory_bytes) : memory;
    }
    return YK_OK;
}

yk_status yk_search_context_create(const struct yk_plan_request *request,
                                   struct yk_search_context **out)
{
    struct yk_search_context *context = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(context);
    context->request = request;
    context->cluster = request->cost_sources->cluster;
    context->measurements = request->cost_sources->measurements;
    context->deadline.clock = request->search.clock;
    context->started_s = yk_deadline_now_s(&context->deadline.clock);
    yk_search_context_begin_phase(context, 1, 1);
    YK_TRY_OR_CLEAN_UP(start(context), yk_search_context_destroy(context));
    *out = context;
    return YK_OK;
}

void yk_search_context_destroy(struct yk_search_context *context)
{
    if (context) {
        yk_layer_costs_destroy(context->costs);
        yk_model_cache_destroy(context->cache);
        yk_arena_destroy(context->arena);
    }
}

void yk_search_context_begin_phase(struct yk_search_context *context, double fraction,
                                   double last_fraction)
{
    const struct yk_scheduler_options *search = &context->request->search;
    context->budget_fraction = fraction;
    context->last_budget_fraction = last_fraction;
    /* A search limited in moves, or an evaluation without a search, has no deadline. */
    const bool timed = search->moves <= 0 && search->budget_s > 0;
    context->deadline.at_s =
        timed ? context->started_s + last_fraction * search->budget_s : INFINITY;
}

double yk_search_context_spent_budget_fraction(const struct yk_search_context *context)
{
    const struct yk_scheduler_options *search = &context->request->search;
    const double now_s = search->moves > 0 ? 0 : yk_deadline_now_s(&context->deadline.clock);
    return search->moves > 0 ? (double)context->trials / (double)search->moves
                             : (now_s - context->started_s) / search->budget_s;
}

bool yk_search_context_has_budget(const struct yk_search_context *context)
{
    const struct yk_scheduler_options *search = &context->request->search;
    return !(search->stop && atomic_load(search->stop)) &&
           yk_search_context_spent_budget_fraction(context) < context->budget_fraction;
}

bool yk_search_context_no_fit_budget_is_spent(const struct yk_search_context *context)
{
    const double moves = (double)context->request->search.moves;
    return yk_deadline_has_passed(&context->deadline) ||
           (moves > 0 && (double)context->trials >=
                             patience * context->last_budget_fraction * fmax(moves, min_moves));
}

void yk_search_context_report_progress(const struct yk_search_context *context, const char *what)
{
    const struct yk_scheduler_options *search = &context->request->search;
    if (search->progress) {
        const double done = yk_search_context_spent_budget_fraction(context);
        search->progress(search->progress_user, what, done < 1 ? done : 1);
    }
}

static struct yk_plan_restrictions options_of(const struct yk_search_context *context)
{
    const struct yk_plan_request *request = context->request;
    return (struct yk_plan_restrictions){
        .memory_bytes = request->memory_bytes,
        .micro_batches = request->micro_batches,
        .recompute = request->workload.recompute,
        .undecided = YK_DECIDE_ALL & ~request->decisions,
        .one_strategy = request->strategy < YK_SHARDING_STRATEGY_COUNT,
        .random_strategies = request->random_strategies,
        .strategy = request->strategy < YK_SHARDING_STRATEGY_COUNT ? request->strategy
                                                                   : YK_SHARDING_REPLICATED,
        .slowdown = request->slowdown,
        .excluded_devices = request->excluded_devices,
        .device_count = request->excluded_devices ? context->cluster->device_count : 0,
    };
}

void yk_search_context_fill_request_from_plan(const struct yk_plan *plan,
                                              struct yk_plan_request *request)
{
    const struct yk_plan_restrictions *options = &plan->options;
    request->workload = plan->workload;
    request->workload.recompute = options->recompute;
    request->clip = plan->clip;
    request->memory_bytes = options->memory_bytes;
    request->micro_batches = options->micro_batches;
    request->decisions = YK_DECIDE_ALL & ~options->undecided;
    request->strategy = options->one_strategy ? options->strategy : YK_SHARDING_STRATEGY_COUNT;
    request->random_strategies = options->random_strategies;
    request->slowdown = options->slowdown;
    request->excluded_devices = options->excluded_devices;
}

yk_status yk_search_context_create_default_plan(const struct yk_search_context *context,
                                                const int32_t *devices, int32_t count,
                                                int32_t groups, struct yk_arena *arena,
                                                struct yk_plan **out)
{
    const struct yk_plan_request *request = context->request;
    struct yk_plan *plan = NULL;
    YK_TRY(yk_plan_create(arena, count, groups, context->model->layer_count, &plan));
    plan->model_source = request->model_source;
    plan->cluster_source = request->cluster_source;
    plan->profile_source = request->profile_source;
    plan->workload = request->workload;
    plan->workload.recompute = false;
    plan->options = options_of(context);
    plan->micro_batches = 1;
    plan->pipeline = YK_PIPELINE_1F1B;
    plan->no_sync = true;
    plan->clip = request->clip;
    plan->prefetch = 1;
    plan->block_bytes = plain_block_bytes;
    plan->bucket_bytes = plain_block_bytes;
    for (int32_t i = 0; i < count; i++) {
        plan->ranks[i] = yk_search_context_make_plan_rank(context, devices[i]);
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l].recompute = request->workload.recompute && context->recomputes[l];
    }
    *out = plan;
    return YK_OK;
}

yk_status yk_search_context_layer_compute_s(const struct yk_search_context *context, int32_t device,
                                            int32_t layer, int64_t samples, bool recompute,
                                            double *out_s)
{
    double forward_s = 0;
    double backward_s = 0;
    YK_TRY(yk_layer_costs_seconds(context->costs, device, layer, samples, YK_COST_PASS_FORWARD,
                                  &forward_s));
    YK_TRY(yk_layer_costs_seconds(context->costs, device, layer, samples, YK_COST_PASS_BACKWARD,
                                  &backward_s));
    *out_s = (recompute ? 2 : 1) * forward_s + backward_s;
    return YK_OK;
}

yk_status yk_search_context_all_layers_compute_s(const struct yk_search_context *context,
                                                 int32_t device, int64_t samples,
                                                 const bool *recompute, double *out_s)
{
    double seconds = 0;
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        double layer_s = 0;
        YK_TRY(yk_search_context_layer_compute_s(context, device, l, samples,
                                                 recompute && recompute[l], &layer_s));
        seconds += layer_s;
    }
    *out_s = seconds;
    return YK_OK;
}
