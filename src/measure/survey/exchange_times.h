/*
 * Comm benchmark: measures the time of messages and collectives among a group of ranks, by kind and
 * size. Buffers are in device memory, as in training, and times are those of the devices' clocks.
 *
 * All ranks call all functions in the same order. The ranks of the group start each message
 * together, and the time of the slowest rank is used. In training, message buffers are not in a
 * cache; so each message uses another part of a buffer that is larger than the caches.
 */
#ifndef YK_MEASURE_SURVEY_EXCHANGE_TIMES_H
#define YK_MEASURE_SURVEY_EXCHANGE_TIMES_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/ranks.h"

#include <stdint.h>

enum yk_exchange_kind {
    YK_EXCHANGE_SEND,         /* from the first rank of the group to the second */
    YK_EXCHANGE_SEND_REVERSE, /* the other way */
    YK_EXCHANGE_ALL_GATHER,
    YK_EXCHANGE_REDUCE_SCATTER,
    YK_EXCHANGE_ALL_REDUCE,
    YK_EXCHANGE_KIND_COUNT,
};

/* "send" for both directions, "all_gather", "reduce_scatter" or "all_reduce". */
const char *yk_exchange_times_kind_name(enum yk_exchange_kind kind);

struct yk_exchange_times_group {
    const int32_t *ranks; /* (count), in the order of the ring */
    int32_t count;        /* at least 2 */
    enum yk_comm_type type;
};

struct yk_exchange_times; /* opaque */

/* Allocates device memory for messages of up to `max_bytes`. `group` is copied. */
yk_status yk_exchange_times_create(const struct yk_measure_ranks *team,
                                   const struct yk_exchange_times_group *group, int64_t max_bytes,
                                   struct yk_exchange_times **out) YK_MUST_USE;
void yk_exchange_times_destroy(struct yk_exchange_times *times);

/* Allocated device memory in bytes. */
int64_t yk_exchange_times_bytes(const struct yk_exchange_times *times);

/*
 * Lists the message sizes to measure, ascending, and returns their number. The first is 8 bytes,
 * for the latency. Sizes grow by factors of 4 until links reach a good bandwidth, then by factors
 * of 2. The last is `max_bytes` or slightly more.
 */
enum {
    YK_EXCHANGE_TIMES_MAX_SIZES = 32
};
int32_t yk_exchange_times_list_sizes(int64_t max_bytes, int64_t out[YK_EXCHANGE_TIMES_MAX_SIZES]);

/* Sends one message; `out` is its time on the slowest rank. */
yk_status yk_exchange_times_measure(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                    int64_t bytes, double *out) YK_MUST_USE;

/* Enqueues `count` messages, at most YK_EXCHANGE_TIMES_MAX_ROW. */
enum {
    YK_EXCHANGE_TIMES_MAX_ROW = 256
};
yk_status yk_exchange_times_enqueue_row(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                        int64_t bytes, int32_t count) YK_MUST_USE;

/* Waits for the enqueued messages, and returns the begin and end of each one on this rank. On ranks
 * outside the group, begin and end are equal. */
yk_status yk_exchange_times_read_row(struct yk_exchange_times *times, double *begin_s,
                                     double *end_s) YK_MUST_USE;

/* Creates a comm benchmark of all ranks and sends a first message, because comm backends allocate
 * device memory at that time. `out` is NULL for a single rank, and if devices use host memory. */
yk_status yk_exchange_times_create_warm(const struct yk_measure_ranks *team, enum yk_comm_type type,
                                        struct yk_arena *arena,
                                        struct yk_exchange_times **out) YK_MUST_USE;

#endif
