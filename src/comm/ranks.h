/*
 * Ranks: a world that this process has joined, with the group of all its ranks.
 *
 * The lane and its device belong to the caller and outlive it. One thread at a time uses it.
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

/* Waits for the others, unless something went wrong. One that was never opened, {0}, is fine. */
void yk_ranks_close(struct yk_ranks *ranks);

/* Waits until what is on the lane has run; what went wrong there so far. */
yk_status yk_ranks_finish(const struct yk_ranks *ranks) YK_MUST_USE;

#endif
