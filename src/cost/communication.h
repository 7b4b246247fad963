/*
 * Communication: how long data takes between devices. Without a measured curve a message takes the
 * link's latency and its bytes over the bandwidth, and a collective of n ranks goes around a ring:
 * n - 1 rounds of one part each, (n - 1)(α + Mβ/n) for gather and scatter, twice that for reduce,
 * with α and β of the slowest link of the ring. Where parts are unequal every round waits for the
 * largest, so the largest part counts as if all were so large.
 */
#ifndef YK_COST_COMMUNICATION_H
#define YK_COST_COMMUNICATION_H

#include "cost/cost.h"

enum yk_collective {
    YK_COLLECTIVE_ALL_GATHER,     /* every rank gets all parts */
    YK_COLLECTIVE_REDUCE_SCATTER, /* every rank gets the sum of its part */
    YK_COLLECTIVE_ALL_REDUCE, /* every rank gets the sum of everything: a scatter, then a gather */
};

/* "all_gather", "reduce_scatter", "all_reduce". */
const char *yk_communication_collective_name(enum yk_collective collective);

/* The devices that take part, as numbers of the cluster, in the order of the ring. */
struct yk_ring_devices {
    const int32_t *devices;
    int32_t count;
};

/* `bytes` from one device to another; nothing from a device to itself. */
yk_status yk_communication_send_time(const struct yk_cost_book *book, int32_t from, int32_t to,
                                     double bytes, struct yk_cost_time *out) YK_MUST_USE;

/*
 * The link between two devices as a latency and a bandwidth, for who needs a straight line: the
 * cluster's, or the line through what the profile says about messages of `bytes` and twice that.
 */
yk_status yk_communication_link(const struct yk_cost_book *book, int32_t a, int32_t b, double bytes,
                                struct yk_link *out) YK_MUST_USE;

/* The member whose link to the next one on the ring is slowest for a part of that size, and what
 * that part takes there: the link that a collective is looked up by. */
int32_t yk_communication_slowest_rank(const struct yk_cluster *cluster,
                                      const struct yk_ring_devices *ranks, double part_bytes,
                                      double *out_s);

/* A collective over `bytes` in all, of which the largest part, on whichever rank, is
 * `largest_part_bytes`; 0 means equal parts. */
yk_status yk_communication_collective_time(const struct yk_cost_book *book,
                                           enum yk_collective collective,
                                           const struct yk_ring_devices *ranks, double bytes,
                                           double largest_part_bytes,
                                           struct yk_cost_time *out) YK_MUST_USE;

enum yk_copy_direction {
    YK_COPY_TO_DEVICE,
    YK_COPY_FROM_DEVICE,
};

/* `bytes` between a device and the memory of its host. No time where that was not measured: no
 * datasheet says what a host's memory gives. */
yk_status yk_communication_copy_time(const struct yk_cost_book *book, int32_t device,
                                     enum yk_copy_direction direction, double bytes,
                                     struct yk_cost_time *out) YK_MUST_USE;

/* How many times as long computation takes while a message of its rank is under way, and a message
 * while a rank of it computes; NAN where that was not measured. */
struct yk_communication_slowdown {
    double compute;
    double message;
};

/* The worst along the ring. */
yk_status yk_communication_slowdown(const struct yk_cost_book *book,
                                    const struct yk_ring_devices *ranks,
                                    struct yk_communication_slowdown *out) YK_MUST_USE;

#endif
