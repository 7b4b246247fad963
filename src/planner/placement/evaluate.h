/*
 * Evaluate: the time and memory of a step, given the device of each layer for every micro-batch.
 * Only the order of tasks is optimised: the number of micro-batches in flight, and whether forward
 * or backward has priority.
 */
#ifndef YK_PLANNER_PLACEMENT_EVALUATE_H
#define YK_PLANNER_PLACEMENT_EVALUATE_H

#include "planner/placement/step_graph.h"
#include "sched/schedule.h"

/* Whether a schedule fits into the devices' memory. */
struct yk_placement_memory_fit {
    bool fits;
    int32_t device;        /* the device that lacks most memory, if it does not fit */
    int64_t missing_bytes; /* memory that this device lacks */
};

/* Whether `a` is better than `b`: it fits and `b` does not, or both fit and it is faster, or
 * neither fits and it lacks less memory. */
static inline bool yk_placement_evaluate_is_better(const struct yk_placement_memory_fit *a,
                                                   double a_s,
                                                   const struct yk_placement_memory_fit *b,
                                                   double b_s)
{
    if (a->fits != b->fits) {
        return a->fits;
    }
    return a->fits ? a_s < b_s : a->missing_bytes < b->missing_bytes;
}

yk_status yk_placement_evaluate_memory(const struct yk_schedule *schedule,
                                       struct yk_placement_memory_fit *out) YK_MUST_USE;

/*
 * Writes the shortest schedule found that fits or, if none fits, the one that lacks least memory.
 * `devices` is (M, L); layers with shared weights must have the same device.
 */
yk_status yk_placement_evaluate_device_map(const struct yk_step_graph *step, const int32_t *devices,
                                           struct yk_schedule *schedule,
                                           struct yk_placement_memory_fit *out) YK_MUST_USE;

/*
 * The time that the busiest network port of a device is busy in one direction. A schedule does not
 * model contention on links, but no step is shorter than this. Counts activations and their
 * gradients between devices. For a layer on several devices, it also counts its gradient once from
 * every device to the one that updates it, and the new weights back.
 */
double yk_placement_evaluate_busiest_port_s(const struct yk_step_graph *step,
                                            const struct yk_schedule *schedule);

/* The step time: the makespan of the schedule or yk_placement_evaluate_busiest_port_s(), whichever
 * is longer. */
double yk_placement_evaluate_step_s(const struct yk_step_graph *step,
                                    const struct yk_schedule *schedule);

#endif
