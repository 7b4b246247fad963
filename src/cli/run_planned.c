#include "cli/run_planned.h"

#include <math.h>

/* A rank's samples in a step: of the groups that it is in, one may only keep state. */
static double share_of(const struct yk_plan *plan, int32_t rank)
{
    int64_t share = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t m = 0; m < plan->groups[g].member_count; m++) {
            const struct yk_plan_member *member = &plan->groups[g].members[m];
            share = member->rank == rank && member->share > share ? member->share : share;
        }
    }
    return (double)share;
}

void yk_run_planned_complete(const struct yk_planned *planned, int32_t number,
                             struct yk_run_rank *out)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_sim_rank *simulated = &planned->trial.sim->ranks[number];
    if (!out->device) {
        out->device = planned->study->cluster->devices[plan->ranks[number].device].name;
    }
    if (!isfinite(out->share)) {
        out->share = share_of(plan, number);
    }
    if (!isfinite(out->predicted.compute_s)) {
        out->predicted =
            (struct yk_trace_sum){simulated->compute_s, simulated->exposed_s, simulated->idle_s};
    }
    if (!isfinite(out->predicted_bytes)) {
        out->predicted_bytes = planned->trial.peaks[number].bytes;
    }
    if (!isfinite(out->limit_bytes)) {
        out->limit_bytes = plan->ranks[number].limit_bytes;
    }
}
