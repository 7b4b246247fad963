/* Pipelines and mixtures of pipelines and data parallelism, and all families of plans one after the
 * other, as finder.h asks for them. */
#include "planner/search/pipeline.h"
#include "planner/search/plan_move.h"
#include "planner/search/search.h"

#include <math.h>

/* Another order of passes is tried for plans that come this near. */
static const double order_gain = 1.2;

struct looking {
    struct yk_search *finder;
    struct yk_arena *arena; /* of the candidate at hand */
};

/* Passes in the other order take more memory, and wait less where messages are slow. */
static yk_status consider_in(struct looking *looking, const struct yk_pipeline_spec *spec)
{
    struct yk_search *finder = looking->finder;
    struct yk_plan *plan = NULL;
    double step_s = NAN;
    YK_TRY(yk_pipeline_plan(finder->study, spec, looking->arena, &plan));
    if (!plan) {
        return YK_OK;
    }
    YK_TRY(yk_search_consider(finder, plan, "pipeline", &step_s));
    if (plan->micro_batches == 1 || !(step_s < order_gain * finder->best_s)) {
        return YK_OK;
    }
    plan->pipeline = YK_GPIPE;
    return yk_search_consider(finder, plan, "pipeline", NULL);
}

static yk_status consider(struct looking *looking, const struct yk_pipeline_spec *spec)
{
    YK_TRY(yk_arena_create(&looking->arena));
    const yk_status status = consider_in(looking, spec);
    yk_arena_destroy(looking->arena);
    return status;
}

static bool has_groups_of_several(const struct yk_device_groups *groups)
{
    for (int32_t k = 0; k < groups->group_count; k++) {
        if (groups->sizes[k] > 1) {
            return true;
        }
    }
    return false;
}

/* The strategies that matter: for stages of one device, one is as good as another. */
static yk_status try_strategies(struct looking *looking, struct yk_pipeline_spec *spec,
                                bool of_several)
{
    static const enum yk_strategy tried[] = {YK_REPLICATED, YK_SHARDED_STATE, YK_KEPT,
                                             YK_FULLY_SHARDED};
    const struct yk_study *study = looking->finder->study;
    const enum yk_strategy fixed = study->request->strategy == YK_STRATEGY_COUNT &&
                                           !yk_study_decides(study, YK_DECIDE_STRATEGIES)
                                       ? YK_FULLY_SHARDED
                                       : study->request->strategy;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        if (fixed == YK_STRATEGY_COUNT ? of_several || i == 0 : tried[i] == fixed) {
            spec->strategy = tried[i];
            YK_TRY(consider(looking, spec));
        }
    }
    return YK_OK;
}

static yk_status try_groups(struct looking *looking, const struct yk_device_groups *groups)
{
    const struct yk_study *study = looking->finder->study;
    const struct yk_plan_request *request = study->request;
    const bool open = yk_study_decides(study, YK_DECIDE_RECOMPUTATION);
    const int32_t asked = request->micro_batches;
    for (int32_t M = 1; M > 0 && yk_search_has_budget(looking->finder);
         M = yk_plan_move_next_micro_batches(request->workload.batch, M)) {
        struct yk_pipeline_spec spec = {
            .devices = groups->devices,
            .sizes = groups->sizes,
            .group_count = groups->group_count,
            .micro_batches = asked > 0 ? asked : M,
            .order = YK_1F1B,
        };
        for (int32_t again = 0; again < 2; again++) {
            spec.recompute = again == 1;
            if (open || spec.recompute == request->workload.recompute) {
                YK_TRY(try_strategies(looking, &spec, has_groups_of_several(groups)));
            }
        }
        if (asked > 0) {
            break;
        }
    }
    return YK_OK;
}

static yk_status try_set(void *user, const struct yk_device_set *set, struct yk_arena *arena)
{
    struct looking *looking = user;
    const struct yk_study *study = looking->finder->study;
    struct yk_device_groups *groups = NULL;
    int32_t group_count = 0;
    if (set->count < 2) {
        return YK_OK;
    }
    YK_TRY(yk_device_sets_list_groups(study, set, arena, &groups, &group_count));
    for (int32_t g = 0; g < group_count && yk_search_has_budget(looking->finder); g++) {
        yk_study_report(study, "pipelines");
        YK_TRY(try_groups(looking, &groups[g]));
    }
    return YK_OK;
}

yk_status yk_search_pipelines(struct yk_search *finder, enum yk_search_devices devices)
{
    struct looking looking = {.finder = finder};
    return yk_study_decides(finder->study, YK_DECIDE_PLACEMENT) &&
                   !finder->study->request->random_strategies
               ? yk_search_each_device_set(finder, devices, try_set, &looking)
               : YK_OK;
}

yk_status yk_search_phase_explore(struct yk_search *finder)
{
    YK_TRY(yk_search_data_parallel(finder, YK_SEARCH_ALL_DEVICES));
    YK_TRY(yk_search_alternating(finder));
    YK_TRY(yk_search_pipelines(finder, YK_SEARCH_ALL_DEVICES));
    YK_TRY(yk_search_data_parallel(finder, YK_SEARCH_SOME_DEVICES));
    return yk_search_pipelines(finder, YK_SEARCH_SOME_DEVICES);
}
