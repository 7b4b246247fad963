/*
 * Times: how long each op of a program takes when nothing else runs.
 *
 *   load               its cost; 0 where copies were not measured
 *   release            0
 *   forward, backward  the cost of the layer; recompute as forward
 *   update             the cost of the first layer that uses the weights, times the fraction that
 *                      the rank holds
 *   send, recv         yk_communication_send_time()
 *   all_gather, reduce_scatter
 *                      yk_communication_collective_time(), by the largest part
 *   all_reduce, agree  the same with equal parts
 *
 * A ring visits all devices of a node before it leaves the node, so that it uses every port out and
 * every port in only once.
 */
#ifndef YK_SIM_TIMES_H
#define YK_SIM_TIMES_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/communication.h"
#include "cost/layer_costs.h"
#include "program/program.h"
#include "sim/ports.h"
#include "sim/rank_classes.h"

#include <stdint.h>

/* An op of a message on one of the rank classes that take part. */
struct yk_message_end {
    int32_t rank_class;
    int32_t op;
};

/* Ops of several ranks that exchange data with each other (a match). */
struct yk_message {
    struct yk_cost_time time;
    struct yk_communication_slowdown slowdown;
    struct yk_port_demand demand; /* without ports where it stays in a node or moves nothing */
    int32_t first_end;            /* in the times' ends */
    int32_t end_count;
};

struct yk_times {
    const double **alone_s; /* (classes), each (ops): of ops that do not communicate */
    double *scales; /* (classes) that these were multiplied by, see idle_speedup.h; 1 at first */
    struct yk_message *messages; /* (matches) */
    struct yk_message_end *ends; /* by message, then by class */
};

yk_status yk_times_find(const struct yk_program *program, struct yk_layer_costs *prices,
                        const struct yk_rank_classes *classes, struct yk_arena *arena,
                        struct yk_times *out) YK_MUST_USE;

/* An op of a rank that does not communicate. */
yk_status yk_times_alone(const struct yk_program *program, struct yk_layer_costs *prices,
                         const struct yk_rank_classes *classes, int32_t rank,
                         const struct yk_op *op, struct yk_cost_time *out) YK_MUST_USE;

#endif
