#include "job/training/rebalancer.h"

#include "base/log.h"
#include "base/text.h"
#include "plan/plan.h"
#include "planner/planner.h"

#include <inttypes.h>
#include <math.h>

enum {
    PATIENCE = 20,    /* steps in a row */
    MAX_CHANGES = 16, /* of a run */
};

/* A rank with a larger relative slowdown counts as slow. */
#define TOO_SLOW 1.3

/* All ranks reach the same result; only rank 0 logs it. */
#define report(balance_, ...)                                                                      \
    do {                                                                                           \
        if ((balance_)->reports) {                                                                 \
            yk_log(__VA_ARGS__);                                                                   \
        }                                                                                          \
    } while (0)

yk_status yk_train_rebalancer_open(struct yk_train_rebalancer *rebalancer)
{
    const struct yk_sim_result *sim = rebalancer->planned->evaluation.sim;
    const int32_t ranks = rebalancer->planned->plan->rank_count;
    YK_TRY_NEW(rebalancer->arena, rebalancer->planned_s, ranks);
    YK_TRY_NEW(rebalancer->arena, rebalancer->slow, ranks);
    YK_TRY_NEW(rebalancer->arena, rebalancer->mean_s, ranks);
    YK_TRY_NEW(rebalancer->arena, rebalancer->named, ranks);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(rebalancer->arena, rebalancer->found, MAX_CHANGES);
    YK_TRY_NEW(rebalancer->arena, rebalancer->changed, MAX_CHANGES);
    for (int32_t r = 0; r < ranks; r++) {
        rebalancer->planned_s[r] = sim->ranks[r].compute_s;
    }
    return YK_OK;
}

void yk_train_rebalancer_close(struct yk_train_rebalancer *rebalancer)
{
    for (int32_t i = 0; i < rebalancer->found_count; i++) {
        yk_planner_outcome_destroy(rebalancer->found[i]);
    }
    rebalancer->found_count = 0;
}

const struct yk_planner_outcome *
yk_train_rebalancer_current_plan(const struct yk_train_rebalancer *rebalancer)
{
    const int32_t changes = rebalancer->changed_count;
    return changes > 0 ? rebalancer->found[changes - 1] : rebalancer->planned;
}

double yk_train_rebalancer_planned_peak_bytes(const struct yk_train_rebalancer *rebalancer,
                                              int32_t rank)
{
    double most = rebalancer->planned->evaluation.peaks[rank].bytes;
    for (int32_t i = 0; i < rebalancer->changed_count; i++) {
        most = fmax(most, rebalancer->found[i]->evaluation.peaks[rank].bytes);
    }
    return most;
}

/* The plan before change number `change`. */
static const struct yk_plan *plan_before(const struct yk_train_rebalancer *rebalancer,
                                         int32_t change)
{
    return change > 0 ? rebalancer->found[change - 1]->plan : rebalancer->planned->plan;
}

/* Samples per step of a rank. */
static int64_t share_at(const struct yk_plan *plan, int32_t rank)
{
    const struct yk_plan_group_member *member = yk_planner_find_group_member_of_rank(plan, rank);
    return member ? member->share : 0;
}

void yk_train_rebalancer_record_change(struct yk_train_rebalancer *rebalancer, int64_t step)
{
    struct yk_text shares = {0};
    if (rebalancer->changed_count == rebalancer->found_count) {
        return;
    }
    rebalancer->changed[rebalancer->changed_count++] = step;
    const struct yk_plan *plan = yk_train_rebalancer_current_plan(rebalancer)->plan;
    for (int32_t r = 0; r < plan->rank_count; r++) {
        yk_text_addf(&shares, "%s%" PRId64, r > 0 ? " + " : "", share_at(plan, r));
    }
    report(rebalancer, YK_LOG_NOTE, "step %" PRId64 ": rebalanced: the ranks go on with %s samples",
           step, yk_text_chars(&shares));
    yk_text_free(&shares);
}

static yk_status list_shares(const struct yk_plan *plan, struct yk_arena *arena, int64_t **out)
{
    YK_TRY_NEW(arena, *out, plan->rank_count);
    for (int32_t r = 0; r < plan->rank_count; r++) {
        (*out)[r] = share_at(plan, r);
    }
    return YK_OK;
}

yk_status yk_train_rebalancer_list_changes(const struct yk_train_rebalancer *rebalancer,
                                           struct yk_arena *arena,
                                           struct yk_train_share_change **out)
{
    YK_TRY_NEW(arena, *out, rebalancer->changed_count);
    for (int32_t i = 0; i < rebalancer->changed_count; i++) {
        struct yk_train_share_change *change = &(*out)[i];
        change->step = rebalancer->changed[i];
        change->predicted_step_s = rebalancer->found[i]->evaluation.step_s;
        YK_TRY(list_shares(plan_before(rebalancer, i), arena, &change->shares_before));
        YK_TRY(list_shares(rebalancer->found[i]->plan, arena, &change->shares));
    }
    return YK_OK;
}

/* Pointer to the share of a rank in a plan with one group; NULL: the rank has none. */
static int64_t *share_of(struct yk_plan *plan, int32_t rank)
{
    struct yk_plan_group *group = &plan->groups[0];
    for (int32_t i = 0; i < group->member_count; i++) {
        if (group->members[i].rank == rank) {
            return &group->members[i].share;
        }
    }
    return NULL;
}

