#include "planner/planner.h"

#include "base/units.h"
#include "planner/search/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_SIZE = 128
};

/* Of all ranks, in the workload's precision. */
static double peak_flops(const struct yk_planner_outcome *outcome)
{
    double peak = 0;
    for (int32_t r = 0; r < outcome->plan->rank_count; r++) {
        const struct yk_device *device =
            &outcome->context->cluster->devices[outcome->plan->ranks[r].device];
        peak += device->matrix_flops[outcome->context->model->workload.precision];
    }
    return peak;
}

struct yk_mfu yk_planner_mfu_at_throughput(const struct yk_planner_outcome *outcome,
                                           double tokens_per_s)
{
    const struct yk_model *model = outcome->context->model;
    const struct yk_mfu_flops flops = yk_model_count_mfu_flops(model);
    const double steps_per_s = tokens_per_s / (double)yk_model_count_all_tokens(model);
    const double peak = peak_flops(outcome);
    return (struct yk_mfu){
        .formula = flops.formula * steps_per_s / peak,
        .exact = flops.exact * steps_per_s / peak,
    };
}

struct yk_mfu yk_planner_predicted_mfu(const struct yk_planner_outcome *outcome)
{
    return yk_planner_mfu_at_throughput(outcome,
                                        (double)yk_model_count_all_tokens(outcome->context->model) /
                                            outcome->evaluation.step_s);
}

const struct yk_plan_group_member *yk_planner_find_group_member_of_rank(const struct yk_plan *plan,
                                                                        int32_t rank)
{
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
            if (plan->groups[g].members[i].rank == rank) {
                return &plan->groups[g].members[i];
            }
        }
    }
    return NULL;
}

yk_status yk_planner_fail_no_plan_found(const struct yk_planner_outcome *outcome)
{
    const char *model = outcome->request.config->name;
    char found[TEXT_SIZE] = "fits";
    if (outcome->cut_short && outcome->request.search.moves > 0) {
        snprintf(found, sizeof found, "was found in %lld trials",
                 (long long)outcome->evaluation_count);
    } else if (outcome->cut_short) {
        snprintf(found, sizeof found,
                 "was found within the budget of %.3g s, which cut the search short after %lld "
                 "trial%s",
                 outcome->request.search.budget_s, (long long)outcome->evaluation_count,
                 yk_text_plural_suffix(outcome->evaluation_count));
    }
    if (outcome->missing_device < 0) {
        return yk_fail(YK_ERROR_NO_FIT, "no plan for %s %s%s; %s", model, found,
                       outcome->cut_short ? "" : " these devices", outcome->remedy);
    }
    const double limit_bytes = outcome->context->limit_bytes[outcome->missing_device];
    return yk_fail(YK_ERROR_NO_FIT,
                   "no plan for %s %s: in the nearest, %s lacks %s of memory beyond its %s; %s",
                   model, found, outcome->context->cluster->devices[outcome->missing_device].name,
                   YK_UNITS_FORMAT_TEMPORARY(outcome->missing_bytes, YK_UNIT_BYTES),
                   YK_UNITS_FORMAT_TEMPORARY(limit_bytes, YK_UNIT_BYTES), outcome->remedy);
}

yk_status yk_planner_check_plan_fits(const struct yk_planner_outcome *outcome)
{
    const struct yk_plan_evaluation *evaluation = &outcome->evaluation;
    if (evaluation->fits) {
        return YK_OK;
    }
    const struct yk_plan_rank *rank = &outcome->plan->ranks[evaluation->rank];
    return yk_fail(YK_ERROR_NO_FIT,
                   "the plan does not fit: %s lacks %s of memory beyond its %s; plan again, or "
                   "recompute more layers",
                   outcome->context->cluster->devices[rank->device].name,
                   YK_UNITS_FORMAT_TEMPORARY(evaluation->missing_bytes, YK_UNIT_BYTES),
                   YK_UNITS_FORMAT_TEMPORARY(rank->limit_bytes, YK_UNIT_BYTES));
}

/* Fractions of the budget at which phases end; those with `last` apply while no plan fits. The rest
 * is for leaving out devices, or for a remedy. */
static const double baselines_part = 0.3;
static const double explore_part = 0.56;
static const double last_explore_part = 0.6;
static const double refine_part = 0.7;
static const double last_refine_part = 0.85;

