/*
 * Plan search: the best plan so far, the plan closest to fitting while none fits, and starting
 * points for local search. It owns copies of all of them.
 *
 *   search_context, plan_evaluation        the inputs of a search; one plan compiled and simulated
 *   data_parallel, pipeline, alternating   families of plans
 *   device_sets                            devices to use, and their groupings
 *   sample_shares, shard_fractions         samples and sharded state of each rank
 *   phases, local_search, plan_move        explores all families, then improves the best plan
 *   baselines, leave_one_out, lower_bound  what the best plan is compared with
 *   memory_remedy                          what would make a model fit
 */
#ifndef YK_PLANNER_SEARCH_SEARCH_H
#define YK_PLANNER_SEARCH_SEARCH_H

#include "base/text.h"
#include "plan/plan_result.h"
#include "planner/search/device_sets.h"
#include "planner/search/plan_evaluation.h"
#include "planner/search/search_context.h"

/* A starting point: the best plan of all with the same devices, groups, shares and micro-batches.
 */
struct yk_plan_search_starting_point {
    const struct yk_plan *plan;
    bool fits;
    double step_s;        /* valid if it fits */
    double missing_bytes; /* sum over all ranks; valid if it does not fit */
};

enum {
    YK_PLAN_SEARCH_MAX_STARTING_POINTS = 96
};

struct yk_plan_search {
    struct yk_search_context *context;
    struct yk_arena *arena;        /* owns the plans */
    const struct yk_plan *best;    /* NULL means: none fits so far */
    double best_s;                 /* INFINITY means: none fits so far */
    const struct yk_plan *nearest; /* the plan that lacks least memory, while none fits */
    double missing_bytes;          /* largest lack of a device in `nearest` */
    int32_t missing_device;        /* this device; -1 means: none */
    struct yk_plan_search_starting_point
        starts[YK_PLAN_SEARCH_MAX_STARTING_POINTS]; /* sorted, the best first */
    int32_t start_count;
};

yk_status yk_plan_search_create(struct yk_search_context *context,
                                struct yk_plan_search *out) YK_MUST_USE;
void yk_plan_search_free(struct yk_plan_search *search);

/* Evaluates a plan and keeps a copy if it is the best. `*out_s` is its step time, or NAN if it does
 * not fit; `out_s` may be NULL. */
yk_status yk_plan_search_evaluate(struct yk_plan_search *search, const struct yk_plan *plan,
                                  double *out_s) YK_MUST_USE;

/* Keeps a copy of an evaluated plan that fits, if it is the best. */
yk_status yk_plan_search_keep_if_best(struct yk_plan_search *search, const struct yk_plan *plan,
                                      double step_s) YK_MUST_USE;

/* False if the budget of the phase is spent. While no plan fits, the budget is larger. */
bool yk_plan_search_has_budget(const struct yk_plan_search *search);

enum yk_plan_search_devices {
    YK_PLAN_SEARCH_ALL_DEVICES,  /* all that the request allows */
    YK_PLAN_SEARCH_SOME_DEVICES, /* proper subsets of them */
};

/* Calls `try` for every device set, while there is budget. `arena` is destroyed after the last
 * call. */
yk_status yk_plan_search_for_each_device_set(
    struct yk_plan_search *search, enum yk_plan_search_devices devices,
    yk_status (*try)(void *user, const struct yk_device_set *set, struct yk_arena *arena),
    void *user) YK_MUST_USE;

/* Search one family of plans each. */
yk_status yk_plan_search_data_parallel(struct yk_plan_search *search,
                                       enum yk_plan_search_devices devices) YK_MUST_USE;
yk_status yk_plan_search_pipelines(struct yk_plan_search *search,
                                   enum yk_plan_search_devices devices) YK_MUST_USE;

/* Searches plans with alternating stages: the fastest device computes its own samples, while slower
 * devices compute some layers of the other samples. Useful if the batch is too small to be divided
 * by speed. */
