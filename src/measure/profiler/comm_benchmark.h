/*
 * Comm benchmark: measures the time of messages and collectives in a group of ranks, for each kind
 * and size. In this header, a collective is also called a message. Buffers are in device memory, as
 * in training, and the times come from the clocks of the devices.
 *
 * All ranks must call all functions in the same order. All ranks start a series of messages at the
 * same time. In training, the buffers of messages are not in a cache. Therefore the messages of a
 * series use different parts of a buffer that is larger than most caches.
 */
#ifndef YK_MEASURE_PROFILER_COMM_BENCHMARK_H
#define YK_MEASURE_PROFILER_COMM_BENCHMARK_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/measuring_ranks.h"

#include <stdint.h>

enum yk_comm_benchmark_kind {
    YK_COMM_BENCHMARK_SEND,         /* from the first rank of the group to the second */
    YK_COMM_BENCHMARK_SEND_REVERSE, /* from the second rank of the group to the first */
    YK_COMM_BENCHMARK_ALL_GATHER,
    YK_COMM_BENCHMARK_REDUCE_SCATTER,
    YK_COMM_BENCHMARK_ALL_REDUCE,
    YK_COMM_BENCHMARK_KIND_COUNT,
};

/* Returns "send" (for both directions), "all_gather", "reduce_scatter" or "all_reduce". */
const char *yk_comm_benchmark_kind_name(enum yk_comm_benchmark_kind kind);

struct yk_comm_benchmark_group {
    const int32_t *ranks; /* (count) ranks in the order of the ring */
    int32_t count;        /* at least 2 */
    enum yk_comm_data_type type;
};

struct yk_comm_benchmark; /* opaque */

/* Allocates device memory for messages of up to `max_bytes`. `group` is copied. */
yk_status yk_comm_benchmark_create(const struct yk_measuring_ranks *team,
                                   const struct yk_comm_benchmark_group *group, int64_t max_bytes,
                                   struct yk_comm_benchmark **out) YK_MUST_USE;
void yk_comm_benchmark_destroy(struct yk_comm_benchmark *benchmark);

/* Returns the device memory that this rank has allocated for messages. */
int64_t yk_comm_benchmark_allocated_bytes(const struct yk_comm_benchmark *benchmark);

/*
 * Lists the message sizes to measure, ascending, and returns their number. The sizes are 8 bytes
 * (to measure the latency), then 1, 4, 16, 64, 128, 256 … KiB. The list ends with the first of
 * these KiB sizes that is at least `max_bytes`.
 */
enum {
    YK_COMM_BENCHMARK_MAX_SIZES = 32
};
int32_t yk_comm_benchmark_list_message_sizes(int64_t max_bytes,
                                             int64_t out[YK_COMM_BENCHMARK_MAX_SIZES]);

/* Sends one message and waits for it. `*out` is its time on the slowest rank. */
yk_status yk_comm_benchmark_measure_message(struct yk_comm_benchmark *benchmark,
                                            enum yk_comm_benchmark_kind kind, int64_t bytes,
                                            double *out) YK_MUST_USE;

/* Enqueues `count` messages, at most YK_COMM_BENCHMARK_MAX_SERIES. */
enum {
    YK_COMM_BENCHMARK_MAX_SERIES = 256
};
yk_status yk_comm_benchmark_enqueue_messages(struct yk_comm_benchmark *benchmark,
                                             enum yk_comm_benchmark_kind kind, int64_t bytes,
                                             int32_t count) YK_MUST_USE;

/* Waits for the enqueued messages. begin_s[i] and end_s[i] are the times at which message i began
 * and ended on this rank. On a rank outside the group, these two times are almost equal. */
yk_status yk_comm_benchmark_read_message_times(struct yk_comm_benchmark *benchmark, double *begin_s,
                                               double *end_s) YK_MUST_USE;

/* Creates a comm benchmark of all ranks and runs each kind of collective once, because comm
 * backends allocate device memory when they are first used. `*out` is NULL if there is only one
 * rank or if the device is the CPU. */
yk_status yk_comm_benchmark_create_warmed_up(const struct yk_measuring_ranks *team,
                                             enum yk_comm_data_type type, struct yk_arena *arena,
                                             struct yk_comm_benchmark **out) YK_MUST_USE;

#endif
