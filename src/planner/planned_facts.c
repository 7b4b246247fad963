#include "planner/planned_facts.h"

#include "base/units.h"

#include <stdio.h>

enum {
    WORDS_SIZE = 128
};

/* Of the ranks that take part, in the workload's precision. */
static double peak_flops(const struct yk_planner_outcome *planned)
{
    double peak = 0;
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        const struct yk_device *device =
            &planned->study->cluster->devices[planned->plan->ranks[r].device];
        peak += device->matrix_flops[planned->study->model->workload.precision];
    }
    return peak;
}

struct yk_mfu yk_planner_mfu_at(const struct yk_planner_outcome *planned, double tokens_per_s)
{
    const struct yk_model *model = planned->study->model;
    const struct yk_flops flops = yk_model_flops(model);
    const double steps_per_s = tokens_per_s / (double)yk_model_all_tokens(model);
    const double peak = peak_flops(planned);
    return (struct yk_mfu){
        .formula = flops.formula * steps_per_s / peak,
        .exact = flops.exact * steps_per_s / peak,
    };
}

struct yk_mfu yk_planner_mfu(const struct yk_planner_outcome *planned)
{
    return yk_planner_mfu_at(planned, (double)yk_model_all_tokens(planned->study->model) /
                                          planned->trial.step_s);
}

const struct yk_plan_member *yk_planner_member(const struct yk_plan *plan, int32_t rank)
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

yk_status yk_planner_fail_unfound(const struct yk_planner_outcome *planned)
{
    const char *model = planned->request.config->name;
    char found[WORDS_SIZE] = "fits";
    char missing[YK_UNITS_SIZE];
    char limit[YK_UNITS_SIZE];
    if (planned->cut_short && planned->request.search.moves > 0) {
        snprintf(found, sizeof found, "was found in %lld trials", (long long)planned->trials);
    } else if (planned->cut_short) {
        snprintf(found, sizeof found,
                 "was found within the budget of %.3g s, which cut the search short after %lld "
                 "trial%s",
                 planned->request.search.budget_s, (long long)planned->trials,
                 planned->trials == 1 ? "" : "s");
    }
    if (planned->missing_device < 0) {
        return yk_fail(YK_ERROR_NO_FIT, "no plan for %s %s%s; %s", model, found,
                       planned->cut_short ? "" : " these devices", planned->remedy);
    }
    yk_units_format(planned->missing_bytes, YK_UNIT_BYTES, missing);
    yk_units_format(planned->study->limit_bytes[planned->missing_device], YK_UNIT_BYTES, limit);
    return yk_fail(YK_ERROR_NO_FIT,
                   "no plan for %s %s: in the nearest, %s lacks %s of memory beyond its %s; %s",
                   model, found, planned->study->cluster->devices[planned->missing_device].name,
                   missing, limit, planned->remedy);
}

yk_status yk_planner_fail_unfit(const struct yk_planner_outcome *planned)
{
    const struct yk_trial *trial = &planned->trial;
    char missing[YK_UNITS_SIZE];
    char limit[YK_UNITS_SIZE];
    if (trial->fits) {
        return YK_OK;
    }
    const struct yk_plan_rank *rank = &planned->plan->ranks[trial->rank];
    yk_units_format(trial->missing_bytes, YK_UNIT_BYTES, missing);
    yk_units_format(rank->limit_bytes, YK_UNIT_BYTES, limit);
    return yk_fail(YK_ERROR_NO_FIT,
                   "the plan does not fit: %s lacks %s of memory beyond its %s; plan again, or "
                   "recompute more layers",
                   planned->study->cluster->devices[rank->device].name, missing, limit);
}
