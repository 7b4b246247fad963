/*
 * Collectives: the all-gathers, reduce-scatters and all-reduces of a rank's program. They are
 * prepared once and enqueued in every round, that is, in every pass through the rank's ops. They
 * contain addresses in the store and in the memory of the buffers, so neither may move.
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

/* The kind of an op says which member is set. */
union yk_op_collective {
    struct yk_comm_all_gather all_gather;
    struct yk_comm_reduce_scatter reduce_scatter;
    struct yk_comm_all_reduce all_reduce;
};

struct yk_collectives {
    const struct yk_comm_backend *comm;
    union yk_op_collective *items; /* in the order of the ops */
    int32_t count;
    int32_t *first; /* (ops + 1) the collectives of op i are the items [first[i], first[i + 1]) */
    struct yk_comm_group **groups; /* (groups of the plan) communicator group of each group; NULL
                                      for a group that has one member */
    int32_t group_count;
};

struct yk_collectives_request {
    const struct yk_program *program;
    const struct yk_communicator *ranks;
    const struct yk_parameter_store *store;
    const struct yk_executor_buffers *buffers;
    char *memory;        /* the allocation to which the offsets of the buffers refer */
    bool reduce_in_fp32; /* 16-bit gradients are summed as fp32 */
};

/* Prepares the collectives. All ranks must call it at the same time, because it creates their
 * communicator groups. */
yk_status yk_collectives_create(const struct yk_collectives_request *request,
                                struct yk_arena *arena, struct yk_collectives *out) YK_MUST_USE;
void yk_collectives_destroy(struct yk_collectives *collectives);

/* Enqueues the collectives of an op on the comm lane. */
void yk_collectives_enqueue_op(const struct yk_collectives *collectives,
                               const struct yk_op_list *list, int32_t op);

/* Computes the order in which a store should lay out the gradients of the layers, so that the
 * gradients of a bucket (struct yk_gradient_bucket) are contiguous. `out` has the numbers of all
 * layers in this order, and is in the arena. */
yk_status yk_collectives_compute_gradient_order(const struct yk_program *program,
                                                struct yk_arena *arena, int32_t **out) YK_MUST_USE;

#endif
