/*
 * Evaluate: computes the time and the memory of a step. The caller gives the device of each layer
 * for every micro-batch. Only the order of tasks is optimised: how many micro-batches are in
 * flight, and whether forward or backward has priority.
 */
#ifndef YK_PLANNER_PLACEMENT_EVALUATE_H
#define YK_PLANNER_PLACEMENT_EVALUATE_H

#include "planner/placement/step_graph.h"
#include "sched/schedule.h"

/* Whether a schedule fits into the devices' memory. */
struct yk_placement_memory_fit {
    bool fits;
    int32_t device;        /* the device that lacks most memory; valid if `fits` is false */
    int64_t missing_bytes; /* memory that `device` lacks */
};

/* Returns true if `a` is better than `b`: only `a` fits; or both fit and `a` is faster; or neither
 * fits and `a` lacks less memory. `a_s` and `b_s` are the step times. */
static inline bool yk_placement_fits_better_or_is_faster(const struct yk_placement_memory_fit *a,
                                                         double a_s,
                                                         const struct yk_placement_memory_fit *b,
                                                         double b_s)
{
    if (a->fits != b->fits) {
        return a->fits;
    }
    return a->fits ? a_s < b_s : a->missing_bytes < b->missing_bytes;
}

yk_status yk_placement_evaluate_memory_fit(const struct yk_schedule *schedule,
                                           struct yk_placement_memory_fit *out) YK_MUST_USE;

/*
 * Finds a schedule for a device map. Of the schedules that it tries, takes the shortest that fits
 * or, if none fits, the one that lacks least memory. `devices` has one row for each micro-batch,
 * with the device of each layer. Layers with shared weights must have the same device.
 */
yk_status yk_placement_evaluate_device_map(const struct yk_step_graph *step, const int32_t *devices,
                                           struct yk_schedule *schedule,
                                           struct yk_placement_memory_fit *out) YK_MUST_USE;

/*
 * Returns the longest time for which the network port of a device sends, or receives, in a step. No
 * step can be shorter than this time. A schedule can be shorter, because it assumes that messages
 * do not delay each other. Counts activations and their gradients between devices. If a layer is on
 * several devices, one of them updates it. Every device that does not update it then sends its
 * gradient to the device that does, and receives the new weights; these messages are also counted.
 */
double yk_placement_evaluate_busiest_port_s(const struct yk_step_graph *step,
                                            const struct yk_schedule *schedule);

/* Returns the step time: the makespan of the schedule or yk_placement_evaluate_busiest_port_s(),
 * whichever is longer. */
double yk_placement_evaluate_step_s(const struct yk_step_graph *step,
                                    const struct yk_schedule *schedule);

#endif
