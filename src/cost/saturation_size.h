/*
 * Saturation size: the size of the smallest message that reaches 90 % of a link's bandwidth. It is
 * computed from times that were measured at a few sizes.
 *
 * A line T = α + βs (time T, size s) is fitted with the Theil–Sen estimator, so that outliers do
 * not change it. If the distance of a point from the line is larger than its noise, it counts as a
 * real property of the link, such as a change of protocol or a cache. The plateau is the bandwidth
 * 1/β of the largest sizes. Messages of the saturation size reach 90 % of the plateau, and so do
 * messages of twice and four times that size. If all points are on the line, the saturation size is
 * 9α/β. All functions are thread-safe.
 */
#ifndef YK_COST_SATURATION_SIZE_H
#define YK_COST_SATURATION_SIZE_H

#include "cost/cost.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Fraction of the plateau that a message of the saturation size reaches. */
#define YK_SATURATION_SIZE_BANDWIDTH_FRACTION 0.9

struct yk_saturation_size {
    double bytes;       /* size of the whole message */
    double uncertainty; /* standard error of `bytes`, as a factor of at least 1; INFINITY means:
                           unknown, there are too few sizes */
    double latency_s;   /* α, the time of an empty message */
    double plateau_bytes_per_s; /* bandwidth, see yk_saturation_size_bus_bandwidth_factor() */
    bool reached; /* a measured size saturates the link; otherwise `bytes` is extrapolated */
    bool exceeds_measured_sizes; /* 4 · `bytes` is larger than all measured sizes */
};

/*
 * Returns the fraction of a message's bytes that crosses each link of a ring of n ranks. It is
 * (n - 1)/n for "all_gather" and "reduce_scatter", 2(n - 1)/n for "all_reduce", and 1 for "send"
 * and copies. Fraction · bytes / seconds is the bus bandwidth. Bus bandwidths of different
 * collectives can be compared.
 */
double yk_saturation_size_bus_bandwidth_factor(const char *collective, int32_t ranks);

/* Computes the saturation size of a curve. `part` is the value of
 * yk_saturation_size_bus_bandwidth_factor(). Returns false if the curve has fewer than two sizes.
 * If times do not grow with size, the result is the largest size, and `reached` is false. Uses at
 * most 64 of the sizes. */
bool yk_saturation_size_from_curve(const struct yk_profile_curve *curve, double part,
                                   struct yk_saturation_size *out);

/*
 * Computes the saturation size of an all-gather on a ring of `ranks` devices that contains the link
 * between `a` and `b`. Uses the profile's curve of such a gather. If there is none, uses the curve
 * of a send, which is one of the n rounds of the ring and sends 1/n of the bytes. `*out_bytes` is
 * NAN if the profile has neither curve.
 */
yk_status yk_saturation_size_of_all_gather(const struct yk_cost_sources *sources, int32_t a,
                                           int32_t b, int32_t ranks, double *out_bytes) YK_MUST_USE;

#endif
