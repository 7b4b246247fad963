/*
 * Search: the best plan found so far, the nearest to fit as long as none does, and plans of other
 * shapes as starts for local search. It owns copies of all. Candidates live in an arena of their
 * own, which ends with them.
 *
 *   study, trial                           what a search works on; one plan compiled and simulated
 *   data_parallel, pipeline, alternating   families of plans
 *   device_sets, shares, parts             which devices; samples and sharded state of each rank
 *   phases, local_search, plan_move        exploring all families, then improving the best
 *   baselines, leave_one_out, lower_bound  what the best plan is compared with
 *   remedy                                 what would make a model fit
 */
#ifndef YK_PLANNER_SEARCH_SEARCH_H
#define YK_PLANNER_SEARCH_SEARCH_H

#include "base/text.h"
#include "plan/result.h"
#include "planner/search/device_sets.h"
#include "planner/search/study.h"
#include "planner/search/trial.h"

/* The best plan of those with its devices, groups, shares and micro-batches. */
struct yk_search_start {
    const struct yk_plan *plan;
    bool fits;
    double step_s;        /* if it fits */
    double missing_bytes; /* else, on all ranks together */
};

enum {
    YK_SEARCH_STARTS = 96
};

struct yk_search {
    struct yk_study *study;
    struct yk_arena *arena;        /* owns the plans */
    const struct yk_plan *best;    /* NULL: none fits so far */
    double best_s;                 /* INFINITY then */
    const struct yk_plan *nearest; /* that lacks least, as long as none fits */
    double missing_bytes;
    int32_t missing_device;
    struct yk_search_start starts[YK_SEARCH_STARTS]; /* the most promising first */
    int32_t start_count;
};

yk_status yk_search_create(struct yk_study *study, struct yk_search *out) YK_MUST_USE;
void yk_search_free(struct yk_search *search);

/* Tries a plan out and keeps a copy if it is the best. `out_s` is its time, NAN if it does not fit;
 * it may be NULL. */
yk_status yk_search_consider(struct yk_search *search, const struct yk_plan *plan,
                             double *out_s) YK_MUST_USE;

/* Keeps a copy of a plan that was tried out and fits, if it is the best. */
yk_status yk_search_accept(struct yk_search *search, const struct yk_plan *plan,
                           double step_s) YK_MUST_USE;

/* False once the time is up: a search without a plan so far gets more of it. */
bool yk_search_has_budget(const struct yk_search *search);

/* Which devices the candidates use. */
enum yk_search_devices {
    YK_SEARCH_ALL_DEVICES,
    YK_SEARCH_SOME_DEVICES,
};

/* Calls `try` for the sets of devices that candidates may use, while there is budget, with an arena
 * that ends with it. */
yk_status yk_search_each_device_set(struct yk_search *search, enum yk_search_devices devices,
                                    yk_status (*try)(void *user, const struct yk_device_set *set,
                                                     struct yk_arena *arena),
                                    void *user) YK_MUST_USE;

/* Consider a family of plans each, within the study's budget. */
yk_status yk_search_data_parallel(struct yk_search *search,
                                  enum yk_search_devices devices) YK_MUST_USE;
yk_status yk_search_pipelines(struct yk_search *search, enum yk_search_devices devices) YK_MUST_USE;

/* Stages that alternate: the fastest device works on its own samples while slower ones do a run of
 * the layers for some others: where the batch is too small to be shared out by speed. */
yk_status yk_search_alternating(struct yk_search *search) YK_MUST_USE;

/* All of them, on all devices and then on some of them. */
yk_status yk_search_phase_explore(struct yk_search *search) YK_MUST_USE;

/* Descends from every start, one move at a time, until no move helps. */
yk_status yk_local_search_run(struct yk_search *search) YK_MUST_USE;

/* Refines the best: what helps plans of its kind, then local search from all starts, then the best
 * order of communication. */
yk_status yk_search_phase_refine(struct yk_search *search) YK_MUST_USE;

/* What people do today, as plans that are tried like any other. */
struct yk_baselines {
    struct yk_plan_alternative *rows;
    int32_t count;
};

/* Where the request leaves everything open, they are candidates of `search`,
 * too. Ends with YK_ERROR_STOPPED where the study's deadline passes: the rows before are there
 * then. In the arena. */
yk_status yk_baselines_try(struct yk_search *search, struct yk_arena *arena,
                           struct yk_baselines *out) YK_MUST_USE;

/* What the best plan takes when one of its devices is left out: a row for each; of several that are
 * alike and do the same, one. Rows that there was no time for are missing. In the arena. */
yk_status yk_leave_one_out_search(struct yk_study *study, const struct yk_plan *plan, double step_s,
                                  struct yk_arena *arena, struct yk_plan_leave_one_out **out,
                                  int32_t *out_count) YK_MUST_USE;

/* A step time that no plan beats. */
yk_status yk_lower_bound_step_s(struct yk_study *study, double *out_s) YK_MUST_USE;

/* The cheapest change with which a plan fits, tried out: a clause such as "it fits with --lora 16",
 * that nothing helps, or that the budget was not enough to know. */
yk_status yk_search_remedy(struct yk_study *study, struct yk_text *out) YK_MUST_USE;

#endif
