#include "planner/search/plan_evaluation.h"

#include "base/log.h"
#include "program/program.h"

#include <math.h>
#include <stdlib.h>

static yk_status count_memory(const struct yk_program *program, struct yk_arena *arena,
                              struct yk_plan_evaluation *evaluation)
{
    evaluation->fits = true;
    for (int32_t r = 0; r < program->rank_count; r++) {
        const int32_t same = yk_op_list_first_equal_rank(program, r);
        YK_TRY(yk_deadline_check(program->deadline));
        if (same < r) {
            evaluation->peaks[r] = evaluation->peaks[same];
        } else {
            struct yk_program_memory *memory = NULL;
            YK_TRY(yk_program_memory_count_for_rank(program, r, arena, &memory));
            YK_TRY(yk_program_memory_find_peak(program, r, memory, &evaluation->peaks[r]));
        }
        const double missing = evaluation->peaks[r].bytes - program->plan->ranks[r].limit_bytes;
        if (missing > evaluation->missing_bytes) {
            evaluation->fits = false;
            evaluation->rank = r;
            evaluation->missing_bytes = missing;
        }
    }
    return YK_OK;
}

static yk_status simulate(struct yk_search_context *context, enum yk_plan_evaluation_level effort,
                          struct yk_plan_evaluation *evaluation)
{
    const struct yk_sim_options options = {.slowdown = context->request->slowdown};
    if (effort == YK_PLAN_EVALUATION_MEMORY_ONLY ||
        (effort == YK_PLAN_EVALUATION_SIMULATE_IF_FITS && !evaluation->fits)) {
        return YK_OK;
    }
    YK_TRY(yk_sim_run(evaluation->program, context->costs, &options, &evaluation->sim));
    evaluation->step_s = evaluation->sim->step_s;
    return effort == YK_PLAN_EVALUATION_KEEP_SIMULATION
               ? yk_sim_compute_error_band(evaluation->sim, context->costs, &evaluation->band)
               : YK_OK;
}

static yk_status run(struct yk_search_context *context, enum yk_plan_evaluation_level effort,
                     struct yk_plan_evaluation *evaluation)
{
    /* An evaluation to keep is the answer, and has no deadline. */
    const struct yk_deadline *deadline =
        effort == YK_PLAN_EVALUATION_KEEP_SIMULATION ? NULL : &context->deadline;
    YK_TRY(yk_deadline_check(deadline));
    YK_TRY(yk_program_compile_with_deadline(evaluation->plan, context->cluster,
                                            context->measurements, context->cache, deadline,
                                            &evaluation->program));
    YK_TRY_WITH_TEMPORARY_ARENA(arena, count_memory(evaluation->program, arena, evaluation));
    if (effort == YK_PLAN_EVALUATION_KEEP_SIMULATION && evaluation->fits) {
        YK_TRY(yk_program_check(evaluation->program));
    }
    return simulate(context, effort, evaluation);
}

static yk_status run_shuffled(struct yk_search_context *context,
                              struct yk_plan_evaluation *evaluation)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, count_memory(evaluation->program, arena, evaluation));
    return simulate(context, YK_PLAN_EVALUATION_KEEP_SIMULATION, evaluation);
}

yk_status yk_plan_evaluation_shuffle_program(struct yk_search_context *context, uint64_t seed,
                                             struct yk_plan_evaluation *evaluation)
{
    struct yk_plan_evaluation shuffled = {.plan = evaluation->plan, .step_s = NAN};
    YK_TRY(yk_program_shuffle(evaluation->program, seed, &shuffled.program));
    shuffled.peaks = calloc((size_t)evaluation->plan->rank_count, sizeof *shuffled.peaks);
    YK_TRY_OR_CLEAN_UP(shuffled.peaks ? run_shuffled(context, &shuffled) : yk_fail_out_of_memory(),
                       yk_plan_evaluation_free(&shuffled));
    yk_plan_evaluation_free(evaluation);
    *evaluation = shuffled;
    return YK_OK;
}

yk_status yk_plan_evaluation_run(struct yk_search_context *context, const struct yk_plan *plan,
                                 enum yk_plan_evaluation_level effort,
                                 struct yk_plan_evaluation *out)
{
    struct yk_plan_evaluation evaluation = {.plan = plan, .step_s = NAN};
    context->trials++;
    evaluation.refused = yk_plan_check(plan, context->model) != YK_OK;
    if (evaluation.refused) {
        context->refused++;
        yk_log(YK_LOG_DETAIL, "a candidate is no plan: %s", yk_status_message());
        if (effort == YK_PLAN_EVALUATION_KEEP_SIMULATION) {
            return YK_ERROR_INPUT;
        }
    }
    evaluation.peaks = calloc((size_t)plan->rank_count, sizeof *evaluation.peaks);
    YK_TRY_ALLOCATED(evaluation.peaks);
    if (evaluation.refused) {
        evaluation.missing_bytes = INFINITY;
        *out = evaluation;
        return YK_OK;
    }
    YK_TRY_OR_CLEAN_UP(run(context, effort, &evaluation), yk_plan_evaluation_free(&evaluation));
    if (effort != YK_PLAN_EVALUATION_KEEP_SIMULATION) {
        yk_sim_result_destroy(evaluation.sim);
        yk_program_destroy(evaluation.program);
        evaluation.sim = NULL;
        evaluation.program = NULL;
    }
    *out = evaluation;
    return YK_OK;
}

void yk_plan_evaluation_free(struct yk_plan_evaluation *evaluation)
{
    yk_sim_result_destroy(evaluation->sim);
    yk_program_destroy(evaluation->program);
    free(evaluation->peaks);
    *evaluation = (struct yk_plan_evaluation){.step_s = NAN};
}
