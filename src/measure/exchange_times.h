/*
 * Exchange times: what messages between the ranks of a team take, by kind and size, each rank alone
 * with its messages or while it computes.
 *
 * All ranks begin a message together; what it takes is what it takes the slowest of them.
 */
#ifndef YK_MEASURE_EXCHANGE_TIMES_H
#define YK_MEASURE_EXCHANGE_TIMES_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/measure_ranks.h"
#include "measure/timings.h"

#include <stdint.h>

enum yk_exchange_kind {
    YK_EXCHANGE_SEND, /* from rank 0 to rank 1 */
    YK_EXCHANGE_GATHER,
    YK_EXCHANGE_SCATTER,
    YK_EXCHANGE_REDUCE,
    YK_EXCHANGE_KIND_COUNT,
};

/* "send", "gather", "scatter", "reduce". */
const char *yk_exchange_name(enum yk_exchange_kind kind);

struct yk_exchange_times; /* opaque */

/* Messages of up to `most_bytes`; as fp32 where they are summed up. */
yk_status yk_exchange_times_create(const struct yk_measure_ranks *team, int64_t most_bytes,
                                   struct yk_exchange_times **out) YK_MUST_USE;
void yk_exchange_times_destroy(struct yk_exchange_times *times);

/* The sizes that are measured, rising, the last being `most_bytes` or a little more. */
int32_t yk_exchange_times_sizes(const struct yk_exchange_times *times, const int64_t **out);

/* Puts a message on the lane and waits for it; `out` is what it took the slowest rank. */
yk_status yk_exchange_times_take(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                 int64_t bytes, double *out) YK_MUST_USE;

/* Puts `count` messages on the lane without waiting, at most YK_EXCHANGE_ROW. */
enum {
    YK_EXCHANGE_ROW = 256
};
yk_status yk_exchange_times_put_row(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                    int64_t bytes, int32_t count) YK_MUST_USE;

/* When each message of the row began and ended on this rank; waits for them. */
yk_status yk_exchange_times_read_row(struct yk_exchange_times *times, double *begin_s,
                                     double *end_s) YK_MUST_USE;

#endif
