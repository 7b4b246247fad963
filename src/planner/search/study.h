/*
 * Study: what a search for a plan works on: the model, the devices with their limits, times, what
 * is to be decided, and the budget. It owns its sizes and prices. One thread at a time.
 */
#ifndef YK_PLANNER_SEARCH_STUDY_H
#define YK_PLANNER_SEARCH_STUDY_H

#include "base/deadline.h"
#include "cost/cost.h"
#include "cost/layer_costs.h"
#include "model/model.h"
#include "plan/plan.h"
#include "sched/scheduler.h"

struct yk_plan_request {
    const struct yk_cost_book *book;
    const struct yk_model_config *config;
    struct yk_workload workload; /* of the whole batch */
    const char *model_source;    /* as in the plan */
    const char *cluster_source;
    const char *profile_source;
    double memory_bytes;   /* at most this much of every device; 0: all of it */
    int32_t micro_batches; /* 0: left open */
    bool clip;
    uint32_t decisions;        /* of enum yk_decision */
    enum yk_strategy strategy; /* for every layer; YK_STRATEGY_COUNT: left open */
    bool random_strategies;    /* drawn for every layer from the search's seed */
    double slowdown;           /* of computation during communication; 0: YK_SIM_SLOWDOWN */
    const bool *left_out;      /* (devices) or NULL */
    bool all_devices;          /* only plans that use all others */
    struct yk_scheduler_options search;
};

/* The request that a plan says it answers, as far as the plan says it: workload, clipping and
 * options. `left_out` is the plan's. */
void yk_study_request_restore(const struct yk_plan *plan, struct yk_plan_request *request);

struct yk_study {
    const struct yk_plan_request *request;
    const struct yk_cluster *cluster;
    const struct yk_device_facts *facts; /* (devices) of the cluster, or NULL */
    const struct yk_model *model;        /* for the whole batch */
    struct yk_model_sizes *sizes;
    struct yk_layer_costs *costs;
    double *limit_bytes; /* (devices) */
    bool *recomputes;    /* (L) layers that save less when they are recomputed: the blocks */
    double started_s;
    double part;                 /* of the budget, that the phase under way may take */
    double last_part;            /* and that it may take as long as no plan fits */
    struct yk_deadline deadline; /* the end of that in time */
    int64_t trials;              /* plans looked at so far */
    int64_t refused; /* of these, candidates that yk_plan_check() refuses: bugs of who made them */
};

yk_status yk_study_create(const struct yk_plan_request *request, struct yk_study **out) YK_MUST_USE;
void yk_study_destroy(struct yk_study *study);

/* Whether the request keeps the device out of every plan. */
static inline bool yk_study_leaves_out(const struct yk_study *study, int32_t device)
{
    return study->request->left_out && study->request->left_out[device];
}

static inline bool yk_study_decides(const struct yk_study *study, enum yk_decision decision)
{
    return (study->request->decisions & decision) != 0;
}

/* Whether each layer's strategy is to be chosen. */
static inline bool yk_study_chooses_strategies(const struct yk_study *study)
{
    return study->request->strategy == YK_STRATEGY_COUNT && !study->request->random_strategies &&
           yk_study_decides(study, YK_DECIDE_STRATEGIES);
}

/* The one strategy of all layers that the search is left with, or YK_STRATEGY_COUNT. */
static inline enum yk_strategy yk_study_fixed_strategy(const struct yk_study *study)
{
    return study->request->strategy == YK_STRATEGY_COUNT &&
                   !yk_study_decides(study, YK_DECIDE_STRATEGIES)
               ? YK_FULLY_SHARDED
               : study->request->strategy;
}

/* Of one kind and with equal limits. */
static inline bool yk_study_devices_are_alike(const struct yk_study *study, int32_t a, int32_t b)
{
    return yk_layer_costs_device_kind(study->costs, a) ==
               yk_layer_costs_device_kind(study->costs, b) &&
           study->limit_bytes[a] == study->limit_bytes[b];
}

/* Begins a phase of the search that ends when `part` of the budget is spent or, as long as no plan
 * fits, `last_part`. A study begins with a phase that may take all of it. */
void yk_study_begin_phase(struct yk_study *study, double part, double last_part);

/* The part of the budget that is spent: of its time or, if the search is counted in moves, of as
 * many plans looked at. */
double yk_study_spent_part(const struct yk_study *study);

/* False once the user stops the search or the phase has spent its part of the budget. */
bool yk_study_has_budget(const struct yk_study *study);

/* True once the budget is spent even for a search without a plan so far. One that is counted looks
 * at more plans than were asked for until one fits, up to a number that follows from theirs. */
bool yk_study_is_exhausted(const struct yk_study *study);

/* Reports progress: what is being tried, and the part of the budget that is spent. */
void yk_study_report(const struct yk_study *study, const char *what);

/* A plan for the study's workload with one rank for each of `devices`, in their order, and
 * everything else at its plainest. */
yk_status yk_study_create_plan(const struct yk_study *study, const int32_t *devices, int32_t count,
                               int32_t groups, struct yk_arena *arena,
                               struct yk_plan **out) YK_MUST_USE;

/* Forward and backward of layers `first` to `last` for `samples` on a device, with recomputation
 * where `recompute` (L) says so. */
yk_status yk_study_layers_s(const struct yk_study *study, int32_t device, int32_t first,
                            int32_t last, int64_t samples, const bool *recompute,
                            double *out_s) YK_MUST_USE;

#endif
