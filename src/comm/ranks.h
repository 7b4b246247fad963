/*
 * Ranks: a world that this process has joined, with the group of all its ranks.
 *
 * The caller owns the lane and its device, which must outlive the world. One thread at a time.
 */
#ifndef YK_COMM_RANKS_H
#define YK_COMM_RANKS_H

#include "comm/comm.h"

struct yk_ranks {
    const struct yk_comm *comm;
    const struct yk_backend *backend;
    struct yk_backend_lane *lane; /* the comm lane */
    struct yk_comm_world *world;
    struct yk_comm_group *all;
    int32_t rank;
    int32_t size;
};

/* Waits for all ranks. */
yk_status yk_ranks_open(const struct yk_comm *comm, const struct yk_comm_options *options,
                        struct yk_ranks *out) YK_MUST_USE;

/* Waits for the other ranks, unless an exchange has failed. Accepts {0}, which was never opened. */
void yk_ranks_close(struct yk_ranks *ranks);

/* Waits until all work on the lane has run; returns its first failure. */
yk_status yk_ranks_finish(const struct yk_ranks *ranks) YK_MUST_USE;

#endif
