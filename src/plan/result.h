/*
 * Result: a plan with all that is known about it: its predicted step, where time and memory go on
 * every rank, the runners-up, what leaving a device out would change, and trade-off curves.
 *
 * The planner fills it and reports draw it. It points at what others own.
 */
#ifndef YK_PLAN_RESULT_H
#define YK_PLAN_RESULT_H

#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/memory_kind.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_trace;

struct yk_plan_result_rank {
    double compute_s;
    double exposed_s;
    double idle_s;
    double peak_bytes; /* that no way of running exceeds */
    double peak_by_kind[YK_MEMORY_KIND_COUNT];
    const struct yk_memory_point *moments; /* by time, the first at 0 */
    int32_t moment_count;
};

/* Another plan that was looked at. */
struct yk_plan_alternative {
    const char *name;   /* "auto", "even data-parallel" … */
    const char *remark; /* one clause on what it is or why it does not fit, or NULL */
    double step_s;      /* NAN when there is no such step */
    bool fits;
};

/* A device left out of the plan, and what the best plan without it takes. */
struct yk_plan_leave_one_out {
    int32_t device;
    double step_s; /* NAN: nothing fits without it */
};

/* One line of a chart over the same x. */
struct yk_plan_curve {
    const char *name;
    const double *x;
    const double *step_s; /* NAN: nothing fits there */
    int32_t count;
};

/* Step time against the part of memory reserved for scheduling, or against a device's memory. */
struct yk_plan_tradeoff {
    const char *title;
    const char *definition; /* what x means, in a sentence: stated on the chart */
    const char *x_label;
    const struct yk_plan_curve *curves;
    int32_t curve_count;
    double chosen_x; /* NAN: no point to mark */
    double chosen_s;
    double joint_s; /* the joint optimum, drawn as a line; NAN: none */
    double bound_s; /* NAN: none */
};

struct yk_plan_result {
    const struct yk_plan *plan;
    const struct yk_model *model;
    const struct yk_cluster *cluster;
    const struct yk_trace *trace; /* the predicted step; ranks as in the plan */
    double step_s;
    double error; /* nine tenths of such steps are no further off than this part; 0: not known */
    double bound_s;
    double tokens_per_s;
    double mfu; /* model FLOPS utilisation, 0 to 1 */
    double exact_mfu;
    const char *title;
    const char *summary;                     /* the plan in a sentence or two */
    const char *bottleneck;                  /* in words */
    const char *source;                      /* where the times come from, in words */
    const struct yk_plan_result_rank *ranks; /* (plan's rank_count) */
    const struct yk_plan_alternative *alternatives;
    int32_t alternative_count;
    const struct yk_plan_leave_one_out *leave_one_out;
    int32_t leave_one_out_count;
    const struct yk_plan_tradeoff *tradeoffs;
    int32_t tradeoff_count;
};

#endif
