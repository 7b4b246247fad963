/*
 * Plan result: a plan with its predicted step, time and memory of every rank, alternative plans,
 * the effect of leaving out a device, and trade-off curves. The planner fills it, reports render
 * it. It owns nothing.
 */
#ifndef YK_PLAN_PLAN_RESULT_H
#define YK_PLAN_PLAN_RESULT_H

#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/memory_kind.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_trace;

struct yk_plan_result_rank {
    double compute_s;
    double exposed_s; /* communication that does not overlap with computation */
    double idle_s;
    double peak_bytes; /* upper bound for any timing of the step */
    double peak_by_kind[YK_MEMORY_KIND_COUNT];
    const struct yk_memory_timeline_point *memory_timeline; /* memory timeline, beginning at 0 s */
    int32_t moment_count;
};

/* Another plan for comparison. */
struct yk_plan_alternative {
    const char *name;   /* "auto", "even data-parallel" … */
    const char *remark; /* a phrase on what it is or why it does not fit, or NULL */
    double step_s;      /* NAN means: unknown */
    bool fits;
};

/* The best plan that does not use `device`. */
struct yk_plan_leave_one_out {
    int32_t device;
    double step_s; /* NAN means: no plan fits */
};

struct yk_plan_chart_curve {
    const char *name;
    const double *x;
    const double *step_s; /* NAN means: no plan fits */
    int32_t count;
};

/* A chart of step time over memory. */
struct yk_plan_tradeoff_chart {
    const char *title;
    const char *definition; /* one sentence that explains x */
    const char *x_label;
    const struct yk_plan_chart_curve *curves;
    int32_t curve_count;
    double chosen_x; /* the marked point; NAN means: none */
    double chosen_s;
    double joint_s; /* the joint optimum, drawn as a line; NAN means: none */
    double bound_s; /* lower bound; NAN means: none */
};

struct yk_plan_result {
    const struct yk_plan *plan;
    const struct yk_model *model;
    const struct yk_cluster *cluster;
    const struct yk_trace *trace; /* of the predicted step */
    double step_s;
    double error;   /* relative error that 90 % of such steps stay within; 0 means: unknown */
    double bound_s; /* lower bound of the step time of any plan */
    double tokens_per_s;
    double mfu; /* model FLOPS utilisation, 0 to 1 */
    double exact_mfu;
    const char *title;
    const char *summary;                     /* the plan in a sentence or two */
    const char *bottleneck;                  /* a phrase */
    const char *source;                      /* a phrase: the origins of the times */
    const struct yk_plan_result_rank *ranks; /* (ranks) */
    const struct yk_plan_alternative *alternatives;
    int32_t alternative_count;
    const struct yk_plan_leave_one_out *leave_one_out;
    int32_t leave_one_out_count;
    const struct yk_plan_tradeoff_chart *tradeoffs;
    int32_t tradeoff_count;
};

#endif
