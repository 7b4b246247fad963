#include "planner/search/plan_evaluation.h"

#include "base/log.h"
#include "program/program.h"

#include <math.h>
#include <stdlib.h>

static yk_status count_memory(const struct yk_program *program, struct yk_arena *arena,
                              struct yk_plan_evaluation *trial)
{
    trial->fits = true;
    for (int32_t r = 0; r < program->rank_count; r++) {
        const int32_t same = yk_op_list_first_equal_rank(program, r);
        YK_TRY(yk_deadline_check(program->deadline));
        if (same < r) {
            trial->peaks[r] = trial->peaks[same];
        } else {
            struct yk_program_memory *memory = NULL;
            YK_TRY(yk_program_memory_count(program, r, arena, &memory));
            YK_TRY(yk_program_memory_peak(program, r, memory, &trial->peaks[r]));
        }
        const double missing = trial->peaks[r].bytes - program->plan->ranks[r].limit_bytes;
        if (missing > trial->missing_bytes) {
            trial->fits = false;
            trial->rank = r;
            trial->missing_bytes = missing;
        }
    }
    return YK_OK;
}

static yk_status simulate(struct yk_search_context *study, enum yk_plan_evaluation_level effort,
                          struct yk_plan_evaluation *trial)
{
    const struct yk_sim_options options = {.slowdown = study->request->slowdown};
    if (effort == YK_PLAN_EVALUATION_MEMORY_ONLY ||
        (effort == YK_PLAN_EVALUATION_SIMULATE_IF_FITS && !trial->fits)) {
        return YK_OK;
    }
    YK_TRY(yk_sim_run(trial->program, study->costs, &options, &trial->sim));
    trial->step_s = trial->sim->step_s;
    return effort == YK_PLAN_EVALUATION_KEEP_SIMULATION
               ? yk_sim_error_band(trial->sim, study->costs, &trial->band)
               : YK_OK;
}

static yk_status run(struct yk_search_context *study, enum yk_plan_evaluation_level effort,
                     struct yk_plan_evaluation *trial)
{
    /* An evaluation to keep is the answer, and has no deadline. */
    const struct yk_deadline *deadline =
        effort == YK_PLAN_EVALUATION_KEEP_SIMULATION ? NULL : &study->deadline;
    YK_TRY(yk_deadline_check(deadline));
    YK_TRY(yk_program_compile_with_deadline(trial->plan, study->cluster, study->measurements,
                                            study->sizes, deadline, &trial->program));
    YK_TRY_WITH_TEMPORARY_ARENA(arena, count_memory(trial->program, arena, trial));
    if (effort == YK_PLAN_EVALUATION_KEEP_SIMULATION && trial->fits) {
        YK_TRY(yk_program_check(trial->program));
    }
    return simulate(study, effort, trial);
}

static yk_status run_shuffled(struct yk_search_context *study, struct yk_plan_evaluation *trial)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, count_memory(trial->program, arena, trial));
    return simulate(study, YK_PLAN_EVALUATION_KEEP_SIMULATION, trial);
}

yk_status yk_plan_evaluation_shuffle_program(struct yk_search_context *study, uint64_t seed,
                                             struct yk_plan_evaluation *trial)
{
    struct yk_plan_evaluation shuffled = {.plan = trial->plan, .step_s = NAN};
    YK_TRY(yk_program_shuffle(trial->program, seed, &shuffled.program));
    shuffled.peaks = calloc((size_t)trial->plan->rank_count, sizeof *shuffled.peaks);
    YK_TRY_OR(shuffled.peaks ? run_shuffled(study, &shuffled) : yk_fail_out_of_memory(),
              yk_plan_evaluation_free(&shuffled));
    yk_plan_evaluation_free(trial);
    *trial = shuffled;
    return YK_OK;
}

yk_status yk_plan_evaluation_run(struct yk_search_context *study, const struct yk_plan *plan,
                                 enum yk_plan_evaluation_level effort,
                                 struct yk_plan_evaluation *out)
{
    struct yk_plan_evaluation trial = {.plan = plan, .step_s = NAN};
    study->trials++;
    trial.refused = yk_plan_check(plan, study->model) != YK_OK;
    if (trial.refused) {
        study->refused++;
        yk_log(YK_LOG_DETAIL, "a candidate is no plan: %s", yk_status_message());
        if (effort == YK_PLAN_EVALUATION_KEEP_SIMULATION) {
            return YK_ERROR_INPUT;
        }
    }
    trial.peaks = calloc((size_t)plan->rank_count, sizeof *trial.peaks);
    YK_TRY_MEMORY(trial.peaks);
    if (trial.refused) {
        trial.missing_bytes = INFINITY;
        *out = trial;
        return YK_OK;
    }
    YK_TRY_OR(run(study, effort, &trial), yk_plan_evaluation_free(&trial));
    if (effort != YK_PLAN_EVALUATION_KEEP_SIMULATION) {
        yk_sim_destroy(trial.sim);
        yk_program_destroy(trial.program);
        trial.sim = NULL;
        trial.program = NULL;
    }
    *out = trial;
    return YK_OK;
}

void yk_plan_evaluation_free(struct yk_plan_evaluation *trial)
{
    yk_sim_destroy(trial->sim);
    yk_program_destroy(trial->program);
    free(trial->peaks);
    *trial = (struct yk_plan_evaluation){.step_s = NAN};
}
