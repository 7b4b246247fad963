#include "planner/planned_facts.h"

#include "base/units.h"

double yk_planned_mfu(const struct yk_planned *planned)
{
    const struct yk_model *model = planned->study->model;
    const struct yk_model_config *config = model->config;
    const double per_token = 6 * (double)model->parameters + 12 * (double)config->layers *
                                                                 (double)config->width *
                                                                 (double)model->workload.sequence;
    double peak = 0;
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        const struct yk_device *device =
            &planned->study->cluster->devices[planned->plan->ranks[r].device];
        peak += device->matrix_flops[model->workload.precision];
    }
    return per_token * planned->tokens_per_s / peak;
}

const struct yk_plan_member *yk_planned_member(const struct yk_plan *plan, int32_t rank)
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

yk_status yk_planned_fail_unfound(const struct yk_planned *planned)
{
    const char *model = planned->request.config->name;
    if (planned->missing_device < 0) {
        return yk_fail(YK_ERROR_NO_FIT, "no plan for %s fits these devices; %s", model,
                       planned->remedy);
    }
    char missing[YK_UNITS_SIZE];
    char limit[YK_UNITS_SIZE];
    yk_units_format(planned->missing_bytes, YK_UNIT_BYTES, missing);
    yk_units_format(planned->study->limit_bytes[planned->missing_device], YK_UNIT_BYTES, limit);
    return yk_fail(YK_ERROR_NO_FIT,
                   "no plan for %s fits: in the nearest, %s lacks %s of memory beyond its %s; %s",
                   model, planned->study->cluster->devices[planned->missing_device].name, missing,
                   limit, planned->remedy);
}

yk_status yk_planned_fail_unfit(const struct yk_planned *planned)
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
