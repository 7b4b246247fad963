/*
 * Transfer: some messages sent and received at once, and how the comm lane waits for them. On the
 * lane's thread alone.
 */
#ifndef YK_COMM_MPI_TRANSFER_H
#define YK_COMM_MPI_TRANSFER_H

#include "comm/mpi/world.h"

enum {
    YK_MPI_PART_BYTES = 256 << 10, /* MPI is given no longer messages */
};

/* At most a block. It goes in parts; nothing is sent when it has no bytes. */
struct yk_mpi_segment {
    void *bytes;
    size_t size;
    int32_t peer; /* rank of the world */
    int32_t tag;
    bool is_sent; /* received otherwise */
    /* Or NULL: called for every part, a multiple of 8 bytes from the beginning, once it has gone or
     * come, in any order. */
    void (*arrived)(void *user, size_t at, size_t size);
    void *user;
};

/* True when all `count` pieces, at most YK_MPI_MAX_SEGMENTS, have gone and come; otherwise the
 * world is in trouble. No two of them go the same way between two ranks. */
bool yk_mpi_transfer(struct yk_comm_world *world, const struct yk_mpi_segment *pieces, int count);

/* Waits for a request of MPI in the same way. Returns MPI's code, or MPI_ERR_OTHER when the run is
 * to end. */
int yk_mpi_transfer_wait(struct yk_comm_world *world, MPI_Request *request, MPI_Status *out);

/* Sets the trouble "doing: MPI's words"; false. */
bool yk_mpi_transfer_fail(struct yk_comm_world *world, int code, const char *doing);

#endif
