/*
 * Planner: searches for the best plan, or evaluates a given plan. The outcome contains the plan,
 * its program and simulated step, the baselines, and the effect of leaving out devices.
 *
 * Files of this folder:
 *   explain             describes a plan in words
 *   memory_tradeoff     step time over memory
 *   search/             the search for plans: families of plans, local search, baselines
 *   order/              when each collective of a step runs: a heuristic and an integer program
 *   placement/          which device has which layer, found by scheduling the step's task graph
 *
 * An outcome owns everything to which it points, except the request's cost sources, config and
 * strings, which must outlive the outcome.
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
    const struct yk_plan *plan;           /* NULL means: no plan that fits was found */
    struct yk_plan_evaluation evaluation; /* with program and simulation */
    double bound_s;                       /* lower bound of the step time of any plan */
    double tokens_per_s;      /* counts only tokens that have a loss; an image counts as one */
    const char *summary;      /* one sentence that describes the plan */
    const char *bottleneck;   /* a phrase that says what limits the speed */
    const char *source;       /* a phrase that names the origins of the times */
    double search_s;          /* duration of the search */
    int64_t evaluation_count; /* number of plans evaluated */
    bool cut_short;           /* the budget or the user ended the search early */
    struct yk_plan_alternative *alternatives; /* the baselines */
    int32_t alternative_count;
    struct yk_plan_leave_one_out *leave_one_out;
    int32_t leave_one_out_count;
    /* The last three members are set by yk_planner_search() if no plan fits: */
    int32_t missing_device; /* the device that lacks most memory in the plan that comes closest to
                               fitting; −1 means: no plan was evaluated */
    double missing_bytes;   /* memory that this device lacks in this plan */
    const char *remedy;     /* a phrase that says which change would make a plan fit */
};

/* Searches for the best plan. If no plan fits, the `plan` of the outcome is NULL. */
yk_status yk_planner_search(const struct yk_plan_request *request,
                            struct yk_planner_outcome **out) YK_MUST_USE;

/* Evaluates an existing plan and, if `with_baselines` is true, also the baselines. */
yk_status yk_planner_evaluate_plan(const struct yk_plan_request *request,
                                   const struct yk_plan *plan, bool with_baselines,
                                   struct yk_planner_outcome **out) YK_MUST_USE;

/* Replaces the program of the outcome with a random valid order of the same ops, and simulates the
 * new program. */
yk_status yk_planner_outcome_shuffle_program(struct yk_planner_outcome *outcome,
                                             uint64_t seed) YK_MUST_USE;

void yk_planner_outcome_destroy(struct yk_planner_outcome *outcome);

/* Converts the outcome to a plan result for reports. `trace` is the trace of the predicted step.
 * The outcome and `trace` must outlive the result. Arrays of the result are in `arena`. */
yk_status yk_planner_outcome_to_plan_result(const struct yk_planner_outcome *outcome,
                                            const struct yk_trace *trace, struct yk_arena *arena,
                                            struct yk_plan_result *out) YK_MUST_USE;

/* Model FLOPS utilisation (MFU), 0 to 1: the operations of the model per second, divided by the
 * peak of all devices of the plan together. The peak is for dense matrices, in the precision of the
 * workload. yk_model_count_mfu_flops() counts the operations of the model. */
struct yk_mfu {
    double formula; /* counts attention with the formula of PaLM */
    double exact;   /* counts only the pairs of positions for which attention is computed */
};

/* Returns the MFU of the predicted step. */
struct yk_mfu yk_planner_predicted_mfu(const struct yk_planner_outcome *outcome);

/* Returns the MFU at a measured throughput. `tokens_per_s` includes the tokens of the encoder and
 * of the decoder. */
struct yk_mfu yk_planner_mfu_at_throughput(const struct yk_planner_outcome *outcome,
                                           double tokens_per_s);

/* Returns the member that is `rank`, in the first group that contains this rank. Returns NULL if no
 * group contains it. */
const struct yk_plan_group_member *yk_planner_find_group_member_of_rank(const struct yk_plan *plan,
                                                                        int32_t rank);

/* Returns the error of a search that found no plan. The message contains the device, the memory
 * that it lacks, and the remedy. */
yk_status yk_planner_fail_no_plan_found(const struct yk_planner_outcome *outcome) YK_MUST_USE;

/* Fails if the evaluated plan does not fit. The message contains the device and the memory that it
 * lacks. */
yk_status yk_planner_check_plan_fits(const struct yk_planner_outcome *outcome) YK_MUST_USE;

/* Appends a phrase that says what limits the speed: "the link of rank 2 (gpu2): 38 % of the step is
 * exposed gathers of layers 20–31". Exposed means: not overlapped with computation. The evaluation
 * must contain its simulation. */
void yk_explain_append_bottleneck(const struct yk_search_context *context,
                                  const struct yk_plan_evaluation *evaluation, struct yk_text *out);

/* Appends one sentence that describes the plan: "data-parallel on 3 devices, shares 28/18/18; …".
 */
void yk_explain_append_plan_summary(const struct yk_search_context *context,
                                    const struct yk_plan *plan, struct yk_text *out);

/* Appends the memory of driver and libraries, and whether it was measured: "24MiB a process on a
 * CPU, assumed". */
void yk_explain_append_driver_memory(const struct yk_search_context *context,
                                     const struct yk_plan *plan, struct yk_text *out);

/* Appends the names of a range of layers: "layers 20–31", "embed", "embed to layer 3". */
void yk_explain_append_layer_names(const struct yk_model *model, int32_t first, int32_t last,
                                   struct yk_text *out);

#endif
