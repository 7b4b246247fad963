/*
 * Saturation size: the size of the smallest message that reaches 90 % of a link's bandwidth. It is
 * computed from times that were measured at a few sizes.
 *
 * A line T = α + βs (time T, size s) is fitted with the Theil–Sen estimator, so that outliers
 * hardly change the line. Points that are more than three times as slow or as fast as their
 * neighbours suggest are ignored. If another point is farther from the line than its noise
 * explains, the distance counts as a real property of the link, for example a change of protocol.
 * The slope β is fitted to the largest sizes; the bandwidth 1/β is called the plateau. Messages of
 * the saturation size reach 90 % of the plateau, and so do messages of twice and four times that
 * size. If all points are on the line, the saturation size is 9α/β. All functions are thread-safe.
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
                           unknown */
    double latency_s;   /* α, the time of an empty message */
    double plateau_bytes_per_s; /* bus bandwidth: the plateau times the factor of
                                   yk_saturation_size_bus_bandwidth_factor() */
    bool reached; /* a size in the measured range saturates the link; false means: `bytes` is
                     extrapolated */
    bool exceeds_measured_sizes; /* 4 · `bytes` is larger than all measured sizes */
};

/*
 * Returns (bytes that cross each link) / (bytes of the message) for a ring of n ranks:
 *   all_gather, reduce_scatter   (n - 1)/n
 *   all_reduce                   2(n - 1)/n
 *   send, copies                 1
 * The bus bandwidth is this factor · bytes / seconds. Bus bandwidths of different collectives can
 * be compared.
 */
double yk_saturation_size_bus_bandwidth_factor(const char *collective, int32_t ranks);

/* Computes the saturation size of a curve. `part` is the result of
 * yk_saturation_size_bus_bandwidth_factor(). Returns false if the curve has fewer than two sizes.
 * If times do not grow with size, `bytes` is the largest measured size, and `reached` is false.
 * Uses at most 64 of the sizes. */
bool yk_saturation_size_from_curve(const struct yk_profile_curve *curve, double part,
                                   struct yk_saturation_size *out);

/*
 * Computes the saturation size of an all-gather on a ring of `ranks` devices that contains the link
 * between `a` and `b`. Uses the profile's curve of all-gathers with this number of ranks. If there
 * is none, uses the curve of sends: in each round of a ring of n ranks, a device sends 1/n of the
 * bytes, so the result is n times the saturation size of a send. Sets `*out_bytes` to NAN if the
 * profile has neither curve.
 */
yk_status yk_saturation_size_of_all_gather(const struct yk_cost_sources *sources, int32_t a,
                                           int32_t b, int32_t ranks, double *out_bytes) YK_MUST_USE;

#endif
