/*
 * MPI internals: the declarations that the source files of the MPI comm backend share.
 *
 * Only the thread of the comm lane calls MPI; the exceptions are MPI_Abort and
 * MPI_Get_library_version. Collectives consist of nonblocking point-to-point messages. One common
 * loop waits for all messages. The blocking calls of MPI are avoided because they spin and so take
 * CPU time from computation.
 */
#ifndef YK_COMM_MPI_MPI_INTERNAL_H
#define YK_COMM_MPI_MPI_INTERNAL_H

#include "comm/comm.h"

#include <mpi.h>
#include <stdatomic.h>

enum {
    /* MPI tags less than this number are for collectives, all others for sends and receives. */
    YK_MPI_COLLECTIVE_TAG_COUNT = 1024,
    /* Maximum number of segments in one call of yk_mpi_transfer_segments(), and of MPI messages
     * that are in flight at a time. */
    YK_MPI_MAX_SEGMENTS = 64,
};

struct yk_comm_world {
    struct yk_comm_options options; /* block_bytes is greater than 0 */
    MPI_Comm comm;
    int rank;
    int size;
    int machines;
    int32_t tag_limit; /* largest tag that MPI accepts */
    int32_t groups;    /* number of groups created so far */
    void *stages[2];   /* buffers of block_bytes each, for received numbers and sums */
    struct yk_first_failure failure;
    atomic_int exit_request; /* (exit code of the first abort()) + 1; 0 means: no abort() yet */
    atomic_bool is_aborting; /* a thread is calling MPI_Abort */
};

struct yk_comm_group {
    struct yk_comm_world *world;
    int32_t tag;
    int32_t members;
    int32_t me;      /* index of this rank in `ranks` */
    int64_t *firsts; /* (members + 1) temporary offsets for an all_reduce */
    int32_t ranks[]; /* (members) rank of each member in the world */
};

/* ---- transfer.c: concurrent sends and receives, and the wait loop ---- */

enum {
    YK_MPI_MAX_MESSAGE_BYTES = 256 << 10, /* maximum size of one MPI message */
};

/* A segment: one send or receive of at most one block. It is split into parts of at most
 * YK_MPI_MAX_MESSAGE_BYTES, and each part is one MPI message. A segment of 0 bytes sends nothing.
 */
struct yk_mpi_transfer_segment {
    void *bytes;
    size_t size;
    int32_t peer; /* rank in the world */
    int32_t tag;
    bool is_sent; /* true: a send; false: a receive */
    /* Called after each part has been sent or received. The parts may come in any order. `at` is
     * the offset of the part in bytes, a multiple of 8. May be NULL. */
    void (*arrived)(void *user, size_t at, size_t size);
    void *user;
};

/* Sends and receives `count` segments concurrently and waits for all of them. `count` is at most
 * YK_MPI_MAX_SEGMENTS. For each rank there may be at most one segment that is sent to it and one
 * that is received from it. Returns false if the world has failed. */
bool yk_mpi_transfer_segments(struct yk_comm_world *world,
                              const struct yk_mpi_transfer_segment *segments, int count);

/* Waits for one MPI request; sleeps between two polls if the wait is long. Returns the error code
 * of MPI, or MPI_ERR_OTHER after a call of abort(). */
int yk_mpi_transfer_wait_request(struct yk_comm_world *world, MPI_Request *request,
                                 MPI_Status *out);

/* Sets the failure of the world, with the message "DOING: error message of MPI". Returns false. */
bool yk_mpi_transfer_set_world_failure(struct yk_comm_world *world, int code, const char *doing);

/* ---- ring.c: ring collectives; they return false if the world has failed ---- */

bool yk_mpi_ring_all_gather(const struct yk_comm_all_gather *op);
bool yk_mpi_ring_reduce_scatter(const struct yk_comm_reduce_scatter *op);
bool yk_mpi_ring_all_reduce(const struct yk_comm_all_reduce *op);

/* ---- direct.c: direct messages between members; they return false if the world has failed ---- */

/* Returns whether this all_reduce is so small that direct messages are faster than a ring. With
 * direct messages, every member sends its numbers to every other member. */
bool yk_mpi_direct_is_faster_than_ring(const struct yk_comm_all_reduce *op);
bool yk_mpi_direct_all_reduce(const struct yk_comm_all_reduce *op);

bool yk_mpi_direct_broadcast(const struct yk_comm_broadcast *op);
bool yk_mpi_direct_send_or_recv(const struct yk_comm_send_recv *op, bool is_sent);

#endif
