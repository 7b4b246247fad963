/*
 * Exchange times: what messages among some ranks take, by kind and size, alone or while they
 * compute; from device to device, as in training, and by the clock of the devices.
 *
 * All ranks call every function, in one order; those of the group begin a message together, and the
 * slowest of them counts. In training a message comes from and goes to memory that is in no cache:
 * so each lies elsewhere than the one before, in more memory than caches hold.
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

/* "send" both ways, "all_gather", "reduce_scatter", "all_reduce". */
const char *yk_exchange_times_kind_name(enum yk_exchange_kind kind);

/* At least 2 ranks, in the order of the ring, and the type of the numbers that are summed. */
struct yk_exchange_times_group {
    const int32_t *ranks;
    int32_t count;
    enum yk_comm_type type;
};

struct yk_exchange_times; /* opaque */

/* Messages of up to `max_bytes`, from the device's memory. The group's ranks are copied. */
yk_status yk_exchange_times_create(const struct yk_measure_ranks *team,
                                   const struct yk_exchange_times_group *group, int64_t max_bytes,
                                   struct yk_exchange_times **out) YK_MUST_USE;
void yk_exchange_times_destroy(struct yk_exchange_times *times);

/* The device's memory that it has allocated. */
int64_t yk_exchange_times_bytes(const struct yk_exchange_times *times);

/*
 * The sizes that are worth measuring, rising, the last being `max_bytes` or a little more: 8 bytes
 * for latency, four times as large each time up to where links begin to be used well, twice as
 * large from there on. Returns how many.
 */
enum {
    YK_EXCHANGE_TIMES_MAX_SIZES = 32
};
int32_t yk_exchange_times_list_sizes(int64_t max_bytes, int64_t out[YK_EXCHANGE_TIMES_MAX_SIZES]);

/* One message; `out` is its time on the slowest rank. */
yk_status yk_exchange_times_measure(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                    int64_t bytes, double *out) YK_MUST_USE;

/* Enqueues `count` messages, at most YK_EXCHANGE_TIMES_MAX_ROW. */
enum {
    YK_EXCHANGE_TIMES_MAX_ROW = 256
};
yk_status yk_exchange_times_enqueue_row(struct yk_exchange_times *times, enum yk_exchange_kind kind,
                                        int64_t bytes, int32_t count) YK_MUST_USE;

/* When each message of the row began and ended on this rank; waits for them. For a rank
 * that is not of the group they take no time. */
yk_status yk_exchange_times_read_row(struct yk_exchange_times *times, double *begin_s,
                                     double *end_s) YK_MUST_USE;

/* A group of all ranks that has exchanged its first messages, as one has in training: comms
 * allocate memory of the device then. `out` is NULL for a rank alone, and where memory is the
 * host's. */
yk_status yk_exchange_times_create_warm(const struct yk_measure_ranks *team, enum yk_comm_type type,
                                        struct yk_arena *arena,
                                        struct yk_exchange_times **out) YK_MUST_USE;

#endif
