/*
 * Planner: searches for the best plan, or evaluates a given one. The outcome holds the plan, its
 * program and simulated step, the baselines, and the effect of leaving out devices.
 *
 *   explain, tradeoff   a plan in words; step time over memory
 *   search/             the search for plans: families of plans, local search, baselines
 *   order/              when each collective of a step runs: a heuristic and an integer program
 *   placement/          which device has which layer, by scheduling the step's task graph
 *
 * An outcome owns everything it points to. The request's cost sources, config and strings must
 * outlive it.
 */
#ifndef YK_PLANNER_PLANNER_H
#define YK_PLANNER_PLANNER_H

#include "base/text.h"
#include "plan/plan_result.h"
#include "planner/search/plan_evaluation.h"
#include "planner/search/search_context.h"

struct yk_planner_outcome {
    struct yk_arena *arena;
    struct yk_plan_request request;
    struct yk_search_context *context;
    const struct yk_plan *plan; /* NULL means: no plan that fits was found */
    struct yk_plan_evaluation
        evaluation; /* evaluation of the plan, with its program and simulation */
    double bound_s; /* lower bound of the step time of any plan */
    double tokens_per_s;
    const char *summary;                      /* the plan in one sentence */
    const char *bottleneck;                   /* a phrase */
    const char *source;                       /* a phrase: the origins of the times */
    double search_s;                          /* duration of the search */
    int64_t evaluation_count;                 /* number of plans evaluated */
    bool cut_short;                           /* the budget ended the search early */
    struct yk_plan_alternative *alternatives; /* the baselines */
    int32_t alternative_count;
    struct yk_plan_leave_one_out *leave_one_out;
    int32_t leave_one_out_count;
    /* Set if no plan fits: */
    int32_t missing_device; /* the device that lacks memory; −1 means: no plan was evaluated */
    double missing_bytes;   /* memory that it lacks in the plan closest to fitting */
    const char *remedy;     /* a phrase: what would make it fit */
};

/* Searches for the best plan. If nothing fits, the outcome has no plan. */
yk_status yk_planner_search(const struct yk_plan_request *request,
                            struct yk_planner_outcome **out) YK_MUST_USE;

/* Evaluates an existing plan, and the baselines if `with_baselines` is true. */
yk_status yk_planner_evaluate(const struct yk_plan_request *request, const struct yk_plan *plan,
                              bool with_baselines, struct yk_planner_outcome **out) YK_MUST_USE;

/* Replaces the plan's program by a random valid order of the same ops, and simulates that. */
yk_status yk_planner_shuffle_program(struct yk_planner_outcome *outcome, uint64_t seed) YK_MUST_USE;

void yk_planner_outcome_destroy(struct yk_planner_outcome *outcome);

/* Converts the outcome to the record for reports. The outcome and `trace` must outlive it; arrays
 * are in `arena`. */
yk_status yk_planner_outcome_result(const struct yk_planner_outcome *outcome,
                                    const struct yk_trace *trace, struct yk_arena *arena,
                                    struct yk_plan_result *out) YK_MUST_USE;

/* Model FLOPS utilisation, 0 to 1: the FLOPs of yk_model_flops() relative to the sum of the
 * devices' dense peaks. */
struct yk_mfu {
    double formula; /* attention by the formula of PaLM */
    double exact;   /* attention by the pairs of positions that are computed */
};

/* The MFU of the predicted step. */
struct yk_mfu yk_planner_predicted_mfu(const struct yk_planner_outcome *outcome);

/* The MFU at a measured throughput. Tokens of both encoder and decoder count. */
struct yk_mfu yk_planner_mfu_at_throughput(const struct yk_planner_outcome *outcome,
                                           double tokens_per_s);

/* The rank's entry in the first group that it is a member of, or NULL. */
const struct yk_plan_group_member *yk_planner_find_member(const struct yk_plan *plan, int32_t rank);

/* Returns the error of a search that found no plan: the device, its missing memory, the remedy. */
yk_status yk_planner_fail_no_plan_found(const struct yk_planner_outcome *outcome) YK_MUST_USE;

/* Returns an error with the device and its missing memory if the evaluated plan does not fit. */
yk_status yk_planner_fail_plan_does_not_fit(const struct yk_planner_outcome *outcome) YK_MUST_USE;

/* Writes what limits the speed: "the link of rank 2 (gpu2): 38 % of the step is exposed gathers of
 * layers 20–31". The evaluation must have its simulation. */
void yk_explain_bottleneck(const struct yk_search_context *context,
                           const struct yk_plan_evaluation *evaluation, struct yk_text *out);

/* Writes the plan in one sentence: "data-parallel on 3 devices, shares 28/18/18; …". */
void yk_explain_plan(const struct yk_search_context *context, const struct yk_plan *plan,
                     struct yk_text *out);

/* Writes the memory of driver and libraries, and whether it was measured: "24MiB a process on a
 * CPU, assumed". */
void yk_explain_context_memory(const struct yk_search_context *context, const struct yk_plan *plan,
                               struct yk_text *out);

/* Writes a range of layers: "layers 20–31", "embed", "embed to layer 3". */
void yk_explain_layer_range(const struct yk_model *model, int32_t first, int32_t last,
                            struct yk_text *out);

#endif
