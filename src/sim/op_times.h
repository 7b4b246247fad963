/*
 * Op times: the isolated time of each op, that is, its duration when nothing else runs. The
 * isolated time of an op depends on its kind:
 *
 *   load               the measured time of the copy of the input;
 *                      0 without a measurement
 *   release            0
 *   forward, backward  the cost of this pass of the layer
 *   recompute          the cost of the forward pass of the layer
 *   update             the cost of the update of the layer that owns the
 *                      weights, times the fraction of the state that the
 *                      rank holds
 *   send, recv         yk_communication_send_time()
 *   all_gather,        the sum over the blocks of
 *   reduce_scatter     yk_communication_collective_time() for one block,
 *                      with the size of the largest part
 *   all_reduce, agree  yk_communication_collective_time() with equal parts
 */
#ifndef YK_SIM_OP_TIMES_H
#define YK_SIM_OP_TIMES_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/communication.h"
#include "cost/layer_costs.h"
#include "program/program.h"
#include "sim/node_ports.h"
#include "sim/rank_classes.h"

#include <stdint.h>

/* One of the ops of a message. A message has one op for each rank class that takes part in it. */
struct yk_sim_message_op {
    int32_t rank_class;
    int32_t op;
};

/* A message: one send with its recv, or one collective. The index of a message is the member
 * `match` of its ops. */
struct yk_sim_message {
    struct yk_cost_time_estimate time;
    struct yk_communication_overlap_slowdown slowdown;
    /* has no ports if the message stays in one node or is empty */
    struct yk_node_port_demand demand;
    int32_t first_end; /* index of its first op in `ends` of struct yk_sim_op_times */
    int32_t end_count;
};

struct yk_sim_op_times {
    const double **isolated_s; /* (classes, ops) time of each op; 0 for communication ops */
    /* (classes) factor by which the compute ops in `isolated_s` were multiplied (idle_speedup.h);
     * initially 1 */
    double *scales;
    struct yk_sim_message *messages; /* (matches) */
    struct yk_sim_message_op *ends;  /* ops of all messages, sorted by message, then by class */
};

/* Computes the times of all ops and messages. The arrays live in `arena`. */
yk_status yk_sim_op_times_compute(const struct yk_program *program, struct yk_layer_costs *costs,
                                  const struct yk_rank_classes *classes, struct yk_arena *arena,
                                  struct yk_sim_op_times *out) YK_MUST_USE;

/* Computes the isolated time of one op. The time of a communication op is 0. */
yk_status yk_sim_op_times_compute_one_op(const struct yk_program *program,
                                         struct yk_layer_costs *costs,
                                         const struct yk_rank_classes *classes, int32_t rank,
                                         const struct yk_op *op,
                                         struct yk_cost_time_estimate *out) YK_MUST_USE;

#endif