static yk_status start(const struct yk_plan_request *request, struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *outcome = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(outcome);
    outcome->request = *request;
    outcome->missing_device = -1;
    outcome->evaluation.step_s = NAN;
    YK_TRY_OR_CLEAN_UP(yk_search_context_create(&outcome->request, &outcome->context),
                       yk_planner_outcome_destroy(outcome));
    *out = outcome;
    return YK_OK;
}

void yk_planner_outcome_destroy(struct yk_planner_outcome *outcome)
{
    if (outcome) {
        yk_plan_evaluation_free(&outcome->evaluation);
        yk_search_context_destroy(outcome->context);
        yk_arena_destroy(outcome->arena);
    }
}

static yk_status note_times(struct yk_planner_outcome *outcome)
{
    struct yk_text text = {0};
    outcome->tokens_per_s =
        (double)yk_model_count_loss_tokens(outcome->context->model) / outcome->evaluation.step_s;
    yk_explain_append_bottleneck(outcome->context, &outcome->evaluation, &text);
    return yk_text_move_to_arena(&text, outcome->arena, &outcome->bottleneck);
}

static yk_status examine(struct yk_planner_outcome *outcome, const struct yk_plan *plan)
{
    struct yk_plan *copy = NULL;
    struct yk_text text = {0};
    YK_TRY(yk_plan_copy(plan, outcome->arena, &copy));
    outcome->plan = copy;
    YK_TRY(yk_plan_evaluation_run(outcome->context, copy, YK_PLAN_EVALUATION_KEEP_SIMULATION,
                                  &outcome->evaluation));
    YK_TRY(note_times(outcome));
    yk_explain_append_plan_summary(outcome->context, copy, &text);
    YK_TRY(yk_text_move_to_arena(&text, outcome->arena, &outcome->summary));
    YK_TRY(yk_lower_bound_of_step_s(outcome->context, &outcome->bound_s));
    yk_error_band_describe_origins(&outcome->evaluation.band, &text);
    return yk_text_move_to_arena(&text, outcome->arena, &outcome->source);
}

static yk_status compare(struct yk_planner_outcome *outcome, struct yk_plan_search *search)
{
    yk_search_context_report_progress(outcome->context, "what others do");
    return yk_baselines_evaluate(search, outcome->arena, &outcome->alternatives,
                                 &outcome->alternative_count);
}

static yk_status note_misfit(struct yk_planner_outcome *outcome,
                             const struct yk_plan_search *search)
{
    struct yk_text text = {0};
    outcome->missing_device = search->missing_device;
    outcome->missing_bytes = search->missing_bytes;
    yk_error_band_describe_origins(yk_layer_costs_error_band(outcome->context->costs), &text);
    YK_TRY(yk_text_move_to_arena(&text, outcome->arena, &outcome->source));
    yk_status status = yk_plan_search_find_memory_remedy(outcome->context, &text);
    YK_IF_OK(yk_text_move_to_arena(&text, outcome->arena, &outcome->remedy));
    yk_text_free(&text);
    return status;
}

/* A phase that was stopped or is not `complete` cuts the search short, which is not an error. */
static yk_status end_phase(struct yk_planner_outcome *outcome, yk_status status, bool complete)
{
    outcome->cut_short = outcome->cut_short || status == YK_ERROR_STOPPED || !complete;
    return status == YK_ERROR_STOPPED ? YK_OK : status;
}

static yk_status search_plan(struct yk_planner_outcome *outcome, struct yk_plan_search *search)
{
    struct yk_search_context *context = outcome->context;
    yk_search_context_begin_phase(context, baselines_part, baselines_part);
    YK_TRY(end_phase(outcome, compare(outcome, search), true));
    yk_search_context_begin_phase(context, explore_part, last_explore_part);
    yk_status status = yk_plan_search_run_explore_phase(search);
    YK_TRY(end_phase(outcome, status, yk_plan_search_has_budget(search)));
    yk_search_context_begin_phase(context, search->best ? refine_part : last_refine_part,
                                  last_refine_part);
    status = yk_plan_search_run_refine_phase(search);
    YK_TRY(end_phase(outcome, status, yk_search_context_has_budget(context)));
    yk_search_context_begin_phase(context, 1, 1);
    if (!search->best) {
        return note_misfit(outcome, search);
    }
    YK_TRY(examine(outcome, search->best));
    return yk_leave_one_out_search(outcome->context, outcome->plan, outcome->evaluation.step_s,
                                   outcome->arena, &outcome->leave_one_out,
                                   &outcome->leave_one_out_count);
}

