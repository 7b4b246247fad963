#include "planner/search/trial.h"

#include "base/log.h"
#include "program/program.h"

#include <math.h>
#include <stdlib.h>

static yk_status count_memory(const struct yk_program *program, struct yk_arena *arena,
                              struct yk_trial *trial)
{
    trial->fits = true;
    for (int32_t r = 0; r < program->rank_count; r++) {
        const int32_t same = yk_program_first_equal_rank(program, r);
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

static yk_status simulate(struct yk_study *study, enum yk_trial_effort effort,
                          struct yk_trial *trial)
{
    const struct yk_sim_options options = {.slowdown = study->request->slowdown};
    if (effort == YK_TRIAL_MEMORY || (effort == YK_TRIAL_TIME && !trial->fits)) {
        return YK_OK;
    }
    YK_TRY(yk_sim_run(trial->program, study->costs, &options, &trial->sim));
    trial->step_s = trial->sim->step_s;
    return effort == YK_TRIAL_KEEP ? yk_sim_band(trial->sim, study->costs, &trial->band) : YK_OK;
}

static yk_status run(struct yk_study *study, enum yk_trial_effort effort, struct yk_arena *arena,
                     struct yk_trial *trial)
{
    /* What is to be kept is an answer: it is worth its time. */
    const struct yk_deadline *deadline = effort == YK_TRIAL_KEEP ? NULL : &study->deadline;
    YK_TRY(yk_deadline_check(deadline));
    YK_TRY(yk_program_compile_by(trial->plan, study->cluster, study->facts, study->sizes, deadline,
                                 &trial->program));
    YK_TRY(count_memory(trial->program, arena, trial));
    if (effort == YK_TRIAL_KEEP && trial->fits) {
        YK_TRY(yk_program_check(trial->program));
    }
    return simulate(study, effort, trial);
}

static yk_status run_shuffled(struct yk_study *study, struct yk_trial *trial)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = count_memory(trial->program, arena, trial);
    YK_THEN(simulate(study, YK_TRIAL_KEEP, trial));
    yk_arena_destroy(arena);
    return status;
}

yk_status yk_trial_shuffle(struct yk_study *study, uint64_t seed, struct yk_trial *trial)
{
    struct yk_trial shuffled = {.plan = trial->plan, .step_s = NAN};
    YK_TRY(yk_program_shuffle(trial->program, seed, &shuffled.program));
    shuffled.peaks = calloc((size_t)trial->plan->rank_count, sizeof *shuffled.peaks);
    const yk_status status =
        shuffled.peaks ? run_shuffled(study, &shuffled) : yk_fail_out_of_memory();
    if (status != YK_OK) {
        yk_trial_free(&shuffled);
        return status;
    }
    yk_trial_free(trial);
    *trial = shuffled;
    return YK_OK;
}

yk_status yk_trial_run(struct yk_study *study, const struct yk_plan *plan,
                       enum yk_trial_effort effort, struct yk_trial *out)
{
    struct yk_trial trial = {.plan = plan, .step_s = NAN};
    struct yk_arena *arena = NULL;
    study->trials++;
    trial.refused = yk_plan_check(plan, study->model) != YK_OK;
    if (trial.refused) {
        study->refused++;
        yk_log(YK_LOG_DETAIL, "a candidate is no plan: %s", yk_status_message());
        if (effort == YK_TRIAL_KEEP) {
            return YK_ERROR_INPUT;
        }
    }
    trial.peaks = calloc((size_t)plan->rank_count, sizeof *trial.peaks);
    if (!trial.peaks) {
        return yk_fail_out_of_memory();
    }
    if (trial.refused) {
        trial.missing_bytes = INFINITY;
        *out = trial;
        return YK_OK;
    }
    yk_status status = yk_arena_create(&arena);
    YK_THEN(run(study, effort, arena, &trial));
    yk_arena_destroy(arena);
    if (status != YK_OK) {
        yk_trial_free(&trial);
        return status;
    }
    if (effort != YK_TRIAL_KEEP) {
        yk_sim_destroy(trial.sim);
        yk_program_destroy(trial.program);
        trial.sim = NULL;
        trial.program = NULL;
    }
    *out = trial;
    return YK_OK;
}

void yk_trial_free(struct yk_trial *trial)
{
    yk_sim_destroy(trial->sim);
    yk_program_destroy(trial->program);
    free(trial->peaks);
    *trial = (struct yk_trial){.step_s = NAN};
}
