#include "planner/search/search_context.h"

#include <math.h>

/* While no plan fits, the limit of moves is multiplied by this. */
static const double patience = 16;
static const double min_moves = 100;

static const double plain_block_bytes = 25.0 * 1024 * 1024;

static yk_status find_recomputed(struct yk_search_context *study)
{
    const struct yk_model *saving = NULL;
    YK_TRY(yk_model_cache_get(study->sizes, study->request->workload.batch, true, &saving));
    YK_TRY_NEW(study->arena, study->recomputes, study->model->layer_count);
    for (int32_t l = 0; l < study->model->layer_count; l++) {
        study->recomputes[l] = saving->layers[l].saved_bytes < study->model->layers[l].saved_bytes;
    }
    return YK_OK;
}

static yk_status start(struct yk_search_context *study)
{
    const struct yk_plan_request *request = study->request;
    YK_TRY(yk_model_cache_create(request->config, &request->workload, &study->sizes));
    YK_TRY(yk_layer_costs_create(request->cost_sources, study->sizes, &study->costs));
    study->model = yk_model_cache_whole_batch(study->sizes);
    YK_TRY_NEW(study->arena, study->limit_bytes, study->cluster->device_count);
    YK_TRY(find_recomputed(study));
    for (int32_t p = 0; p < study->cluster->device_count; p++) {
        const double memory = study->cluster->devices[p].memory_bytes;
        study->limit_bytes[p] =
            request->memory_bytes > 0 ? fmin(memory, request->memory_bytes) : memory;
    }
    return YK_OK;
}

yk_status yk_search_context_create(const struct yk_plan_request *request,
                                   struct yk_search_context **out)
{
    struct yk_search_context *study = NULL;
    YK_TRY_NEW_WITH_ARENA(study);
    study->request = request;
    study->cluster = request->cost_sources->cluster;
    study->measurements = request->cost_sources->measurements;
    study->deadline.clock = request->search.clock;
    study->started_s = yk_deadline_now_s(&study->deadline.clock);
    yk_search_context_begin_phase(study, 1, 1);
    YK_TRY_OR(start(study), yk_search_context_destroy(study));
    *out = study;
    return YK_OK;
}

void yk_search_context_destroy(struct yk_search_context *study)
{
    if (study) {
        yk_layer_costs_destroy(study->costs);
        yk_model_cache_destroy(study->sizes);
        yk_arena_destroy(study->arena);
    }
}

void yk_search_context_begin_phase(struct yk_search_context *study, double fraction,
                                   double last_fraction)
{
    const struct yk_scheduler_options *search = &study->request->search;
    study->budget_fraction = fraction;
    study->last_budget_fraction = last_fraction;
    /* A search limited in moves, or an evaluation without a search, has no deadline. */
    const bool timed = search->moves <= 0 && search->budget_s > 0;
    study->deadline.at_s = timed ? study->started_s + last_fraction * search->budget_s : INFINITY;
}

double yk_search_context_spent_fraction(const struct yk_search_context *study)
{
    const struct yk_scheduler_options *search = &study->request->search;
    const double now_s = search->moves > 0 ? 0 : yk_deadline_now_s(&study->deadline.clock);
    return search->moves > 0 ? (double)study->trials / (double)search->moves
                             : (now_s - study->started_s) / search->budget_s;
}

bool yk_search_context_has_budget(const struct yk_search_context *study)
{
    const struct yk_scheduler_options *search = &study->request->search;
    return !(search->stop && atomic_load(search->stop)) &&
           yk_search_context_spent_fraction(study) < study->budget_fraction;
}

bool yk_search_context_is_exhausted(const struct yk_search_context *study)
{
    const double moves = (double)study->request->search.moves;
    return yk_deadline_has_passed(&study->deadline) ||
           (moves > 0 && (double)study->trials >=
                             patience * study->last_budget_fraction * fmax(moves, min_moves));
}

void yk_search_context_report_progress(const struct yk_search_context *study, const char *what)
{
    const struct yk_scheduler_options *search = &study->request->search;
    if (search->progress) {
        const double done = yk_search_context_spent_fraction(study);
        search->progress(search->progress_user, what, done < 1 ? done : 1);
    }
}

static struct yk_plan_options options_of(const struct yk_search_context *study)
{
    const struct yk_plan_request *request = study->request;
    return (struct yk_plan_options){
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
        .device_count = request->excluded_devices ? study->cluster->device_count : 0,
    };
}

void yk_search_context_restore_request(const struct yk_plan *plan, struct yk_plan_request *request)
{
    const struct yk_plan_options *options = &plan->options;
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

yk_status yk_search_context_create_plan(const struct yk_search_context *study,
                                        const int32_t *devices, int32_t count, int32_t groups,
                                        struct yk_arena *arena, struct yk_plan **out)
{
    const struct yk_plan_request *request = study->request;
    struct yk_plan *plan = NULL;
    YK_TRY(yk_plan_create(arena, count, groups, study->model->layer_count, &plan));
    plan->model_source = request->model_source;
    plan->cluster_source = request->cluster_source;
    plan->profile_source = request->profile_source;
    plan->workload = request->workload;
    plan->workload.recompute = false;
    plan->options = options_of(study);
    plan->micro_batches = 1;
    plan->pipeline = YK_PIPELINE_1F1B;
    plan->no_sync = true;
    plan->clip = request->clip;
    plan->prefetch = 1;
    plan->block_bytes = plain_block_bytes;
    plan->bucket_bytes = plain_block_bytes;
    for (int32_t i = 0; i < count; i++) {
        plan->ranks[i] = yk_search_context_rank(study, devices[i]);
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l].recompute = request->workload.recompute && study->recomputes[l];
    }
    *out = plan;
    return YK_OK;
}

yk_status yk_search_context_layer_seconds(const struct yk_search_context *study, int32_t device,
                                          int32_t layer, int64_t samples, bool recompute,
                                          double *out_s)
{
    double forward_s = 0;
    double backward_s = 0;
    YK_TRY(yk_layer_costs_seconds(study->costs, device, layer, samples, YK_COST_PASS_FORWARD,
                                  &forward_s));
    YK_TRY(yk_layer_costs_seconds(study->costs, device, layer, samples, YK_COST_PASS_BACKWARD,
                                  &backward_s));
    *out_s = (recompute ? 2 : 1) * forward_s + backward_s;
    return YK_OK;
}

yk_status yk_search_context_layers_seconds(const struct yk_search_context *study, int32_t device,
                                           int64_t samples, const bool *recompute, double *out_s)
{
    double seconds = 0;
    for (int32_t l = 0; l < study->model->layer_count; l++) {
        double layer_s = 0;
        YK_TRY(yk_search_context_layer_seconds(study, device, l, samples, recompute && recompute[l],
                                               &layer_s));
        seconds += layer_s;
    }
    *out_s = seconds;
    return YK_OK;
}
