/*
 * Plan report: one page about a plan, for a browser: what was decided, where the time of the
 * predicted step goes on every device and lane, memory over time against the limits, what binds,
 * the runners-up, and the cluster. `yk_plan_figure_*` are its pictures, each as an SVG that stands
 * alone.
 *
 * The record points at what others own, and is filled by whoever made the plan.
 */
#ifndef YK_REPORT_PLAN_REPORT_H
#define YK_REPORT_PLAN_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"
#include "program/memory.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_plan_moment {
    double at_s;
    double bytes[YK_MEMORY_KIND_COUNT]; /* held from then on */
};

struct yk_plan_report_rank {
    double compute_s;
    double exposed_s;
    double idle_s;
    double peak_bytes; /* that no way of running exceeds */
    double peak_by_kind[YK_MEMORY_KIND_COUNT];
    const struct yk_plan_moment *moments; /* by time, the first at 0 */
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
struct yk_plan_without {
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

struct yk_plan_report {
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
    const struct yk_plan_report_rank *ranks; /* (plan's rank_count) */
    const struct yk_plan_alternative *alternatives;
    int32_t alternative_count;
    const struct yk_plan_without *without;
    int32_t without_count;
    const struct yk_plan_tradeoff *tradeoffs;
    int32_t tradeoff_count;
};

yk_status yk_plan_report_page(const struct yk_plan_report *report, struct yk_text *out) YK_MUST_USE;

/* Ops on every lane of every rank over time. */
yk_status yk_plan_figure_lanes(const struct yk_plan_report *report,
                               struct yk_text *out) YK_MUST_USE;

/* A rank's memory over time, stacked by kind, with its limit. */
yk_status yk_plan_figure_memory(const struct yk_plan_report *report, int32_t rank,
                                struct yk_text *out) YK_MUST_USE;

/* Compute, exposed and idle of every rank as bars. */
yk_status yk_plan_figure_bars(const struct yk_plan_report *report, struct yk_text *out) YK_MUST_USE;

/* Devices by node, with the speeds of the links between them. */
yk_status yk_plan_figure_cluster(const struct yk_plan_report *report,
                                 struct yk_text *out) YK_MUST_USE;

yk_status yk_plan_figure_tradeoff(const struct yk_plan_tradeoff *tradeoff,
                                  struct yk_text *out) YK_MUST_USE;

#endif
