/*
 * Saturation size: the smallest message that reaches 90 % of a link's bandwidth, computed from
 * times at a few sizes.
 *
 * A line T = α + βs is fitted by the Theil–Sen estimator, so that outliers do not move it. Points
 * that are further from the line than their noise are kept as real properties of the link, such as
 * a change of protocol or a cache. The plateau is the bandwidth 1/β of the largest sizes. The
 * saturation size reaches 90 % of the plateau, and so do twice and four times that size. For points
 * on the line it is 9α/β. Any thread.
 */
#ifndef YK_COST_SATURATION_SIZE_H
#define YK_COST_SATURATION_SIZE_H

#include "cost/cost.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Fraction of the plateau that a large enough message reaches. */
#define YK_SATURATION_SIZE_BANDWIDTH_FRACTION 0.9

struct yk_saturation_size {
    double bytes;                /* size of the whole message */
    double uncertainty;          /* standard error of `bytes`, as a factor of at least 1; INFINITY
                                    means: too few sizes to know */
    double latency_s;            /* α, the time of an empty message */
    double plateau_bytes_per_s;  /* over each link, see yk_saturation_size_link_fraction() */
    bool reached;                /* a measured size saturates; otherwise `bytes` is extrapolated */
    bool exceeds_measured_sizes; /* 4 · `bytes` is larger than all measured sizes */
};

/*
 * The fraction of a message's bytes that crosses each link of a ring of n ranks: (n - 1)/n for
 * "all_gather" and "reduce_scatter", 2(n - 1)/n for "all_reduce", 1 for "send" and copies. Fraction
 * · bytes / seconds is the bus bandwidth, which makes collectives comparable.
 */
double yk_saturation_size_link_fraction(const char *collective, int32_t ranks);

/* Returns false if the curve has less than two sizes. If times do not grow with size, the result is
 * the largest size with `reached` false. At most 64 of the sizes are used. */
bool yk_saturation_size_find(const struct yk_profile_curve *curve, double part,
                             struct yk_saturation_size *out);

/*
 * The saturation size of an all-gather on a ring of `ranks` devices that contains the link between
 * `a` and `b`. Uses the profile's curve of such a gather, or else of a send, which is one round of
 * the ring and thus 1/n of the gather. `*out_bytes` is NAN if neither was measured.
 */
yk_status yk_saturation_size_of_link(const struct yk_cost_sources *sources, int32_t a, int32_t b,
                                     int32_t ranks, double *out_bytes) YK_MUST_USE;

#endif
