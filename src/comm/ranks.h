/*
 * Communicator: an open comm backend: its world, the group of all ranks, and this process's rank.
 *
 * The caller owns the lane and its device. Both must outlive the communicator. Not thread-safe.
 */
#ifndef YK_COMM_RANKS_H
#define YK_COMM_RANKS_H

#include "comm/comm.h"

struct yk_ranks {
    const struct yk_comm *comm;
    const struct yk_backend *backend;
    struct yk_backend_lane *lane; /* the comm lane */
    struct yk_comm_world *world;
    struct yk_comm_group *all; /* the group of all ranks */
    int32_t rank;
    int32_t size;
};

/* Opens the backend's world. All ranks call it, and it waits for all of them. */
yk_status yk_ranks_open(const struct yk_comm *comm, const struct yk_comm_options *options,
                        struct yk_ranks *out) YK_MUST_USE;

/* Waits for the other ranks, unless the world has failed. Accepts {0}. */
void yk_ranks_close(struct yk_ranks *ranks);

/* Waits until all work on the lane has run. Returns the first failure of the world, or YK_OK. */
yk_status yk_ranks_finish(const struct yk_ranks *ranks) YK_MUST_USE;

#endif
