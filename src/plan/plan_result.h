/*
 * Plan result: everything that a report shows about a plan. This is the predicted step, the time
 * and memory of every rank, alternative plans, the effect of leaving out a device, and trade-off
 * curves. The planner fills this struct. The struct owns nothing.
 */
#ifndef YK_PLAN_PLAN_RESULT_H
#define YK_PLAN_PLAN_RESULT_H

#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_trace;

/* Categories of the memory that a rank uses on its device. */
enum yk_memory_kind {
    YK_MEMORY_PARAMETERS, /* parameters that the rank stores permanently */
    YK_MEMORY_GATHERED,   /* parameters gathered from other ranks, while they are in memory */
    YK_MEMORY_GRADIENTS,
    YK_MEMORY_OPTIMIZER,
    YK_MEMORY_ACTIVATIONS,
    YK_MEMORY_BUFFERS, /* workspace, messages and batches */
    YK_MEMORY_CONTEXT, /* driver and libraries */
    YK_MEMORY_KIND_COUNT,
};

/* The memory in use from time `at_s` until the next point of the timeline. */
struct yk_memory_timeline_point {
    double at_s;
    double bytes[YK_MEMORY_KIND_COUNT];
};

static inline const char *yk_memory_kind_name(enum yk_memory_kind kind)
{
    static const char *const names[] = {"parameters",  "gathered", "gradients", "optimizer",
                                        "activations", "buffers",  "context"};
    return names[kind];
}

struct yk_plan_result_rank {
    double compute_s;
    double exposed_s; /* time of the communication that does not overlap with computation */
    double idle_s;
    double peak_bytes; /* upper bound of the memory of the rank; holds for any durations of ops */
    double peak_by_kind[YK_MEMORY_KIND_COUNT];
    const struct yk_memory_timeline_point *memory_timeline; /* the first point is at 0 s */
    int32_t moment_count; /* number of points of `memory_timeline` */
};

/* A plan that is compared with the plan of the result. */
struct yk_plan_alternative {
    const char *name;   /* "auto", "even data-parallel" … */
    const char *remark; /* what the plan is or why it does not fit; may be NULL */
    double step_s;      /* NAN means: unknown */
    bool fits;
};

/* The step time of the best plan that does not use `device`. */
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
    double chosen_x; /* x of the point that is marked; NAN means: no point is marked */
    double chosen_s;
    double joint_s; /* step time of the joint plan (planner/memory_tradeoff.h), drawn as a line; NAN
                       means: no line */
    double bound_s; /* lower bound of the step time; NAN means: unknown */
};

struct yk_plan_result {
    const struct yk_plan *plan;
    const struct yk_model *model; /* made for the whole batch of the plan */
    const struct yk_cluster *cluster;
    const struct yk_trace *trace; /* trace of the predicted step */
    double step_s;
    double error;   /* expected relative error of `step_s`: 90 % of such predictions have at most
                       this error. 0 means: unknown */
    double bound_s; /* lower bound of the step time of any plan */
    double tokens_per_s; /* an image counts as one token */
    double mfu;          /* model FLOPS utilisation (MFU), 0 to 1; planner/planner.h */
    double exact_mfu;    /* MFU that counts only the pairs of positions for which attention is
                            computed */
    const char *title;
    const char *summary;                     /* one or two sentences that describe the plan */
    const char *bottleneck;                  /* a phrase that says what limits the speed */
    const char *source;                      /* a phrase that names the origins of the times */
    const struct yk_plan_result_rank *ranks; /* (ranks) */
    const struct yk_plan_alternative *alternatives;
    int32_t alternative_count;
    const struct yk_plan_leave_one_out *leave_one_out;
    int32_t leave_one_out_count;
    const struct yk_plan_tradeoff_chart *tradeoffs;
    int32_t tradeoff_count;
};

#endif
