/*
 * Plan search: stores the best plan so far, starting points for local search and, while no plan
 * fits into memory, the plan that is nearest to fitting. It owns copies of all these plans.
 *
 * Files of this folder:
 *   search_context                         the inputs of a search
 *   plan_evaluation                        compiles and simulates one plan
 *   data_parallel, pipeline, alternating   families of plans
 *   device_sets                            the devices to use, and their groupings
 *   sample_shares, shard_fractions         samples and sharded state of each rank
 *   phases                                 explore all families, then refine the best plan
 *   local_search, plan_move                improve a plan with small changes
 *   baselines, leave_one_out, lower_bound  what the best plan is compared with
 *   memory_remedy                          searches for a change that makes a model fit
 */
#ifndef YK_PLANNER_SEARCH_SEARCH_H
#define YK_PLANNER_SEARCH_SEARCH_H

#include "base/text.h"
#include "plan/plan_result.h"
#include "planner/search/device_sets.h"
#include "planner/search/plan_evaluation.h"
#include "planner/search/search_context.h"

/* A starting point of local search: the best plan among all plans with the same devices, group
 * sizes, shares and number of micro-batches. */
struct yk_plan_search_starting_point {
    const struct yk_plan *plan;
    bool fits;
    double step_s;        /* valid if the plan fits */
    double missing_bytes; /* missing memory of all ranks together; valid if the plan does not fit */
};

enum {
    YK_PLAN_SEARCH_MAX_STARTING_POINTS = 96
};

struct yk_plan_search {
    struct yk_search_context *context;
    struct yk_arena *arena;        /* owns the plans */
    const struct yk_plan *best;    /* NULL means: no plan fits so far */
    double best_s;                 /* INFINITY means: no plan fits so far */
    const struct yk_plan *nearest; /* while no plan fits: the plan with the least `missing_bytes` */
    double missing_bytes;          /* memory that `missing_device` lacks in `nearest` */
    int32_t missing_device; /* the device that lacks most memory in `nearest`; -1 means: `nearest`
                               is NULL */
    struct yk_plan_search_starting_point
        starts[YK_PLAN_SEARCH_MAX_STARTING_POINTS]; /* sorted; the best plan is first */
    int32_t start_count;
};

yk_status yk_plan_search_create(struct yk_search_context *context,
                                struct yk_plan_search *out) YK_MUST_USE;
void yk_plan_search_free(struct yk_plan_search *search);

/* Evaluates a plan and keeps a copy if it is the best so far, the nearest so far, or a starting
 * point. Sets `*out_s` to its step time, or to NAN if the plan does not fit. `out_s` may be NULL.
 */
yk_status yk_plan_search_try_plan(struct yk_plan_search *search, const struct yk_plan *plan,
                                  double *out_s) YK_MUST_USE;

/* Keeps a copy of a plan if it is the best so far. The plan must be evaluated and must fit;
 * `step_s` is its step time. */
yk_status yk_plan_search_keep_if_best(struct yk_plan_search *search, const struct yk_plan *plan,
                                      double step_s) YK_MUST_USE;

/* Returns false if the budget of the phase is spent. If a plan fits, also returns false if the user
 * has stopped the search. While no plan fits, the budget is larger. */
bool yk_plan_search_has_budget(const struct yk_plan_search *search);

enum yk_plan_search_device_choice {
    YK_PLAN_SEARCH_ALL_DEVICES,  /* all devices that the request allows */
    YK_PLAN_SEARCH_SOME_DEVICES, /* proper subsets of these devices */
};

/* Calls `try` for every device set until the budget is spent. The `arena` of all calls is the same
 * and is destroyed after the last call. */
yk_status yk_plan_search_for_each_device_set(struct yk_plan_search *search,
                                             enum yk_plan_search_device_choice devices,
                                             yk_status (*try)(struct yk_plan_search *search,
                                                              const struct yk_device_set *set,
                                                              struct yk_arena *arena)) YK_MUST_USE;

/* Search the data-parallel plans, or the pipelines. */
yk_status yk_plan_search_try_data_parallel(struct yk_plan_search *search,
                                           enum yk_plan_search_device_choice devices) YK_MUST_USE;
yk_status yk_plan_search_try_pipelines(struct yk_plan_search *search,
                                       enum yk_plan_search_device_choice devices) YK_MUST_USE;

/* Searches plans with alternating members (plan/plan.h): the fastest device computes all layers for
 * some samples. Meanwhile, slower devices compute some layers for the remaining samples. The
 * fastest device computes the other layers for the remaining samples. Such plans are useful if the
 * batch is too small to be divided in proportion to speed. */
