#include "planner/planner.h"

#include "planner/explain.h"
#include "planner/planned_facts.h"
#include "planner/search/baselines.h"
#include "planner/search/leave_one_out.h"
#include "planner/search/lower_bound.h"
#include "planner/search/remedy.h"
#include "planner/search/search.h"

#include <math.h>
#include <stdlib.h>

/* Of the budget, when each phase ends, and when it does at the latest, as long as no plan fits:
 * what others do; looking at all kinds of plans; improving the best of them. The rest is for what
 * leaving out devices changes, or for a remedy. */
static const double rivals_part = 0.3;
static const double look_part = 0.56;
static const double last_look_part = 0.6;
static const double polish_part = 0.7;
static const double last_polish_part = 0.85;

static yk_status copy_words(struct yk_planner_outcome *planned, struct yk_text *words,
                            const char **out)
{
    *out = yk_arena_copy_text(planned->arena, yk_text_chars(words), words->length);
    const yk_status status = *out ? yk_text_status(words) : yk_fail_out_of_memory();
    yk_text_free(words);
    return status;
}

static yk_status start(const struct yk_plan_request *request, struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *planned = calloc(1, sizeof *planned);
    if (!planned) {
        return yk_fail_out_of_memory();
    }
    planned->request = *request;
    planned->missing_device = -1;
    planned->trial.step_s = NAN;
    yk_status status = yk_arena_create(&planned->arena);
    if (status == YK_OK) {
        status = yk_study_create(&planned->request, &planned->study);
    }
    if (status != YK_OK) {
        yk_planner_outcome_destroy(planned);
        return status;
    }
    *out = planned;
    return YK_OK;
}

void yk_planner_outcome_destroy(struct yk_planner_outcome *planned)
{
    if (planned) {
        yk_trial_free(&planned->trial);
        yk_study_destroy(planned->study);
        yk_arena_destroy(planned->arena);
        free(planned);
    }
}

/* What follows from the times of the trial. */
static yk_status note_times(struct yk_planner_outcome *planned)
{
    struct yk_text words = {0};
    planned->tokens_per_s =
        (double)yk_model_loss_tokens(planned->study->model) / planned->trial.step_s;
    yk_explain_bottleneck(planned->study, &planned->trial, &words);
    return copy_words(planned, &words, &planned->bottleneck);
}

/* Tries the plan out for good, and puts it into words. */
static yk_status examine(struct yk_planner_outcome *planned, const struct yk_plan *plan)
{
    struct yk_plan *copy = NULL;
    struct yk_text words = {0};
    YK_TRY(yk_plan_copy(plan, planned->arena, &copy));
    planned->plan = copy;
    YK_TRY(yk_trial_run(planned->study, copy, YK_TRIAL_KEEP, &planned->trial));
    YK_TRY(note_times(planned));
    yk_explain_plan(planned->study, copy, &words);
    YK_TRY(copy_words(planned, &words, &planned->summary));
    YK_TRY(yk_lower_bound_step_s(planned->study, &planned->bound_s));
    yk_error_band_describe(&planned->trial.band, &words);
    return copy_words(planned, &words, &planned->source);
}

static yk_status compare(struct yk_planner_outcome *planned, struct yk_search *finder)
{
    struct yk_baselines rivals;
    yk_study_report(planned->study, "what others do");
    const yk_status status = yk_baselines_try(finder, planned->arena, &rivals);
    planned->alternatives = rivals.rows;
    planned->alternative_count = rivals.count;
    return status;
}

static yk_status note_misfit(struct yk_planner_outcome *planned, const struct yk_search *finder)
{
    struct yk_text words = {0};
    planned->missing_device = finder->missing_device;
    planned->missing_bytes = finder->missing_bytes;
    yk_error_band_describe(yk_layer_costs_band(planned->study->prices), &words);
    YK_TRY(copy_words(planned, &words, &planned->source));
    yk_status status = yk_search_remedy(planned->study, &words);
    if (status == YK_OK) {
        status = copy_words(planned, &words, &planned->remedy);
    }
    yk_text_free(&words);
    return status;
}

/* That the time is up ends a phase, and no more. `complete`: it was not even asked for. */
static yk_status end_phase(struct yk_planner_outcome *planned, yk_status status, bool complete)
{
    planned->cut_short = planned->cut_short || status == YK_ERROR_STOPPED || !complete;
    return status == YK_ERROR_STOPPED ? YK_OK : status;
}

