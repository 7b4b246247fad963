/*
 * Comm benchmark: measures the time of messages and collectives among a group of ranks, by kind and
 * size. Buffers are in device memory, as in training, and times are those of the devices' clocks.
 *
 * All ranks call all functions in the same order. The ranks of the group start each message
 * together, and the time of the slowest rank is used. In training, message buffers are not in a
 * cache; so each message uses another part of a buffer that is larger than the caches.
 */
#ifndef YK_MEASURE_PROFILER_COMM_BENCHMARK_H
#define YK_MEASURE_PROFILER_COMM_BENCHMARK_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/team.h"

#include <stdint.h>

enum yk_comm_benchmark_kind {
    YK_COMM_BENCHMARK_SEND,         /* from the first rank of the group to the second */
    YK_COMM_BENCHMARK_SEND_REVERSE, /* the other way */
    YK_COMM_BENCHMARK_ALL_GATHER,
    YK_COMM_BENCHMARK_REDUCE_SCATTER,
    YK_COMM_BENCHMARK_ALL_REDUCE,
    YK_COMM_BENCHMARK_KIND_COUNT,
};

/* "send" for both directions, "all_gather", "reduce_scatter" or "all_reduce". */
const char *yk_comm_benchmark_kind_name(enum yk_comm_benchmark_kind kind);

struct yk_comm_benchmark_group {
    const int32_t *ranks; /* (count), in the order of the ring */
    int32_t count;        /* at least 2 */
    enum yk_comm_data_type type;
};

struct yk_comm_benchmark; /* opaque */

/* Allocates device memory for messages of up to `max_bytes`. `group` is copied. */
yk_status yk_comm_benchmark_create(const struct yk_measure_team *team,
                                   const struct yk_comm_benchmark_group *group, int64_t max_bytes,
                                   struct yk_comm_benchmark **out) YK_MUST_USE;
void yk_comm_benchmark_destroy(struct yk_comm_benchmark *benchmark);

/* Allocated device memory in bytes. */
int64_t yk_comm_benchmark_allocated_bytes(const struct yk_comm_benchmark *benchmark);

/*
 * Lists the message sizes to measure, ascending, and returns their number. The first is 8 bytes,
 * for the latency. Sizes grow by factors of 4 until links reach a good bandwidth, then by factors
 * of 2. The last is `max_bytes` or slightly more.
 */
enum {
    YK_COMM_BENCHMARK_MAX_SIZES = 32
};
int32_t yk_comm_benchmark_list_sizes(int64_t max_bytes, int64_t out[YK_COMM_BENCHMARK_MAX_SIZES]);

/* Sends one message; `out` is its time on the slowest rank. */
yk_status yk_comm_benchmark_measure_message(struct yk_comm_benchmark *benchmark,
                                            enum yk_comm_benchmark_kind kind, int64_t bytes,
                                            double *out) YK_MUST_USE;

/* Enqueues `count` messages, at most YK_COMM_BENCHMARK_MAX_SERIES. */
enum {
    YK_COMM_BENCHMARK_MAX_SERIES = 256
};
yk_status yk_comm_benchmark_enqueue_series(struct yk_comm_benchmark *benchmark,
                                           enum yk_comm_benchmark_kind kind, int64_t bytes,
                                           int32_t count) YK_MUST_USE;

/* Waits for the enqueued messages, and returns the begin and end of each one on this rank. On ranks
 * outside the group, begin and end are equal. */
yk_status yk_comm_benchmark_read_series(struct yk_comm_benchmark *benchmark, double *begin_s,
                                        double *end_s) YK_MUST_USE;

/* Creates a comm benchmark of all ranks and sends a first message, because comm backends allocate
 * device memory at that time. `out` is NULL for a single rank, and if devices use host memory. */
yk_status yk_comm_benchmark_create_warmed_up(const struct yk_measure_team *team,
                                             enum yk_comm_data_type type, struct yk_arena *arena,
                                             struct yk_comm_benchmark **out) YK_MUST_USE;

#endif
