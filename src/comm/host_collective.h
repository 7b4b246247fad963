/*
 * Host collectives: blocking collectives on host memory, used between training steps. All ranks
 * must call the same functions in the same order. A call waits for all earlier work on the comm
 * lane, and returns when this rank has the result. The functions may allocate memory.
 *
 * A rank that fails must report the failure with yk_host_collective_agree_on_status(), or end all
 * ranks with comm->abort(). Otherwise the other ranks wait forever for the failed rank.
 */
#ifndef YK_COMM_HOST_COLLECTIVE_H
#define YK_COMM_HOST_COLLECTIVE_H

#include "base/arena.h"
#include "comm/communicator.h"

/* Replace each of the `count` numbers with its sum or its maximum over all ranks. The results are
 * bitwise identical on all ranks. If a rank has NaN, the maximum is NaN. */
yk_status yk_host_collective_all_reduce_sum(const struct yk_communicator *ranks, double *numbers,
                                            int64_t count) YK_MUST_USE;
yk_status yk_host_collective_all_reduce_max(const struct yk_communicator *ranks, double *numbers,
                                            int64_t count) YK_MUST_USE;

yk_status yk_host_collective_barrier(const struct yk_communicator *ranks) YK_MUST_USE;

/* Replaces `text` on all ranks with the text of rank `from`. */
yk_status yk_host_collective_broadcast_text(const struct yk_communicator *ranks, int32_t from,
                                            struct yk_text *text) YK_MUST_USE;

/* Copies `size` bytes of rank `from` to all ranks. `size` must be equal on all ranks. */
yk_status yk_host_collective_broadcast_bytes(const struct yk_communicator *ranks, int32_t from,
                                             void *bytes, size_t size) YK_MUST_USE;

/* The bytes that one rank passed to the gather. */
struct yk_host_collective_gathered_bytes {
    char *bytes; /* followed by a zero byte */
    size_t size; /* excludes the zero byte */
};

/* Collects the bytes of all ranks on rank 0. On rank 0, `*out` is an array with one element per
 * rank, allocated in `arena`. On the other ranks `*out` is NULL. */
yk_status
yk_host_collective_gather_on_rank0(const struct yk_communicator *ranks, const void *bytes,
                                   size_t size, struct yk_arena *arena,
                                   struct yk_host_collective_gathered_bytes **out) YK_MUST_USE;

/*
 * Agrees on one status for all ranks. `mine` is the status of this rank. If `mine` is a failure,
 * its message must be the current yk_status_message() of this thread. All ranks return the same
 * status: YK_OK if all of them passed YK_OK, otherwise the failure of the failed rank with the
 * lowest number N, with "rank N: " before its message. With a single rank, or if `ranks` is NULL,
 * the function returns `mine`.
 */
yk_status yk_host_collective_agree_on_status(const struct yk_communicator *ranks,
                                             yk_status mine) YK_MUST_USE;

/* The difference between two clocks (base/clock.h), estimated from round trips of messages. */
struct yk_clock_offset {
    double offset_s; /* clock of rank 0 minus clock of this rank */
    double error_s;  /* maximum error of the offset */
};

/* Estimates the clock offset of this rank. On rank 0 the offset is 0. */
yk_status yk_host_collective_estimate_clock_offset(const struct yk_communicator *ranks,
                                                   struct yk_clock_offset *out) YK_MUST_USE;

#endif
