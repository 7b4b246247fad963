/*
 * Search context: the inputs of a search for a plan. These are the model, the devices with their
 * memory limits, the layer costs, the decisions to make, and the budget. A context owns its model
 * cache and its layer costs. Not thread-safe.
 */
#ifndef YK_PLANNER_SEARCH_SEARCH_CONTEXT_H
#define YK_PLANNER_SEARCH_SEARCH_CONTEXT_H

#include "base/deadline.h"
#include "cost/cost.h"
#include "cost/layer_costs.h"
#include "model/model.h"
#include "plan/plan.h"
#include "sched/scheduler.h"

struct yk_plan_request {
    const struct yk_cost_sources *cost_sources;
    const struct yk_model_config *config;
    struct yk_workload workload; /* workload of the whole batch */
    const char *model_source;    /* this and the next two pointers are copied to the plan */
    const char *cluster_source;
    const char *profile_source;
    double memory_bytes;   /* memory limit of every device; 0 means: all of its memory */
    int32_t micro_batches; /* 0 means: decided by the search */
    bool clip;             /* gradients are clipped by their global norm */
    uint32_t decisions;    /* bits of enum yk_plan_decision that the search decides */
    enum yk_sharding_strategy strategy; /* strategy of every layer; YK_SHARDING_STRATEGY_COUNT
                                           means: decided by the search */
    bool random_strategies; /* every layer gets a random strategy; the seed is search.seed */
    double slowdown; /* slowdown factor of computation during communication; 0 means: as measured,
                        or YK_SIM_DEFAULT_SLOWDOWN without a measurement */
    const bool *excluded_devices; /* (devices) devices that must not be used; may be NULL */
    bool all_devices;             /* only plans that use all devices that are not excluded */
    struct yk_scheduler_options search;
};

/* Copies workload, clipping and restrictions from a plan to a request. `excluded_devices` of the
 * request then points into the plan. */
void yk_search_context_fill_request_from_plan(const struct yk_plan *plan,
                                              struct yk_plan_request *request);

struct yk_search_context {
    struct yk_arena *arena; /* owns the arrays */
    const struct yk_plan_request *request;
    const struct yk_cluster *cluster;
    const struct yk_device_measurements *measurements; /* (devices) may be NULL */
    const struct yk_model *model;                      /* the model for the whole batch */
    struct yk_model_cache *cache;
    struct yk_layer_costs *costs;
    double *limit_bytes;    /* (devices) memory limit */
    bool *recomputes;       /* (L) whether recomputation reduces the memory of the layer's saved
                               activations; true for transformer blocks */
    double started_s;       /* start of the search, on the clock of `deadline` */
    double budget_fraction; /* if a plan fits: the current phase ends when this fraction of the
                               search budget is spent */
    double last_budget_fraction; /* while no plan fits: the current phase ends at this fraction */
    struct yk_deadline deadline; /* passes when `last_budget_fraction` of the time budget is
                                    spent; never passes if the time is not limited */
    int64_t trials;              /* number of plans evaluated so far */
    int64_t refused; /* number of plans that failed yk_plan_check(); each of them is a bug */
};

yk_status yk_search_context_create(const struct yk_plan_request *request,
                                   struct yk_search_context **out) YK_MUST_USE;
void yk_search_context_destroy(struct yk_search_context *context);

static inline bool yk_search_context_excludes_device(const struct yk_search_context *context,
                                                     int32_t device)
{
    return context->request->excluded_devices && context->request->excluded_devices[device];
}

static inline bool yk_search_context_decides(const struct yk_search_context *context,
                                             enum yk_plan_decision decision)
{
    return (context->request->decisions & decision) != 0;
}

/* Returns true if the search decides the strategy of each layer. */
static inline bool yk_search_context_chooses_strategies(const struct yk_search_context *context)
{
    return context->request->strategy == YK_SHARDING_STRATEGY_COUNT &&
           !context->request->random_strategies &&
           yk_search_context_decides(context, YK_DECIDE_STRATEGIES);
}

/* Returns the strategy that all layers must have, or YK_SHARDING_STRATEGY_COUNT if layers may have
 * different strategies. */
static inline enum yk_sharding_strategy
yk_search_context_fixed_strategy(const struct yk_search_context *context)
{
    return context->request->strategy == YK_SHARDING_STRATEGY_COUNT &&
                   !yk_search_context_decides(context, YK_DECIDE_STRATEGIES)
               ? YK_SHARDING_FULLY_SHARDED
               : context->request->strategy;
}

/* Returns true if two devices have the same times and the same memory limit. */
static inline bool yk_search_context_devices_are_equal(const struct yk_search_context *context,
                                                       int32_t a, int32_t b)
{
    return yk_layer_costs_device_speed_class(context->costs, a) ==
               yk_layer_costs_device_speed_class(context->costs, b) &&
           context->limit_bytes[a] == context->limit_bytes[b];
}

/* Returns a rank on the device, with the memory limit of the device. */
static inline struct yk_plan_rank
yk_search_context_make_plan_rank(const struct yk_search_context *context, int32_t device)
{
    return (struct yk_plan_rank){.device = device, .limit_bytes = context->limit_bytes[device]};
}

/* Begins a phase of the search. The phase ends when `fraction` of the budget is spent or, while no
 * plan fits, when `last_fraction` is spent. Before the first call, the search may use the whole
 * budget. */
void yk_search_context_begin_phase(struct yk_search_context *context, double fraction,
                                   double last_fraction);

/* Returns the fraction of the budget that is spent. If the request limits the number of moves, this
 * is the number of evaluated plans divided by that limit. Otherwise it is the elapsed time divided
 * by the time budget. */
double yk_search_context_spent_budget_fraction(const struct yk_search_context *context);

/* Returns false if the user has stopped the search or if the budget of the phase is spent. */
bool yk_search_context_has_budget(const struct yk_search_context *context);

/* A search that has not yet found a plan that fits has a larger budget. Returns true if this larger
 * budget is spent. If the request limits the number of moves, the larger budget is a multiple of
 * this limit. */
bool yk_search_context_no_fit_budget_is_spent(const struct yk_search_context *context);

/* Reports progress: the current activity `what` and the fraction of the budget that is spent. */
void yk_search_context_report_progress(const struct yk_search_context *context, const char *what);

/* Creates a plan with default values and one rank for each of `devices`, in that order. */
yk_status yk_search_context_create_default_plan(const struct yk_search_context *context,
                                                const int32_t *devices, int32_t count,
                                                int32_t groups, struct yk_arena *arena,
                                                struct yk_plan **out) YK_MUST_USE;

/* Computes the seconds of forward and backward of one layer for `samples` samples on a device. If
 * `recompute` is true, includes the recomputation. */
yk_status yk_search_context_layer_compute_s(const struct yk_search_context *context, int32_t device,
                                            int32_t layer, int64_t samples, bool recompute,
                                            double *out_s) YK_MUST_USE;

/* Computes the seconds of forward and backward of all layers together. recompute[l] says whether
 * layer l is recomputed. If `recompute` is NULL, no layer is recomputed. */
yk_status yk_search_context_all_layers_compute_s(const struct yk_search_context *context,
                                                 int32_t device, int64_t samples,
                                                 const bool *recompute, double *out_s) YK_MUST_USE;

#endif
