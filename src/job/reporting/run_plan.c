#include "job/reporting/run_report.h"

#include <math.h>

void yk_run_plan_fill_unknown_rank_members(const struct yk_planner_outcome *planned, int32_t number,
                                           struct yk_run_rank_summary *out)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_sim_rank_result *simulated = &planned->evaluation.sim->ranks[number];
    if (!out->device) {
        out->device = planned->context->cluster->devices[plan->ranks[number].device].name;
    }
    if (!isfinite(out->share)) {
        out->share = (double)yk_plan_largest_share_of_rank(plan, number);
    }
    if (!isfinite(out->predicted.compute_s)) {
        out->predicted = (struct yk_trace_breakdown){simulated->compute_s, simulated->exposed_s,
                                                     simulated->idle_s};
    }
    if (!isfinite(out->predicted_bytes)) {
        out->predicted_bytes = planned->evaluation.peaks[number].bytes;
    }
    if (!isfinite(out->limit_bytes)) {
        out->limit_bytes = plan->ranks[number].limit_bytes;
    }
}

/* Whether the shares of the plan differ from `shares`. */
static bool differs(const struct yk_plan *plan, const double *shares)
{
    bool other = false;
    for (int32_t i = 0; i < plan->groups[0].member_count; i++) {
        const struct yk_plan_group_member *member = &plan->groups[0].members[i];
        other = other || (double)member->share != shares[member->rank];
    }
    return other;
}

/* Whether the plan could have them: they add up to the batch, and the plan makes sense. */
static yk_status check(const struct yk_plan *plan, const struct yk_model_config *config,
                       struct yk_arena *arena)
{
    const struct yk_model *model = NULL;
    YK_TRY(yk_model_build(config, &plan->workload, arena, &model));
    return yk_plan_check(plan, model);
}

yk_status yk_run_plan_copy_with_shares(const struct yk_plan *plan,
                                       const struct yk_model_config *config, const double *shares,
                                       int32_t count, struct yk_arena *arena,
                                       const struct yk_plan **out)
{
    struct yk_plan *followed = NULL;
    *out = plan;
    if (plan->group_count > 1 || count != plan->rank_count || !differs(plan, shares)) {
        return YK_OK;
    }
    YK_TRY(yk_plan_copy(plan, arena, &followed));
    for (int32_t i = 0; i < followed->groups[0].member_count; i++) {
        struct yk_plan_group_member *member = &followed->groups[0].members[i];
        const double share = shares[member->rank];
        if (!(share >= 0 && share <= (double)plan->workload.batch && share == floor(share))) {
            return YK_OK;
        }
        member->share = (int64_t)share;
    }
    *out = check(followed, config, arena) == YK_OK ? followed : plan;
    return YK_OK;
}