/* The current plan with new shares, proportional to the measured speeds of the ranks. */
static yk_status plan_new_shares(struct yk_train_rebalancer *rebalancer, const double *compute_s,
                                 struct yk_planner_outcome **out)
{
    const struct yk_plan *now = yk_train_rebalancer_current_plan(rebalancer)->plan;
    struct yk_plan *plan = NULL;
    double *speeds = NULL;
    int64_t *shares = NULL;
    YK_TRY(yk_plan_copy(now, rebalancer->arena, &plan));
    YK_TRY_NEW(rebalancer->arena, speeds, plan->rank_count);
    YK_TRY_NEW(rebalancer->arena, shares, plan->rank_count);
    for (int32_t r = 0; r < plan->rank_count; r++) {
        const int64_t *share = share_of(plan, r);
        speeds[r] = share && compute_s[r] > 0 ? (double)*share / compute_s[r] : 0;
    }
    yk_plan_divide_batch(speeds, plan->rank_count, plan->workload.batch, shares);
    for (int32_t r = 0; r < plan->rank_count; r++) {
        int64_t *share = share_of(plan, r);
        if (share) {
            rebalancer->planned_s[r] =
                speeds[r] > 0 ? (double)shares[r] / speeds[r] : rebalancer->planned_s[r];
            *share = shares[r];
        }
    }
    return yk_planner_evaluate_plan(rebalancer->request, plan, false, out);
}

/* Whether two plans have different shares. */
static bool differs(const struct yk_plan *a, const struct yk_plan *b)
{
    for (int32_t i = 0; i < a->groups[0].member_count; i++) {
        if (a->groups[0].members[i].share != b->groups[0].members[i].share) {
            return true;
        }
    }
    return false;
}

static const struct yk_program *find_new_plan(struct yk_train_rebalancer *rebalancer, int64_t step,
                                              const double *compute_s)
{
    struct yk_planner_outcome *found = NULL;
    const struct yk_plan *now = yk_train_rebalancer_current_plan(rebalancer)->plan;
    if (rebalancer->found_count == MAX_CHANGES) {
        return NULL;
    }
    if (plan_new_shares(rebalancer, compute_s, &found) != YK_OK || !found->plan ||
        yk_planner_check_plan_fits(found) != YK_OK) {
        report(rebalancer, YK_LOG_WARNING, "step %" PRId64 ": samples stay as they are: %s", step,
               yk_status_message());
        yk_planner_outcome_destroy(found);
        return NULL;
    }
    if (!differs(found->plan, now)) {
        yk_planner_outcome_destroy(found);
        return NULL;
    }
    rebalancer->found[rebalancer->found_count++] = found;
    return found->evaluation.program;
}

/* Measured time / planned time of a rank, relative to the rank with the smallest ratio. */
static double slowness(const struct yk_train_rebalancer *rebalancer, const double *compute_s,
                       int32_t ranks, int32_t rank)
{
    double best = INFINITY;
    for (int32_t r = 0; r < ranks; r++) {
        if (rebalancer->planned_s[r] > 0 && compute_s[r] > 0) {
            best = fmin(best, compute_s[r] / rebalancer->planned_s[r]);
        }
    }
    return rebalancer->planned_s[rank] > 0 && isfinite(best)
               ? compute_s[rank] / rebalancer->planned_s[rank] / best
               : 1;
}

const struct yk_program *yk_train_rebalancer_check_step(struct yk_train_rebalancer *rebalancer,
                                                        const struct yk_step_metrics *step)
{
    int32_t slowest = -1;
    if (!(step->compute_s[0] > 0)) {
        return NULL; /* the first step may have no measurement */
    }
    for (int32_t r = 0; r < step->ranks; r++) {
        const double times = slowness(rebalancer, step->compute_s, step->ranks, r);
        rebalancer->slow[r] = times > TOO_SLOW ? rebalancer->slow[r] + 1 : 0;
        slowest = rebalancer->slow[r] >= PATIENCE ? r : slowest;
    }
    for (int32_t r = 0; r < step->ranks; r++) {
        /* An exponential moving average: recent steps weigh more. */
        const double weight = rebalancer->mean_s[r] > 0 ? 0.2 : 1;
        rebalancer->mean_s[r] = (1 - weight) * rebalancer->mean_s[r] + weight * step->compute_s[r];
    }
    if (slowest < 0) {
        return NULL;
    }
    if (!rebalancer->named[slowest] || rebalancer->changes) {
        report(
            rebalancer, YK_LOG_WARNING,
            "step %" PRId64 ": rank %d has computed %.1f times as long as planned for %d steps%s",
            step->step, (int)slowest, slowness(rebalancer, step->compute_s, step->ranks, slowest),
            PATIENCE, rebalancer->changes ? "" : "; --rebalance divides the samples anew");
    }
    rebalancer->named[slowest] = true;
    for (int32_t r = 0; r < step->ranks; r++) {
        rebalancer->slow[r] = 0;
    }
    const struct yk_plan *plan = yk_train_rebalancer_current_plan(rebalancer)->plan;
    const bool can = plan->group_count == 1 && !yk_plan_has_alternating_members(plan);
    if (rebalancer->changes && !can) {
        report(rebalancer, YK_LOG_NOTE,
               "layers are placed on ranks: only a new plan can divide them anew");
    }
    return rebalancer->changes && can ? find_new_plan(rebalancer, step->step, rebalancer->mean_s)
                                      : NULL;
}
