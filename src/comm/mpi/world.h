/*
 * World: the insides of the comm over MPI, shared by its sources.
 *
 * Every call of MPI is made on the thread of the comm lane, MPI_Abort at the end of all apart.
 * Exchanges are made of messages between two ranks, in blocks, so that one way of waiting serves
 * them all: MPI's own blocking calls spin, and take half of a core that computes.
 */
#ifndef YK_COMM_MPI_WORLD_H
#define YK_COMM_MPI_WORLD_H

#include "comm/comm.h"
#include "comm/failure.h"

#include <mpi.h>
#include <stdatomic.h>

enum {
    YK_MPI_GROUP_TAGS = 1024, /* tags of exchanges in groups; those of messages come after */
    YK_MPI_MAX_SEGMENTS = 64, /* messages under way at a time */
};

struct yk_comm_world {
    struct yk_comm_options options; /* block_bytes settled */
    MPI_Comm comm;
    int rank;
    int size;
    int machines;
    int32_t tag_limit; /* the largest tag that MPI takes */
    int32_t groups;    /* made so far */
    void *stages[2];   /* of block_bytes: what is summed on its way */
    struct yk_failure trouble;
    atomic_int ending; /* the exit code plus 1, once somebody wants the end */
    atomic_bool ended; /* and somebody is about it */
};

struct yk_comm_group {
    struct yk_comm_world *world;
    int32_t tag;
    int32_t members;
    int32_t me;
    int64_t *firsts; /* (members + 1), for a reduce's own */
    int32_t ranks[]; /* (members) */
};

/* The exchanges, put on the lane. */
void yk_mpi_all_reduce(const struct yk_comm_all_reduce *op);
void yk_mpi_all_gather(const struct yk_comm_all_gather *op);
void yk_mpi_reduce_scatter(const struct yk_comm_reduce_scatter *op);
void yk_mpi_broadcast(const struct yk_comm_broadcast *op);
void yk_mpi_send(const struct yk_comm_message *op);
void yk_mpi_recv(const struct yk_comm_message *op);

/* Puts a call on the comm lane. */
static inline void yk_mpi_enqueue(const struct yk_comm_world *world, void (*function)(void *user),
                                  const void *user)
{
    world->options.backend->call_host(world->options.lane, function, (void *)(uintptr_t)user);
}

#endif