yk_status yk_plan_search_try_alternating_members(struct yk_plan_search *search) YK_MUST_USE;

/* Searches all families of plans, first on all devices and then on subsets. */
yk_status yk_plan_search_run_explore_phase(struct yk_plan_search *search) YK_MUST_USE;

/*
 * Explores the plans of another request in a separate search. `*out_s` is the step time of the best
 * plan, or NAN if no plan was found that fits. `*out_known` is false if no plan was found because
 * the budget ended too early; otherwise it is true. Adds the number of evaluated plans to
 * `*trials`.
 */
yk_status yk_plan_search_explore_phase_of_request(const struct yk_plan_request *request,
                                                  bool pipelines_first, int64_t *trials,
                                                  bool *out_known, double *out_s) YK_MUST_USE;

/* Applies improving moves from every starting point, until no move helps or the budget is spent. */
yk_status yk_local_search_run(struct yk_plan_search *search) YK_MUST_USE;

/*
 * Plan move: the moves of local search. A move is a small change of a plan. Its kind and a number
 * identify it. After a move, shard fractions and transfer order must be computed again.
 */
enum yk_plan_move_result {
    YK_PLAN_MOVE_APPLIED, /* the plan was changed */
    YK_PLAN_MOVE_INVALID, /* the move with this number is not valid; the plan may be invalid now */
    YK_PLAN_MOVE_PAST_LAST, /* there is no move of this kind with this or a larger number */
};

/* Kinds below YK_PLAN_MOVE_FIRST_PLACEMENT_KIND change strategies, recomputation and messages.
 * The other kinds change shares, stages, micro-batches and devices. */
enum {
    YK_PLAN_MOVE_FIRST_PLACEMENT_KIND = 2,
    YK_PLAN_MOVE_KIND_COUNT = 7,
};

/* Applies a move to `plan`. New arrays of the plan are in `arena`. */
yk_status yk_plan_move_apply(const struct yk_search_context *context, int32_t kind, int32_t number,
                             struct yk_arena *arena, struct yk_plan *plan,
                             enum yk_plan_move_result *out) YK_MUST_USE;

/* Changes the plan so that it uses little memory: with sharding, recomputation and little prefetch.
 * Changes strategies and recomputation only if the search decides them. Returns false if there is
 * no variant with the number `variant`. */
bool yk_plan_move_reduce_memory(const struct yk_search_context *context, int32_t variant,
                                struct yk_plan *plan);

/* Returns the next number of micro-batches to try: the smallest number above `micro_batches` that
 * is a divisor of the batch or a power of two. Returns 0 if this number is larger than the batch or
 * larger than 64. */
int32_t yk_plan_move_next_micro_batch_count(int64_t batch, int32_t micro_batches);

/* Improves the best plan with changes that are specific to its family, with local search from all
 * starting points, and with the integer program for its transfer order. */
yk_status yk_plan_search_run_refine_phase(struct yk_plan_search *search) YK_MUST_USE;

/* Evaluates plans that are in common use, the baselines. The array `*out` is in `arena`. A baseline
 * that the request allows is also a candidate for the best plan of `search`. If the
 * deadline passes, fails with YK_ERROR_STOPPED; `*out` then contains the baselines that were
 * evaluated before. */
yk_status yk_baselines_evaluate(struct yk_plan_search *search, struct yk_arena *arena,
                                struct yk_plan_alternative **out, int32_t *out_count) YK_MUST_USE;

/* For each device of `plan`, searches for the best plan without this device. `step_s` is the step
 * time of `plan`. If `plan` has one group, leaves out only one of several equal devices. The
 * array `*out` is in `arena`; some devices are missing if the budget ends early. */
yk_status yk_leave_one_out_search(struct yk_search_context *context, const struct yk_plan *plan,
                                  double step_s, struct yk_arena *arena,
                                  struct yk_plan_leave_one_out **out,
                                  int32_t *out_count) YK_MUST_USE;

/* Computes a lower bound of the step time of any plan. */
yk_status yk_lower_bound_of_step_s(struct yk_search_context *context, double *out_s) YK_MUST_USE;

/* Searches for the cheapest change of the request that makes a plan fit. Appends a phrase such as
 * "it fits with --lora 16", or a phrase that says that no change helps or that there was no time
 * for this search. */
yk_status yk_plan_search_find_memory_remedy(struct yk_search_context *context,
                                            struct yk_text *out) YK_MUST_USE;

#endif
