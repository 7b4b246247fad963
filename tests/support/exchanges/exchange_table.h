/*
 * Exchange table: every exchange of comm.h in many sizes, types, parts and groups, against sums in
 * doubles. It runs on every rank of a world, whatever the comm, and tells what is wrong in a
 * status, since ranks may be threads.
 */
#ifndef YK_TESTS_SUPPORT_EXCHANGES_EXCHANGE_TABLE_H
#define YK_TESTS_SUPPORT_EXCHANGES_EXCHANGE_TABLE_H

#include "comm/communicator.h"
#include "support/exchanges/exchange_case.h"

/* A device, its comm lane and the world over it. */
struct exchange_station {
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    struct yk_communicator ranks;
};

yk_status exchange_station_open(const struct yk_comm_backend *comm, size_t block_bytes,
                                struct exchange_station *out) YK_MUST_USE;
void exchange_station_close(struct exchange_station *station);

/* All exchanges, in `orders` random orders that are the same on all ranks. `largest` bounds how
 * many numbers there are in one. Up to 4 ranks. */
yk_status exchange_table_run(const struct yk_communicator *ranks, int64_t largest,
                             int orders) YK_MUST_USE;

/* The same, of memory of a device. */
yk_status exchange_table_run_far(const struct yk_communicator *ranks,
                                 const struct exchange_far *far, int64_t largest,
                                 int orders) YK_MUST_USE;

#endif
