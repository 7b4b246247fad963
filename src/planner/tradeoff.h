/*
 * Trade-off: keeping parameters and gathering them early compete for the same memory. Two curves:
 * - step time against how the free memory is divided: a part is only for scheduling (parameters
 *   gathered before their use, gradients not yet sent), the rest only for strategies (parameters
 *   kept from forward to backward);
 * - step time against the devices' memory.
 * Both are compared with the plan in which strategies and order are found together and no memory is
 * reserved.
 *
 * Free memory is what is left on the fullest rank, in the fullest slot, after state, activations
 * and the minimum that fully-sharded layers need: one layer's parameters and its gradient.
 */
#ifndef YK_PLANNER_TRADEOFF_H
#define YK_PLANNER_TRADEOFF_H

#include "plan/result.h"
#include "planner/search/study.h"

struct yk_tradeoff_options {
    int32_t points; /* of each curve, at least 2 */
    double milp_s;  /* how long the integer program may look for the joint plan; 0: not at all */
};

/* Arrays have room for all points; of each curve the first ones are there, all of them unless the
 * budget ended before. */
struct yk_tradeoff {
    struct yk_arena *arena; /* owns everything below */
    int32_t points;         /* of each curve, as asked for */
    int32_t split_points;   /* that there are: at least one */
    int32_t memory_points;  /* that there are: maybe none */
    double min_bytes;       /* what one layer needs to compute */
    double free_bytes;
    double *part;                 /* (points) reserved for scheduling, 0 to 1 */
    double *split_s;              /* (points) NAN: nothing fits */
    int32_t *kept;                /* (points) layers that strategies keep */
    const struct yk_plan **split; /* (points) NULL: nothing fits */
    double joint_s;               /* of the joint plan: never more than any point of the split */
    int32_t joint_kept;
    const struct yk_plan *joint; /* NULL, and the time NAN: the budget ended before there was one */
    double *memory_bytes;        /* (points) of every device at most */
    double *memory_gib;          /* (points) the same for people */
    double *joint_of_memory_s;   /* (points) NAN: nothing fits */
    double *ahead_of_memory_s;   /* (points) fully-sharded, gathers one ahead */
    double bound_s;
    struct yk_error_band band; /* of the layers' times that all of it is made of */
    const char *titles[2]; /* of the charts, with the number of points where not all are there */
};

/* For one micro-batch on all devices. YK_ERROR_NO_FIT when fully-sharded layers do not fit,
 * YK_ERROR_STOPPED when the request's budget is not enough for a single point. */
yk_status yk_tradeoff_find(const struct yk_plan_request *request,
                           const struct yk_tradeoff_options *options,
                           struct yk_tradeoff **out) YK_MUST_USE;
void yk_tradeoff_destroy(struct yk_tradeoff *tradeoff);

/* Whether the budget ended before all points were there. */
bool yk_tradeoff_is_cut_short(const struct yk_tradeoff *tradeoff);

/* The two charts, for a report; they point into the trade-off. `curves` has room for three. Returns
 * how many charts have points: the second may have none. */
int32_t yk_tradeoff_charts(const struct yk_tradeoff *tradeoff, struct yk_plan_curve *curves,
                           struct yk_plan_tradeoff charts[2]);

#endif
