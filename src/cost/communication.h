/*
 * Communication: the time of messages, collectives and host copies.
 *
 * If the profile has a curve for the link, times come from this curve. Otherwise they are:
 *   message                      latency + bytes / bandwidth
 *   all_gather, reduce_scatter   (n - 1)(α + Mβ/n) for M bytes on a ring of n ranks
 *   all_reduce                   twice the time of all_gather
 * α and β are the latency and the inverse bandwidth of the slowest link of the ring.
 *
 * A part is what one rank contributes to an all_gather or receives from a reduce_scatter. If parts
 * have different sizes, every part counts as large as the largest part, because in each round of
 * the ring all ranks wait for the largest part.
 */
#ifndef YK_COST_COMMUNICATION_H
#define YK_COST_COMMUNICATION_H

#include "cost/cost.h"

enum yk_collective {
    YK_COLLECTIVE_ALL_GATHER,
    YK_COLLECTIVE_REDUCE_SCATTER,
    YK_COLLECTIVE_ALL_REDUCE,
};

/* The devices of a ring, as indices into the cluster. Each device sends to the next device in the
 * array; the last device sends to the first. */
struct yk_ring_devices {
    const int32_t *devices;
    int32_t count;
};

/* Computes the time to send `bytes` from one device to another. The time is 0 if both are the same
 * device. */
yk_status yk_communication_send_time(const struct yk_cost_sources *sources, int32_t from,
                                     int32_t to, double bytes,
                                     struct yk_cost_time_estimate *out) YK_MUST_USE;

/*
 * Describes the link between two devices with one latency and one bandwidth. Computes them from the
 * profile's send times at `bytes` and 2 · `bytes`. If the profile has no send times for the link,
 * copies the link from the cluster.
 */
yk_status yk_communication_effective_link(const struct yk_cost_sources *sources, int32_t a,
                                          int32_t b, double bytes, struct yk_link *out) YK_MUST_USE;

/* Finds the link of the ring on which a message of `part_bytes` takes longest. Returns the index in
 * `ranks` of the device that sends on this link, and sets `*out_s` to the time of the message. Uses
 * only the cluster's links, not the profile. */
int32_t yk_communication_slowest_ring_link(const struct yk_cluster *cluster,
                                           const struct yk_ring_devices *ranks, double part_bytes,
                                           double *out_s);

/* Computes the time of a collective. `bytes` is the size of all parts together.
 * `largest_part_bytes` is the size of the largest part; 0 means: all parts are equal. */
yk_status yk_communication_collective_time(const struct yk_cost_sources *sources,
                                           enum yk_collective collective,
                                           const struct yk_ring_devices *ranks, double bytes,
                                           double largest_part_bytes,
                                           struct yk_cost_time_estimate *out) YK_MUST_USE;

/* Computes the time to copy `bytes` from the memory of the host to a device. The time is 0 if the
 * profile has no measurement of such copies. */
yk_status yk_communication_copy_to_device_time(const struct yk_cost_sources *sources,
                                               int32_t device, double bytes,
                                               struct yk_cost_time_estimate *out) YK_MUST_USE;

/* Slowdown factors while computation and communication overlap. Each is at least 1; NAN means: not
 * measured. */
struct yk_communication_overlap_slowdown {
    double compute; /* factor on a rank's compute time while it sends or receives a message */
    double message; /* factor on a message's time while its sender or its receiver computes */
};

/* Finds the largest value of each factor among all links of the ring. */
yk_status
yk_communication_overlap_slowdown(const struct yk_cost_sources *sources,
                                  const struct yk_ring_devices *ranks,
                                  struct yk_communication_overlap_slowdown *out) YK_MUST_USE;

#endif
