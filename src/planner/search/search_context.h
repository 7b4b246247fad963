/*
 * Search context: the inputs of a search for a plan: the model, the devices with their memory
 * limits, layer costs, the decisions to make, and the budget. It owns its model sizes and layer
 * costs. Not thread-safe.
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
    struct yk_workload workload; /* of the whole batch */
    const char *model_source;    /* copied to the plan, as are the next two */
    const char *cluster_source;
    const char *profile_source;
    double memory_bytes;   /* memory limit of every device; 0 means: all of its memory */
    int32_t micro_batches; /* 0 means: decided by the search */
    bool clip;             /* gradients are clipped by their global norm */
    uint32_t decisions;    /* bits of enum yk_plan_decision that the search decides */
    enum yk_sharding_strategy
        strategy; /* of every layer; YK_SHARDING_STRATEGY_COUNT means: decided by the search */
    bool random_strategies; /* every layer has a random strategy, from the search's seed */
    double slowdown; /* of computation during communication; 0 means: YK_SIM_DEFAULT_SLOWDOWN */
    const bool *excluded_devices; /* (devices) devices that must not be used; may be NULL */
    bool all_devices;             /* only plans that use all other devices */
    struct yk_scheduler_options search;
};

/* Sets workload, clipping and restrictions of a request from a plan. `left_out` then points into
 * the plan. */
void yk_search_context_restore_request(const struct yk_plan *plan, struct yk_plan_request *request);

struct yk_search_context {
    struct yk_arena *arena; /* owns the arrays */
    const struct yk_plan_request *request;
    const struct yk_cluster *cluster;
    const struct yk_device_measurements *measurements; /* (devices) may be NULL */
    const struct yk_model *model;                      /* for the whole batch */
    struct yk_model_cache *cache;
    struct yk_layer_costs *costs;
    double *limit_bytes;         /* (devices) memory limit */
    bool *recomputes;            /* (L) layers that save less memory if recomputed: the blocks */
    double started_s;            /* start of the search, by the clock of `deadline` */
    double budget_fraction;      /* of the search budget, at which the current phase ends */
    double last_budget_fraction; /* the same while no plan fits */
    struct yk_deadline deadline; /* the time of `last_budget_fraction` */
    int64_t trials;              /* plans evaluated so far */
    int64_t refused;             /* plans that yk_plan_check() refused, which is a bug */
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

/* Whether the search decides the strategy of each layer. */
static inline bool yk_search_context_chooses_strategies(const struct yk_search_context *context)
{
    return context->request->strategy == YK_SHARDING_STRATEGY_COUNT &&
           !context->request->random_strategies &&
           yk_search_context_decides(context, YK_DECIDE_STRATEGIES);
}

/* The strategy that all layers must have, or YK_SHARDING_STRATEGY_COUNT if there is none. */
static inline enum yk_sharding_strategy
yk_search_context_fixed_strategy(const struct yk_search_context *context)
{
    return context->request->strategy == YK_SHARDING_STRATEGY_COUNT &&
                   !yk_search_context_decides(context, YK_DECIDE_STRATEGIES)
               ? YK_SHARDING_FULLY_SHARDED
               : context->request->strategy;
}

/* Whether two devices have the same times and memory limit. */
static inline bool yk_search_context_devices_are_equal(const struct yk_search_context *context,
                                                       int32_t a, int32_t b)
{
    return yk_layer_costs_device_kind(context->costs, a) ==
               yk_layer_costs_device_kind(context->costs, b) &&
           context->limit_bytes[a] == context->limit_bytes[b];
}

/* A rank on the device, with its memory limit. */
static inline struct yk_plan_rank yk_search_context_rank(const struct yk_search_context *context,
                                                         int32_t device)
{
    return (struct yk_plan_rank){.device = device, .limit_bytes = context->limit_bytes[device]};
}

/* Begins a phase that ends when `fraction` of the budget is spent or, while no plan fits,
 * `last_fraction`. The first phase may use the whole budget. */
void yk_search_context_begin_phase(struct yk_search_context *context, double fraction,
                                   double last_fraction);

/* The fraction of the budget that is spent. If the request limits moves, it is the number of plans
 * evaluated over that limit, otherwise time. */
double yk_search_context_spent_fraction(const struct yk_search_context *context);

/* False if the user has stopped the search or the phase has spent its budget. */
bool yk_search_context_has_budget(const struct yk_search_context *context);

/* Whether the larger budget of a search without a plan is spent. If the request limits moves, that
 * is a multiple of the limit. */
bool yk_search_context_is_exhausted(const struct yk_search_context *context);

/* Reports progress: the current activity, and the fraction of the budget that is spent. */
void yk_search_context_report_progress(const struct yk_search_context *context, const char *what);

/* Creates a plan with one rank for each of `devices`, in that order, and default values. */
yk_status yk_search_context_create_plan(const struct yk_search_context *context,
                                        const int32_t *devices, int32_t count, int32_t groups,
                                        struct yk_arena *arena, struct yk_plan **out) YK_MUST_USE;

/* Seconds of forward and backward of one layer for `samples` on a device. */
yk_status yk_search_context_layer_seconds(const struct yk_search_context *context, int32_t device,
                                          int32_t layer, int64_t samples, bool recompute,
                                          double *out_s) YK_MUST_USE;

/* The same for all layers; `recompute` (L) may be NULL. */
yk_status yk_search_context_layers_seconds(const struct yk_search_context *context, int32_t device,
                                           int64_t samples, const bool *recompute,
                                           double *out_s) YK_MUST_USE;

#endif
