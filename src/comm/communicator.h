/*
 * Communicator: an open comm backend. It holds the world, the group of all ranks, and the rank of
 * this process.
 *
 * The caller owns the comm lane and its device. Both must outlive the communicator. Not
 * thread-safe.
 */
#ifndef YK_COMM_COMMUNICATOR_H
#define YK_COMM_COMMUNICATOR_H

#include "comm/comm.h"

struct yk_communicator {
    const struct yk_comm_backend *comm;
    const struct yk_backend *backend;
    struct yk_backend_lane *lane; /* the comm lane */
    struct yk_comm_world *world;
    struct yk_comm_group *world_group; /* the group of all ranks */
    int32_t rank;
    int32_t size;
};

/* Return the rank of this process and the number of ranks. If `ranks` is NULL, these are 0 and 1.
 */
static inline int32_t yk_communicator_rank(const struct yk_communicator *ranks)
{
    return ranks ? ranks->rank : 0;
}

static inline int32_t yk_communicator_size(const struct yk_communicator *ranks)
{
    return ranks ? ranks->size : 1;
}

/* Opens the world of the backend. All ranks must call this function. It waits until all of them
 * have called it. */
yk_status yk_communicator_open(const struct yk_comm_backend *comm,
                               const struct yk_comm_options *options,
                               struct yk_communicator *out) YK_MUST_USE;

/* Waits for the other ranks, unless the world has failed. Then closes the world. Accepts a struct
 * of zeros. */
void yk_communicator_close(struct yk_communicator *ranks);

/* Waits until all work on the comm lane is done. Returns the first failure of the world, or YK_OK.
 */
yk_status yk_communicator_synchronize(const struct yk_communicator *ranks) YK_MUST_USE;

#endif