static yk_status search(struct yk_planner_outcome *planned, struct yk_search *finder)
{
    struct yk_study *study = planned->study;
    yk_study_begin_phase(study, rivals_part, rivals_part);
    YK_TRY(end_phase(planned, compare(planned, finder), true));
    yk_study_begin_phase(study, look_part, last_look_part);
    yk_status status = yk_search_phase_explore(finder);
    YK_TRY(end_phase(planned, status, yk_search_has_budget(finder)));
    yk_study_begin_phase(study, finder->best ? polish_part : last_polish_part, last_polish_part);
    status = yk_search_phase_refine(finder);
    YK_TRY(end_phase(planned, status, yk_study_has_budget(study)));
    yk_study_begin_phase(study, 1, 1);
    planned->how = finder->how;
    if (!finder->best) {
        return note_misfit(planned, finder);
    }
    YK_TRY(examine(planned, finder->best));
    return yk_leave_one_out_search(planned->study, planned->plan, planned->trial.step_s,
                                   planned->arena, &planned->leave_one_out,
                                   &planned->leave_one_out_count);
}

yk_status yk_planner_search(const struct yk_plan_request *request, struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *planned = NULL;
    struct yk_search finder;
    YK_TRY(start(request, &planned));
    yk_status status = yk_search_create(planned->study, &finder);
    if (status == YK_OK) {
        status = search(planned, &finder);
        yk_search_free(&finder);
    }
    if (status != YK_OK) {
        yk_planner_outcome_destroy(planned);
        return status;
    }
    planned->search_s =
        yk_deadline_now_s(&planned->study->deadline.clock) - planned->study->started_s;
    planned->trials = planned->study->trials;
    *out = planned;
    return YK_OK;
}

yk_status yk_planner_examine(const struct yk_plan_request *request, const struct yk_plan *plan,
                             bool with_rivals, struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *planned = NULL;
    struct yk_search finder;
    YK_TRY(start(request, &planned));
    yk_status status = examine(planned, plan);
    if (status == YK_OK && with_rivals) {
        status = yk_search_create(planned->study, &finder);
        if (status == YK_OK) {
            status = compare(planned, &finder);
            status = status == YK_ERROR_STOPPED ? YK_OK : status;
            yk_search_free(&finder);
        }
    }
    if (status != YK_OK) {
        yk_planner_outcome_destroy(planned);
        return status;
    }
    *out = planned;
    return YK_OK;
}

yk_status yk_planner_shuffle(struct yk_planner_outcome *planned, uint64_t seed)
{
    YK_TRY(yk_trial_shuffle(planned->study, seed, &planned->trial));
    return note_times(planned);
}

static yk_status result_rank(const struct yk_planner_outcome *planned, int32_t rank,
                             struct yk_arena *arena, struct yk_plan_result_rank *out)
{
    const struct yk_sim_rank *simulated = &planned->trial.sim->ranks[rank];
    struct yk_memory_point *moments = NULL;
    int32_t count = 0;
    YK_TRY(yk_sim_memory(planned->trial.sim, rank, arena, &moments, &count));
    *out = (struct yk_plan_result_rank){
        .compute_s = simulated->compute_s,
        .exposed_s = simulated->exposed_s,
        .idle_s = simulated->idle_s,
        .peak_bytes = planned->trial.peaks[rank].bytes,
        .moments = moments,
        .moment_count = count,
    };
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        out->peak_by_kind[kind] = planned->trial.peaks[rank].by_kind[kind];
    }
    return YK_OK;
}

yk_status yk_planner_outcome_result(const struct yk_planner_outcome *planned,
                                    const struct yk_trace *trace, struct yk_arena *arena,
                                    struct yk_plan_result *out)
{
    struct yk_plan_result_rank *ranks = NULL;
    YK_TRY_NEW(arena, ranks, planned->plan->rank_count);
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        YK_TRY(result_rank(planned, r, arena, &ranks[r]));
    }
    const struct yk_mfu mfu = yk_planner_mfu(planned);
    *out = (struct yk_plan_result){
        .plan = planned->plan,
        .model = planned->study->model,
        .cluster = planned->study->cluster,
        .trace = trace,
        .step_s = planned->trial.step_s,
        .error = yk_error_band_error(&planned->trial.band),
        .bound_s = planned->bound_s,
        .tokens_per_s = planned->tokens_per_s,
        .mfu = mfu.formula,
        .exact_mfu = mfu.exact,
        .title = planned->study->model->config->name,
        .summary = planned->summary,
        .bottleneck = planned->bottleneck,
        .source = planned->source,
        .ranks = ranks,
        .alternatives = planned->alternatives,
        .alternative_count = planned->alternative_count,
        .leave_one_out = planned->leave_one_out,
        .leave_one_out_count = planned->leave_one_out_count,
    };
    return YK_OK;
}
