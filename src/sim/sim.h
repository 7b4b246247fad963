/*
 * Sim: a program in virtual time. Discrete events over lanes and links.
 *
 * The room:
 *   sim, record    runs a program; what it reports; how far off the step may be
 *   rounds         the events: lanes of ranks, round after round (event_queue)
 *   rank_classes   ranks that do the same, simulated as one
 *   times, rings   what ops and collectives take alone
 *   ports          how messages share what leaves and enters nodes
 *   idle_speedup   devices that are faster while others idle
 *   memory, trace, op_classes   the result as memory over time, as a trace, as a list of ops
 *
 * Communication that shares a link, a device's port or a node's port shares its bandwidth. While
 * a rank communicates, its computation takes `slowdown` times as long, and where the profile says
 * so communication takes longer during computation, too. Devices that slow each other by computing
 * at all do so as far as they compute (sim/idle_speedup.h). The program is run until its
 * rounds take equally long, and the last round is reported, its start being 0: what belongs to the
 * step but begins in the round before or ends in the one after is in the picture where it falls.
 * One input gives one result.
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
    double slowdown; /* of computation during communication, at least 1; 0: as measured, else
                        YK_SIM_SLOWDOWN */
};

/* Assumed where nothing was measured: kernels are 10 to 30 % slower during collectives. */
#define YK_SIM_SLOWDOWN 1.1

struct yk_sim_rank {
    double compute_s; /* the compute lane is busy */
    double exposed_s; /* it waits while data moves to or from this rank */
    double idle_s;    /* it waits for anything else */
    double scale;     /* of what ops take that compute, since others rest at times; 1 at most */
    double peak_bytes;
    double peak_by_kind[YK_MEMORY_KIND_COUNT];
    /* (op_count of the rank) of each op in the last round; a communication starts when all its
     * ranks are there. */
    double *start_s;
    double *end_s;
    double *exposed_of_op_s; /* of comm ops: while it ran, the compute lane waited this long */
};

struct yk_sim {
    struct yk_arena *arena; /* owns everything below */
    const struct yk_program *program;
    double step_s;
    double slowdown; /* of computation during communication; the worst where messages differ */
    struct yk_sim_rank *ranks;
};

/* Simulates a program that yk_program_check() passed (memory may be over the limit). */
yk_status yk_sim_run(const struct yk_program *program, struct yk_layer_costs *prices,
                     const struct yk_sim_options *options, struct yk_sim **out) YK_MUST_USE;
void yk_sim_destroy(struct yk_sim *sim);

/* A rank's memory over the round, from `at_s` 0 to the step's end, one moment for each change. */
yk_status yk_sim_memory(const struct yk_sim *sim, int32_t rank, struct yk_arena *arena,
                        struct yk_memory_point **out, int32_t *out_count) YK_MUST_USE;

/* How far off the step may be and where its times come from: of the rank that does most, what it
 * computes and the communication that it waits for. `prices` are those of the simulation. */
yk_status yk_sim_band(const struct yk_sim *sim, struct yk_layer_costs *prices,
                      struct yk_error_band *out) YK_MUST_USE;

/* Ops of a step that are alike, counted together. */
struct yk_op_class {
    enum yk_op_kind kind;     /* recomputation counts as forward; a message as its send */
    int32_t rank;             /* the first that has such an op */
    int32_t layer;            /* of it */
    int64_t samples;          /* 0 of updates */
    double bytes;             /* of messages, else 0 */
    int64_t count;            /* on all ranks */
    struct yk_cost_time time; /* alone: where it comes from and how far off it may be */
};

/* In the order in which they come up, rank by rank; not those that last no time. `prices` are those
 * of the simulation; in the arena. */
yk_status yk_sim_op_classes(const struct yk_sim *sim, struct yk_layer_costs *prices,
                            struct yk_arena *arena, struct yk_op_class **out,
                            int32_t *out_count) YK_MUST_USE;

/* The last round as a trace; ranks are named after their devices. */
yk_status yk_sim_trace(const struct yk_sim *sim, struct yk_trace **out) YK_MUST_USE;

#endif
