/*
 * Collectives: the all-gathers, reduce-scatters and all-reduces of a rank's program. They are
 * prepared once and enqueued in every round. They point into the store and into the memory of the
 * buffers, which must not move.
 */
#ifndef YK_TRAIN_EXECUTOR_COLLECTIVES_H
#define YK_TRAIN_EXECUTOR_COLLECTIVES_H

#include "base/arena.h"
#include "base/status.h"
#include "comm/communicator.h"
#include "nn/store/parameter_store.h"
#include "program/program.h"
#include "train/executor/buffers.h"

#include <stdbool.h>

/* The collectives of one op: `count` consecutive entries of the array for its kind. */
struct yk_collective_span {
    int32_t first;
    int32_t count;
};

struct yk_collectives {
    const struct yk_comm_backend *comm;
    struct yk_comm_all_gather *gathers;
    struct yk_comm_reduce_scatter *scatters;
    struct yk_comm_all_reduce *reduces;
    int32_t gather_count;
    int32_t scatter_count;
    int32_t reduce_count;
    struct yk_collective_span *of; /* (ops) */
    struct yk_comm_group **groups; /* (groups of the plan); NULL where a group has one member */
    int32_t group_count;
};

struct yk_collectives_request {
    const struct yk_program *program;
    const struct yk_communicator *ranks;
    const struct yk_parameter_store *store;
    const struct yk_executor_buffers *buffers;
    char *memory;        /* allocation that the buffers' offsets refer to */
    bool reduce_in_fp32; /* 16-bit gradients are summed as fp32 */
};

/* All ranks call it together, because it creates their communicator groups. */
yk_status yk_collectives_create(const struct yk_collectives_request *request,
                                struct yk_arena *arena, struct yk_collectives *out) YK_MUST_USE;
void yk_collectives_destroy(struct yk_collectives *collectives);

/* Enqueues the collectives of an op on the comm lane. */
void yk_collectives_enqueue(const struct yk_collectives *collectives, const struct yk_op_list *list,
                            int32_t op);

/* The order in which a store should lay out gradients, so that those of a bucket are contiguous:
 * (L) layer numbers, in the arena. */
yk_status yk_collectives_gradient_order(const struct yk_program *program, struct yk_arena *arena,
                                        int32_t **out) YK_MUST_USE;

#endif