yk_status yk_plan_search_alternating(struct yk_plan_search *search) YK_MUST_USE;

/* Searches all families, on all devices and then on subsets. */
yk_status yk_plan_search_phase_explore(struct yk_plan_search *search) YK_MUST_USE;

/*
 * Explores the plans of another request in a search of its own. `*out_s` is the step time of the
 * best plan; NAN means: none fits or, if `*out_known` is false, none was found within the budget.
 * Adds the number of evaluated plans to `*trials`.
 */
yk_status yk_plan_search_phase_explore_request(const struct yk_plan_request *request,
                                               bool pipelines_first, int64_t *trials,
                                               bool *out_known, double *out_s) YK_MUST_USE;

/* Applies improving moves from every starting point, until no move helps. */
yk_status yk_local_search_run(struct yk_plan_search *search) YK_MUST_USE;

/*
 * Plan move: the moves of local search. A move is given by its kind and a number. After a move,
 * shard fractions and transfer order must be computed again.
 */
enum yk_plan_move_result {
    YK_PLAN_MOVE_APPLIED,   /* the plan was changed */
    YK_PLAN_MOVE_INVALID,   /* there is no valid move of this number; the plan may be invalid now */
    YK_PLAN_MOVE_PAST_LAST, /* the number is past the last move of this kind */
};

/* Kinds below YK_PLAN_MOVE_FIRST_PLACEMENT_KIND change strategies and messages. The others change
 * shares, stages, micro-batches and devices. */
enum {
    YK_PLAN_MOVE_FIRST_PLACEMENT_KIND = 2,
    YK_PLAN_MOVE_KIND_COUNT = 7,
};

/* Applies a move to `plan`. New arrays of the plan are in `arena`. */
yk_status yk_plan_move_apply(const struct yk_search_context *context, int32_t kind, int32_t number,
                             struct yk_arena *arena, struct yk_plan *plan,
                             enum yk_plan_move_result *out) YK_MUST_USE;

/* Changes the plan to use little memory: sharding, recomputation, no prefetch, as far as the search
 * decides them. Returns false if `variant` is past the last variant. */
bool yk_plan_move_save_memory(const struct yk_search_context *context, int32_t variant,
                              struct yk_plan *plan);

/* The next larger number of micro-batches to try, a divisor of the batch or a power of two; 0 after
 * the last. */
int32_t yk_plan_move_next_micro_batches(int64_t batch, int32_t micro_batches);

/* Improves the best plan: by changes specific to its family, by local search from all starting
 * points, and by the integer program for its transfer order. */
yk_status yk_plan_search_phase_refine(struct yk_plan_search *search) YK_MUST_USE;

/* Evaluates common strategies like any other plan; rows are in `arena`. If the request has no
 * restrictions, they are also candidates of `search`. Returns YK_ERROR_STOPPED at the deadline,
 * with the rows so far.
 */
yk_status yk_baselines_evaluate(struct yk_plan_search *search, struct yk_arena *arena,
                                struct yk_plan_alternative **out, int32_t *out_count) YK_MUST_USE;

/* Searches the best plan without each device of `plan`, whose step time is `step_s`. Of equal
 * devices in one group, only one is left out. Rows are in `arena`; some are missing if the budget
 * ends. */
yk_status yk_leave_one_out_search(struct yk_search_context *context, const struct yk_plan *plan,
                                  double step_s, struct yk_arena *arena,
                                  struct yk_plan_leave_one_out **out,
                                  int32_t *out_count) YK_MUST_USE;

/* A lower bound of the step time of any plan. */
yk_status yk_lower_bound_step_s(struct yk_search_context *context, double *out_s) YK_MUST_USE;

/* Searches for the cheapest change of the request that makes a plan fit. Writes a phrase such as
 * "it fits with --lora 16", that no change helps, or that there was no time to find out. */
yk_status yk_plan_search_memory_remedy(struct yk_search_context *context,
                                       struct yk_text *out) YK_MUST_USE;

#endif
