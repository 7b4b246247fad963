/*
 * World: the insides of the comm over MPI, shared by its sources.
 *
 * Every call of MPI is made on the thread of the comm lane, MPI_Abort at the end of all apart.
 * Exchanges are made of messages between two ranks, in blocks, so that one way of waiting serves
 * them all: MPI's own blocking calls spin, and use half of a core that computes.
 */
#ifndef YK_COMM_MPI_WORLD_H
#define YK_COMM_MPI_WORLD_H

#include "comm/comm.h"
#include "comm/failure.h"

#include <mpi.h>
#include <stdatomic.h>

enum {
    YK_MPI_GROUP_TAGS = 1024, /* tags of exchanges in groups; those of messages come after */
    YK_MPI_MAX_SEGMENTS = 64, /* in flight at a time */
};

struct yk_comm_world {
    struct yk_comm_options options; /* block_bytes resolved */
    MPI_Comm comm;
    int rank;
    int size;
    int machines;
    int32_t tag_limit; /* the largest tag that MPI takes */
    int32_t groups;    /* made so far */
    void *stages[2];   /* of block_bytes: sums on their way */
    struct yk_failure failure;
    atomic_int exit_request; /* the exit code plus 1, once somebody asks for the end */
    atomic_bool is_aborting; /* and somebody calls MPI_Abort */
};

struct yk_comm_group {
    struct yk_comm_world *world;
    int32_t tag;
    int32_t members;
    int32_t me;
    int64_t *firsts; /* (members + 1), for a reduce's own */
    int32_t ranks[]; /* (members) */
};

/* Calls a function on the comm lane. */
static inline void yk_mpi_enqueue(const struct yk_comm_world *world, void (*function)(void *user),
                                  const void *user)
{
    world->options.backend->call_host(world->options.lane, function, (void *)(uintptr_t)user);
}

/* ---- transfer.c: messages sent and received at once, and how the lane waits for them ---- */

enum {
    YK_MPI_PART_BYTES = 256 << 10, /* of a message that MPI is given, at most */
};

/* At most a block. It goes in parts; nothing is sent when it has no bytes. */
struct yk_mpi_segment {
    void *bytes;
    size_t size;
    int32_t peer; /* rank of the world */
    int32_t tag;
    bool is_sent; /* received otherwise */
    /* Or NULL: called for every part, a multiple of 8 bytes from the beginning, once it has been
     * sent or received, in any order. */
    void (*arrived)(void *user, size_t at, size_t size);
    void *user;
};

/* Sends and receives all `count` segments, at most YK_MPI_MAX_SEGMENTS. True when all are done;
 * otherwise the world has failed. No two of them go in the same direction between two ranks. */
bool yk_mpi_transfer(struct yk_comm_world *world, const struct yk_mpi_segment *segments, int count);

/* Waits for a request of MPI in the same way. Returns MPI's code, or MPI_ERR_OTHER when the run is
 * to end. */
int yk_mpi_transfer_wait(struct yk_comm_world *world, MPI_Request *request, MPI_Status *out);

/* Sets the failure "doing: MPI's sentence"; false. */
bool yk_mpi_transfer_fail(struct yk_comm_world *world, int code, const char *doing);

/* ---- ring.c: each member sends to the next; false where the world has failed ---- */

bool yk_mpi_ring_all_gather(const struct yk_comm_all_gather *op);
bool yk_mpi_ring_reduce_scatter(const struct yk_comm_reduce_scatter *op);
bool yk_mpi_ring_all_reduce(const struct yk_comm_all_reduce *op);

/* ---- direct.c: members send to those they mean; false where the world has failed ---- */

/* Whether so few numbers are summed sooner by everyone than around the ring. */
bool yk_mpi_direct_suits(const struct yk_comm_all_reduce *op);
bool yk_mpi_direct_all_reduce(const struct yk_comm_all_reduce *op);

bool yk_mpi_direct_broadcast(const struct yk_comm_broadcast *op);
bool yk_mpi_direct_message(const struct yk_comm_message *op, bool is_sent);

#endif
