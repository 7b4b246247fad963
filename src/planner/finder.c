#include "planner/finder.h"

#include <math.h>

yk_status yk_finder_create(struct yk_study *study, struct yk_finder *out)
{
    *out = (struct yk_finder){
        .study = study, .best_s = INFINITY, .missing_bytes = INFINITY, .missing_device = -1};
    return yk_arena_create(&out->arena);
}

void yk_finder_free(struct yk_finder *finder)
{
    yk_arena_destroy(finder->arena);
    *finder = (struct yk_finder){0};
}

static yk_status keep(const struct yk_finder *finder, const struct yk_plan *plan,
                      const struct yk_plan **out)
{
    struct yk_plan *copy = NULL;
    YK_TRY(yk_plan_copy(plan, finder->arena, &copy));
    *out = copy;
    return YK_OK;
}

yk_status yk_finder_look(struct yk_finder *finder)
{
    YK_TRY(yk_finder_split(finder, YK_FIND_ON_ALL));
    YK_TRY(yk_finder_pipelines(finder, YK_FIND_ON_ALL));
    YK_TRY(yk_finder_split(finder, YK_FIND_ON_SOME));
    return yk_finder_pipelines(finder, YK_FIND_ON_SOME);
}

yk_status yk_finder_consider(struct yk_finder *finder, const struct yk_plan *plan, const char *how,
                             double *out_s)
{
    struct yk_trial trial;
    yk_status status = YK_OK;
    YK_TRY(yk_trial_run(finder->study, plan, YK_TRIAL_TIME, &trial));
    if (trial.fits && trial.step_s < finder->best_s) {
        finder->best_s = trial.step_s;
        finder->how = how;
        status = keep(finder, plan, &finder->best);
    } else if (!trial.fits && !finder->best && trial.missing_bytes < finder->missing_bytes) {
        finder->missing_bytes = trial.missing_bytes;
        finder->missing_device = plan->ranks[trial.rank].device;
        status = keep(finder, plan, &finder->nearest);
    }
    if (out_s) {
        *out_s = trial.fits ? trial.step_s : NAN;
    }
    yk_trial_free(&trial);
    return status;
}
