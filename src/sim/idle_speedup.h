/*
 * Idle speed-up: a device computes faster while other devices are idle. Some devices slow each
 * other down when they compute at the same time, because they share power, caches or memory.
 * Partitions of one GPU are an example.
 *
 * Op times are measured while all devices compute. While all other devices are idle, the op times
 * of a device are multiplied by s ≤ 1 (others_idle_scale of struct yk_device_measurements). Between
 * these two cases the factor is linear: s + (1 − s) · u, where u is the busy fraction of the other
 * devices, weighted by their size. The busy fraction of another device is the larger of two values:
 *   - its busy fraction in the whole step, because clocks depend on the power used in many steps;
 *   - its busy fraction while this device computes, because both use the caches and the memory at
 *     the same time.
 */
#ifndef YK_SIM_IDLE_SPEEDUP_H
#define YK_SIM_IDLE_SPEEDUP_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "cost/device_measurements.h"
#include "program/program.h"
#include "sim/iterations.h"
#include "sim/op_times.h"
#include "sim/rank_classes.h"

#include <stdbool.h>

enum {
    /* New factors change the busy fractions, and these change the factors again. So the simulation
     * is repeated with new factors, at most this number of times. */
    YK_SIM_IDLE_SPEEDUP_MAX_PASSES = 3,
};

/* Returns the factor for the op times of `device`. `busy` is the sum of (size · busy fraction) over
 * the other devices. Returns 1 if `measurements` contain no value for the device. */
double yk_sim_idle_speedup_time_factor(const struct yk_cluster *cluster,
                                       const struct yk_device_measurements *measurements,
                                       int32_t device, double busy);

/* Computes new factors from the simulated `iterations` and applies them to the times of compute
 * ops, instead of the previous factors. Sets `*changed` to true if a factor differs noticeably from
 * its previous value. The new times live in `arena`. */
yk_status yk_sim_idle_speedup_scale_op_times(const struct yk_program *program,
                                             const struct yk_rank_classes *classes,
                                             const struct yk_sim_iterations *iterations,
                                             struct yk_arena *arena, struct yk_sim_op_times *times,
                                             bool *changed) YK_MUST_USE;

#endif
