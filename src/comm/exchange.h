/*
 * Exchange: what ranks tell each other between steps. Every function is called by all ranks, in one
 * order, and waits until this rank has its answer; what is on the comm lane by then runs first.
 *
 * They may allocate memory. When a rank cannot go on, it says so by yk_exchange_agree(), or ends
 * them all by comm->abort(): the others would wait for it.
 */
#ifndef YK_COMM_EXCHANGE_H
#define YK_COMM_EXCHANGE_H

#include "base/arena.h"
#include "comm/ranks.h"

/* numbers (count) = the sum, or the largest, of every rank's; the same bits on all. */
yk_status yk_exchange_sum(const struct yk_ranks *ranks, double *numbers, int64_t count) YK_MUST_USE;
yk_status yk_exchange_max(const struct yk_ranks *ranks, double *numbers, int64_t count) YK_MUST_USE;

/* Returns when all ranks have come here. */
yk_status yk_exchange_barrier(const struct yk_ranks *ranks) YK_MUST_USE;

/* The text of rank `from` becomes that of all. */
yk_status yk_exchange_broadcast_text(const struct yk_ranks *ranks, int32_t from,
                                     struct yk_text *text) YK_MUST_USE;

/* Rank 0's bytes become those of all, who say the same size. */
yk_status yk_exchange_broadcast(const struct yk_ranks *ranks, void *bytes, size_t size) YK_MUST_USE;

/* What a rank has handed in; zero-terminated, which `size` does not count. */
struct yk_exchange_bytes {
    char *bytes;
    size_t size;
};

/* Every rank's bytes to rank 0: there `out` is an array over ranks in `arena`, elsewhere NULL. */
yk_status yk_exchange_gather(const struct yk_ranks *ranks, const void *bytes, size_t size,
                             struct yk_arena *arena, struct yk_exchange_bytes **out) YK_MUST_USE;

/*
 * Whether all can go on. `mine` is this rank's status, with its sentence where it is not YK_OK. All
 * ranks return the same: YK_OK, or the failure of the lowest rank that has one, "rank N: " in front
 * of its sentence. With one rank alone, `mine`.
 */
yk_status yk_exchange_agree(const struct yk_ranks *ranks, yk_status mine) YK_MUST_USE;

/* Rank 0's clock (base/clock.h) less this rank's, and how far off that may be. */
struct yk_exchange_clock {
    double offset_s;
    double error_s;
};

yk_status yk_exchange_compare_clocks(const struct yk_ranks *ranks,
                                     struct yk_exchange_clock *out) YK_MUST_USE;

#endif