yk_status yk_planner_search(const struct yk_plan_request *request, struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *outcome = NULL;
    struct yk_plan_search search;
    YK_TRY(start(request, &outcome));
    yk_status status = yk_plan_search_create(outcome->context, &search);
    if (status == YK_OK) {
        status = search_plan(outcome, &search);
        yk_plan_search_free(&search);
    }
    YK_TRY_OR_CLEAN_UP(status, yk_planner_outcome_destroy(outcome));
    outcome->search_s =
        yk_deadline_now_s(&outcome->context->deadline.clock) - outcome->context->started_s;
    outcome->evaluation_count = outcome->context->trials;
    *out = outcome;
    return YK_OK;
}

yk_status yk_planner_evaluate_plan(const struct yk_plan_request *request,
                                   const struct yk_plan *plan, bool with_baselines,
                                   struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *outcome = NULL;
    struct yk_plan_search search;
    YK_TRY(start(request, &outcome));
    yk_status status = examine(outcome, plan);
    if (status == YK_OK && with_baselines) {
        status = yk_plan_search_create(outcome->context, &search);
        if (status == YK_OK) {
            status = compare(outcome, &search);
            status = status == YK_ERROR_STOPPED ? YK_OK : status;
            yk_plan_search_free(&search);
        }
    }
    YK_TRY_OR_CLEAN_UP(status, yk_planner_outcome_destroy(outcome));
    *out = outcome;
    return YK_OK;
}

yk_status yk_planner_outcome_shuffle_program(struct yk_planner_outcome *outcome, uint64_t seed)
{
    YK_TRY(yk_plan_evaluation_shuffle_program(outcome->context, seed, &outcome->evaluation));
    return note_times(outcome);
}

static yk_status result_rank(const struct yk_planner_outcome *outcome, int32_t rank,
                             struct yk_arena *arena, struct yk_plan_result_rank *out)
{
    const struct yk_sim_rank_result *simulated = &outcome->evaluation.sim->ranks[rank];
    struct yk_memory_timeline_point *moments = NULL;
    int32_t count = 0;
    YK_TRY(yk_sim_compute_memory_over_time(outcome->evaluation.sim, rank, arena, &moments, &count));
    *out = (struct yk_plan_result_rank){
        .compute_s = simulated->compute_s,
        .exposed_s = simulated->exposed_s,
        .idle_s = simulated->idle_s,
        .peak_bytes = outcome->evaluation.peaks[rank].bytes,
        .memory_timeline = moments,
        .moment_count = count,
    };
    memcpy(out->peak_by_kind, outcome->evaluation.peaks[rank].by_kind, sizeof out->peak_by_kind);
    return YK_OK;
}

yk_status yk_planner_outcome_to_plan_result(const struct yk_planner_outcome *outcome,
                                            const struct yk_trace *trace, struct yk_arena *arena,
                                            struct yk_plan_result *out)
{
    struct yk_plan_result_rank *ranks = NULL;
    YK_TRY_NEW(arena, ranks, outcome->plan->rank_count);
    for (int32_t r = 0; r < outcome->plan->rank_count; r++) {
        YK_TRY(result_rank(outcome, r, arena, &ranks[r]));
    }
    const struct yk_mfu mfu = yk_planner_predicted_mfu(outcome);
    *out = (struct yk_plan_result){
        .plan = outcome->plan,
        .model = outcome->context->model,
        .cluster = outcome->context->cluster,
        .trace = trace,
        .step_s = outcome->evaluation.step_s,
        .error = yk_error_band_relative_error(&outcome->evaluation.band),
        .bound_s = outcome->bound_s,
        .tokens_per_s = outcome->tokens_per_s,
        .mfu = mfu.formula,
        .exact_mfu = mfu.exact,
        .title = outcome->context->model->config->name,
        .summary = outcome->summary,
        .bottleneck = outcome->bottleneck,
        .source = outcome->source,
        .ranks = ranks,
        .alternatives = outcome->alternatives,
        .alternative_count = outcome->alternative_count,
        .leave_one_out = outcome->leave_one_out,
        .leave_one_out_count = outcome->leave_one_out_count,
    };
    return YK_OK;
}
