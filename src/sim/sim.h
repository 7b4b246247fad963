/*
 * Simulator: predicts the step time of a program by discrete-event simulation.
 *
 * Files of this folder:
 *   sim               runs a simulation and computes the error band
 *   sim_full_result   the complete result of a simulation
 *   iterations        the event loop
 *   rank_classes      ranks that do the same, simulated as one
 *   op_times          the isolated time of each op and message
 *   collective_rings  the isolated time of collectives
 *   node_ports        bandwidth that messages share
 *   idle_speedup      devices that are faster while others are idle
 *   memory            the memory of a rank over time
 *   trace             converts the result to a trace
 *   op_classes        counts ops of the same kind, size and time
 *
 * Messages that use the same node port share its bandwidth. While a rank communicates, its compute
 * ops are slowed down. Compute ops also slow down messages if the profile contains a measurement of
 * this slowdown. The program is simulated again and again, until two successive iterations have
 * equal durations. The second of these two is reported; time 0 is its start. The reported times of
 * an op are those of this iteration, even if the op belongs to the previous or the next training
 * step. The simulation is deterministic.
 */
#ifndef YK_SIM_SIM_H
#define YK_SIM_SIM_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/layer_costs.h"
#include "program/memory/memory.h"
#include "program/program.h"
#include "trace/trace.h"

struct yk_sim_options {
    /* Factor for compute times during communication, at least 1. 0 means: use the measured factor,
     * or YK_SIM_DEFAULT_SLOWDOWN if there is no measurement. */
    double slowdown;
};

/* The default slowdown. Kernels are 10 to 30 % slower during collectives. */
#define YK_SIM_DEFAULT_SLOWDOWN 1.1

struct yk_sim_rank_result {
    double compute_s; /* time in which the compute lane is busy */
    /* time in which the compute lane waits while a message of this rank is in flight */
    double exposed_s;
    double idle_s;              /* time in which the compute lane waits for other reasons */
    double compute_time_factor; /* factor of the compute times (idle_speedup.h); at most 1 */
    double peak_bytes;
    double peak_by_kind[YK_MEMORY_KIND_COUNT];
    /* (op_count of the rank) times of each op. A message starts when all ranks of the message are
     * ready. */
    double *start_s;
    double *end_s;
    double *exposed_of_op_s; /* for comm ops: how long the compute lane waited while the op ran */
};

struct yk_sim_result {
    struct yk_arena *arena; /* owns everything below */
    const struct yk_program *program;
    double step_s;
    double slowdown; /* largest compute slowdown of all messages */
    struct yk_sim_rank_result *ranks;
};

/* Simulates a program. The program must have passed yk_program_check(), but it may exceed the
 * memory limits. */
yk_status yk_sim_run(const struct yk_program *program, struct yk_layer_costs *costs,
                     const struct yk_sim_options *options, struct yk_sim_result **out) YK_MUST_USE;
void yk_sim_result_destroy(struct yk_sim_result *sim);

/* Computes the memory of a rank from time 0 to the end of the step. The result has one point at
 * time 0 and one at each change, and lives in `arena`. */
yk_status yk_sim_compute_memory_over_time(const struct yk_sim_result *sim, int32_t rank,
                                          struct yk_arena *arena,
                                          struct yk_memory_timeline_point **out,
                                          int32_t *out_count) YK_MUST_USE;

/* Computes the error band of the predicted step time. The band also says which part of the time
 * comes from which origin. The error band is computed from the compute ops and the exposed
 * communication of the busiest rank. `costs` must be the costs that the simulation used. */
yk_status yk_sim_compute_error_band(const struct yk_sim_result *sim, struct yk_layer_costs *costs,
                                    struct yk_error_band *out) YK_MUST_USE;

/* A class of ops of one step that have the same kind, size and time. Compute ops of a class also
 * have devices of the same speed and layers of the same shape. Two load ops of a rank are never in
 * the same class. */
struct yk_sim_op_class {
    enum yk_op_kind kind;              /* recompute counts as forward, recv as send */
    int32_t rank;                      /* first rank that has an op of this class */
    int32_t layer;                     /* layer of the first op of the class */
    int64_t samples;                   /* 0 for updates and messages */
    double bytes;                      /* size of a message; otherwise 0 */
    int64_t count;                     /* number of ops on all ranks; a message counts once */
    struct yk_cost_time_estimate time; /* isolated time of one op, with its source and error */
};

/* Counts the ops of each class in a step. The classes are in the order of their first ops. Omits
 * ops that take no time. `costs` must be the costs that the simulation used. The result lives in
 * `arena`. */
yk_status yk_sim_count_op_classes(const struct yk_sim_result *sim, struct yk_layer_costs *costs,
                                  struct yk_arena *arena, struct yk_sim_op_class **out,
                                  int32_t *out_count) YK_MUST_USE;

/* Converts the reported iteration to a trace. Ranks are named after their devices. */
yk_status yk_sim_make_trace(const struct yk_sim_result *sim, struct yk_trace **out) YK_MUST_USE;

#endif
