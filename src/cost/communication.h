/*
 * Communication: the time of messages, collectives and host copies.
 *
 * Times come from the profile where it has a curve for the link. Otherwise a message takes
 * latency + bytes / bandwidth, and a collective runs on a ring of n ranks: all_gather and
 * reduce_scatter take (n - 1)(α + Mβ/n) for M bytes, all_reduce takes twice that. α and β are the
 * latency and the inverse bandwidth of the slowest link. With unequal parts, every part counts as
 * large as the largest one, because each round of the ring waits for it.
 */
#ifndef YK_COST_COMMUNICATION_H
#define YK_COST_COMMUNICATION_H

#include "cost/cost.h"

enum yk_collective {
    YK_COLLECTIVE_ALL_GATHER,
    YK_COLLECTIVE_REDUCE_SCATTER,
    YK_COLLECTIVE_ALL_REDUCE,
};

/* The devices of a ring, as indices into the cluster, in ring order. */
struct yk_ring_devices {
    const int32_t *devices;
    int32_t count;
};

/* Time to send `bytes` from one device to another. It is 0 if both are the same device. */
yk_status yk_communication_send_time(const struct yk_cost_sources *sources, int32_t from,
                                     int32_t to, double bytes,
                                     struct yk_cost_time *out) YK_MUST_USE;

/*
 * Describes the link between two devices by one latency and one bandwidth. Uses the profile's send
 * times at `bytes` and 2 · `bytes`, or the cluster's link if there are none.
 */
yk_status yk_communication_effective_link(const struct yk_cost_sources *sources, int32_t a,
                                          int32_t b, double bytes, struct yk_link *out) YK_MUST_USE;

/* Returns the index in `ranks` of the device whose link to its successor is slowest for a message
 * of `part_bytes`. `*out_s` is the time of that message. Only the cluster's links are used. */
int32_t yk_communication_slowest_rank(const struct yk_cluster *cluster,
                                      const struct yk_ring_devices *ranks, double part_bytes,
                                      double *out_s);

/* Time of a collective over `bytes` in total. `largest_part_bytes` is the size of the largest
 * rank's part; 0 means: equal parts. */
yk_status yk_communication_collective_time(const struct yk_cost_sources *sources,
                                           enum yk_collective collective,
                                           const struct yk_ring_devices *ranks, double bytes,
                                           double largest_part_bytes,
                                           struct yk_cost_time *out) YK_MUST_USE;

enum yk_copy_direction {
    YK_COPY_TO_DEVICE,
    YK_COPY_FROM_DEVICE,
};

/* Time to copy `bytes` between a device and its host's memory. It is 0 if the profile has no
 * measurement of it. */
yk_status yk_communication_copy_time(const struct yk_cost_sources *sources, int32_t device,
                                     enum yk_copy_direction direction, double bytes,
                                     struct yk_cost_time *out) YK_MUST_USE;

/* Slowdown factors when computation and communication overlap, at least 1; NAN means: not
 * measured. */
struct yk_communication_overlap_slowdown {
    double compute; /* of computation while a message of the same rank is in flight */
    double message; /* of a message while one of its ranks computes */
};

/* The largest factors over all links of the ring. */
yk_status
yk_communication_overlap_slowdown(const struct yk_cost_sources *sources,
                                  const struct yk_ring_devices *ranks,
                                  struct yk_communication_overlap_slowdown *out) YK_MUST_USE;

#endif
