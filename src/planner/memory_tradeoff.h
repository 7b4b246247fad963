/*
 * Memory trade-off: free memory can be used to keep parameters from forward to backward, or to
 * gather parameters early. In the joint plan, strategies and transfer order are optimised together,
 * and no memory is reserved. Two curves show the step time:
 * - over the split of free memory: a fraction is reserved for scheduling (early gathers, gradients
 *   in flight), the rest for strategies (parameters kept from forward to backward). The curve is
 *   compared with the joint plan. If a plan of the curve is faster, it becomes the joint plan.
 * - over the memory of the devices. For each memory size, the joint plan is compared with a plan
 *   that has fully-sharded layers and gathers one layer ahead.
 *
 * Free memory is what is left in the fullest slot of the fullest rank, after the state, the
 * activations, and `min_bytes`, which is the minimum that fully-sharded layers need.
 */
#ifndef YK_PLANNER_MEMORY_TRADEOFF_H
#define YK_PLANNER_MEMORY_TRADEOFF_H

#include "plan/plan_result.h"
#include "planner/search/search_context.h"

struct yk_memory_tradeoff_options {
    int32_t points; /* number of points of each curve, at least 2 */
    double milp_s;  /* time limit of the integer program for the joint plan; 0 means: skip it */
};

/* Arrays have `points` elements. If the budget ends early, only the first elements are set. */
struct yk_memory_tradeoff {
    struct yk_arena *arena; /* owns everything below */
    int32_t points;         /* requested number of points of each curve */
    int32_t split_points;   /* number of points set in the first curve, at least 1 */
    int32_t memory_points;  /* number of points set in the second curve */
    double min_bytes; /* the largest parameters of a layer plus the largest gradient of a layer */
    double free_bytes;
    double *scheduling_fraction; /* (points) fraction reserved for scheduling, 0 to 1 */
    double *split_s;             /* (points) step time; NAN means: no plan fits */
    int32_t *kept; /* (points) number of layers whose parameters are kept until backward */
    const struct yk_plan **split; /* (points) plan of each point; NULL means: no plan fits */
    double joint_s;               /* step time of the joint plan; NAN means: none was found */
    int32_t joint_kept;
    const struct yk_plan *joint; /* NULL means: none was found */
    double *memory_bytes;        /* (points) memory limit of every device */
    double *memory_gib;          /* (points) `memory_bytes` in GiB */
    double *joint_of_memory_s;   /* (points) step time of the joint plan; NAN means: no plan fits */
    double *ahead_of_memory_s; /* (points) step time with fully-sharded layers and gathers one layer
                                  ahead; NAN means: no plan fits */
    double bound_s;
    struct yk_error_band band; /* error band of all layer times that were used */
    const char *titles[2];     /* titles of the charts; they say how many points are missing */
};

/* Computes the curves for one micro-batch on all devices. There must be at least two devices. Fails
 * with YK_ERROR_NO_FIT if even fully-sharded layers do not fit, and with YK_ERROR_STOPPED if the
 * budget is too small for one point. */
yk_status yk_memory_tradeoff_compute(const struct yk_plan_request *request,
                                     const struct yk_memory_tradeoff_options *options,
                                     struct yk_memory_tradeoff **out) YK_MUST_USE;
void yk_memory_tradeoff_destroy(struct yk_memory_tradeoff *tradeoff);

/* Returns true if the budget ended before all points were computed. */
bool yk_memory_tradeoff_is_cut_short(const struct yk_memory_tradeoff *tradeoff);

/* Fills the charts for a report. The charts point into the trade-off and into `curves`, which must
 * have 3 elements. Returns the number of charts that have points, 1 or 2. */
int32_t yk_memory_tradeoff_fill_charts(const struct yk_memory_tradeoff *tradeoff,
                                       struct yk_plan_chart_curve *curves,
                                       struct yk_plan_tradeoff_chart charts[2]);

#endif
