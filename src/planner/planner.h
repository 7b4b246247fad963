/*
 * Planner: searches for the best plan, or examines a given one, and keeps all that is known about
 * it: its program and simulated step, where the time goes, the baselines, and what leaving devices
 * out would change. This is the principal header of the room:
 *
 *   explain, tradeoff   a plan in sentences; step time against memory
 *   search/             plans: what a search works on, families of plans, local search, baselines
 *   order/              when each collective of a step travels: greedy, and by integer program
 *   placement/          which device has which layer, by schedules of the step's task graph
 *
 * An outcome owns everything it points to. The request's book, config and sources must outlive it.
 */
#ifndef YK_PLANNER_PLANNER_H
#define YK_PLANNER_PLANNER_H

#include "plan/result.h"
#include "planner/search/study.h"
#include "planner/search/trial.h"

struct yk_planner_outcome {
    struct yk_arena *arena;
    struct yk_plan_request request;
    struct yk_study *study;
    const struct yk_plan *plan; /* NULL: nothing fits or, if the search was cut, was found to */
    struct yk_trial trial;      /* of the plan, kept */
    double bound_s;             /* no plan takes less */
    double tokens_per_s;
    const char *summary;
    const char *bottleneck;
    const char *source; /* of the times */
    double search_s;
    int64_t trials; /* plans that were looked at */
    bool cut_short; /* the budget ended the search before all was looked at */
    struct yk_plan_alternative *alternatives;
    int32_t alternative_count;
    struct yk_plan_leave_one_out *leave_one_out;
    int32_t leave_one_out_count;
    /* When nothing fits: */
    int32_t missing_device; /* −1: no plan could even be tried */
    double missing_bytes;
    const char *remedy; /* a clause, tried */
};

/* Searches for the best plan. That nothing fits is a result without a plan. */
yk_status yk_planner_search(const struct yk_plan_request *request,
                            struct yk_planner_outcome **out) YK_MUST_USE;

/* All about a plan that is there already; with the baselines, if asked for. */
yk_status yk_planner_examine(const struct yk_plan_request *request, const struct yk_plan *plan,
                             bool with_baselines, struct yk_planner_outcome **out) YK_MUST_USE;

/* Goes on with another valid program of the plan, drawn by the seed, in place of the plan's own. */
yk_status yk_planner_shuffle(struct yk_planner_outcome *outcome, uint64_t seed) YK_MUST_USE;

void yk_planner_outcome_destroy(struct yk_planner_outcome *outcome);

/* All of it as the record that others read; `trace` must outlive it. In the arena. */
yk_status yk_planner_outcome_result(const struct yk_planner_outcome *outcome,
                                    const struct yk_trace *trace, struct yk_arena *arena,
                                    struct yk_plan_result *out) YK_MUST_USE;

/* Model FLOPS utilisation, 0 to 1: what yk_model_flops() counts over the sum of the devices' dense
 * peaks. */
struct yk_mfu {
    double formula;
    double exact;
};

/* In the predicted step. */
struct yk_mfu yk_planner_mfu(const struct yk_planner_outcome *outcome);

/* Where the plan trains on so many tokens a second; of an encoder–decoder, those of both sides. */
struct yk_mfu yk_planner_mfu_at(const struct yk_planner_outcome *outcome, double tokens_per_s);

/* The rank's share and part in the first group it is in; NULL when it is in none. */
const struct yk_plan_member *yk_planner_member(const struct yk_plan *plan, int32_t rank);

/* Fails with the device, what it lacks and the remedy, when no plan was found. */
yk_status yk_planner_fail_unfound(const struct yk_planner_outcome *outcome) YK_MUST_USE;

/* Fails with the device and what it lacks, when the plan that was examined does not fit. */
yk_status yk_planner_fail_unfit(const struct yk_planner_outcome *outcome) YK_MUST_USE;

#endif
