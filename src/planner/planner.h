/*
 * Planned: a plan with all that is to be said about it: its program and simulated step, where the
 * time goes, the runners-up, and what leaving devices out would change.
 *
 * It owns everything it points to. The request's book, config and sources must outlive it.
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
    const char *how; /* it was found, in a word or two */
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

/* All that is to be said about a plan that is there already; with rivals, what others do, too. */
yk_status yk_planner_examine(const struct yk_plan_request *request, const struct yk_plan *plan,
                             bool with_rivals, struct yk_planner_outcome **out) YK_MUST_USE;

/* Goes on with another valid program of the plan, drawn by the seed, in place of the plan's own. */
yk_status yk_planner_shuffle(struct yk_planner_outcome *planned, uint64_t seed) YK_MUST_USE;

void yk_planner_outcome_destroy(struct yk_planner_outcome *planned);

/* All of it as the record that others read; `trace` must outlive it. In the arena. */
yk_status yk_planner_outcome_result(const struct yk_planner_outcome *planned,
                                    const struct yk_trace *trace, struct yk_arena *arena,
                                    struct yk_plan_result *out) YK_MUST_USE;

#endif
