/*
 * Simulator: predicts the step time of a program by discrete-event simulation. Files of this
 * folder: sim, sim_internal   runs a simulation; its result and error band iterations          the
 * event loop rank_classes        ranks that do the same, simulated as one op_times            the
 * isolated time of each op and message collective_rings    the isolated time of collectives
 *   node_ports          bandwidth shared between messages
 *   idle_speedup        devices that are faster while others are idle
 *   memory, trace, op_classes   the result as memory over time, as a trace, as op statistics
 *
 * Messages that use the same node port share its bandwidth. While a rank communicates, its compute
 * ops are slowed down; if the profile has a measurement, its messages are slowed down by compute
 * ops, too. The program is simulated for several iterations until their duration is constant. The
 * last one is reported; time 0 is its start. The reported times of an op are those of this
 * iteration, even if the op belongs to the training step before or after. The simulation is
 * deterministic.
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
    double slowdown; /* factor for compute times during communication, at least 1. 0: as measured,
                        or YK_SIM_DEFAULT_SLOWDOWN without a measurement */
};

/* The default slowdown. Kernels are 10 to 30 % slower during collectives. */
#define YK_SIM_DEFAULT_SLOWDOWN 1.1

struct yk_sim_rank {
    double compute_s;           /* the compute lane is busy */
    double exposed_s;           /* it waits while a message of this rank is in flight */
    double idle_s;              /* it waits for other reasons */
    double compute_time_factor; /* factor of the compute times, see idle_speedup.h; at most 1 */
    double peak_bytes;
    double peak_by_kind[YK_MEMORY_KIND_COUNT];
    /* (op_count of the rank) times of each op. A message starts when all its ranks are ready. */
    double *start_s;
    double *end_s;
    double *exposed_of_op_s; /* comm ops: how long the compute lane waited while the op ran */
};

struct yk_sim {
    struct yk_arena *arena; /* owns everything below */
    const struct yk_program *program;
    double step_s;
    double slowdown; /* the largest compute slowdown of all messages */
    struct yk_sim_rank *ranks;
};

/* Simulates a program that has passed yk_program_check(); it may exceed the memory limits. */
yk_status yk_sim_run(const struct yk_program *program, struct yk_layer_costs *costs,
                     const struct yk_sim_options *options, struct yk_sim **out) YK_MUST_USE;
void yk_sim_destroy(struct yk_sim *sim);

/* The memory of a rank from time 0 to the end of the step: one point per change, in `arena`. */
yk_status yk_sim_memory_over_time(const struct yk_sim *sim, int32_t rank, struct yk_arena *arena,
                                  struct yk_memory_timeline_point **out,
                                  int32_t *out_count) YK_MUST_USE;

/* The error band of the predicted step time, and the sources of the times. It is computed from the
 * busiest rank: its compute ops and its exposed communication. `costs` are those of the
 * simulation.
 */
yk_status yk_sim_error_band(const struct yk_sim *sim, struct yk_layer_costs *costs,
                            struct yk_error_band *out) YK_MUST_USE;

/* Ops of a step with equal kind, size and time. */
struct yk_sim_op_class {
    enum yk_op_kind kind;     /* recompute counts as forward, recv as send */
    int32_t rank;             /* the first rank with such an op */
    int32_t layer;            /* the layer of that op */
    int64_t samples;          /* 0 for updates and messages */
    double bytes;             /* size of a message; otherwise 0 */
    int64_t count;            /* number of ops of all ranks; a message counts once */
    struct yk_cost_time time; /* isolated time of one op, with its source and error */
};

/* Counts the ops of a step by class, in the order of their first op. Omits ops that take no time.
 * `costs` are those of the simulation. The result lives in `arena`. */
yk_status yk_sim_count_op_classes(const struct yk_sim *sim, struct yk_layer_costs *costs,
                                  struct yk_arena *arena, struct yk_sim_op_class **out,
                                  int32_t *out_count) YK_MUST_USE;

/* Converts the reported iteration to a trace. Ranks are named after their devices. */
yk_status yk_sim_make_trace(const struct yk_sim *sim, struct yk_trace **out) YK_MUST_USE;

#endif
