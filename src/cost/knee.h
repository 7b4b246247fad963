/*
 * Knee: the smallest message that has nine tenths of a link's bandwidth, from times that were
 * measured at a few sizes.
 *
 * A line T = α + βs is laid through the curve by medians (Theil and Sen), so that a size whose
 * messages were held up does not move it; what is further from the line than it spreads is a bend
 * of the link's own, such as another protocol or a cache, and stays. The plateau is what the slope
 * of the largest sizes promises; the knee is the smallest size that has nine tenths of it and has
 * them at twice and four times the size as well. On the line that is 9α/β.
 *
 * Any thread may call this.
 */
#ifndef YK_COST_KNEE_H
#define YK_COST_KNEE_H

#include "cost/cost.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the plateau, what a message has that is large enough. */
#define YK_KNEE_BANDWIDTH_FRACTION 0.9

struct yk_knee {
    double bytes;               /* of the whole message */
    double uncertainty;         /* the standard error of the knee, as a factor of at least 1;
                                   INFINITY where the sizes leave it open */
    double latency_s;           /* α: what an empty message takes */
    double plateau_bytes_per_s; /* over each link, see yk_knee_link_fraction() */
    bool reached;               /* false: no size that was measured has it, the line tells */
    bool beyond; /* four times the knee was not measured: the largest size speaks for it */
};

/*
 * The part of a message's bytes that each link of a ring of so many ranks carries: (n - 1)/n for
 * "all_gather" and "reduce_scatter", 2(n - 1)/n for "all_reduce", 1 for "send" and copies. Times
 * bytes over seconds it is what collectives of all kinds and sizes can be compared by.
 */
double yk_knee_link_fraction(const char *collective, int32_t ranks);

/* False where the curve has less than two sizes. Where messages do not take longer with size, the
 * largest size stands for the knee, which is not reached. Of more than 64 sizes some are passed
 * over. */
bool yk_knee_find(const struct yk_profile_curve *curve, double part, struct yk_knee *out);

/*
 * The knee of gathers among `ranks` that lie on a ring with the link between devices `a` and `b`,
 * from the profile: that of a gather of so many, or of a send, whose knee is a round's, an n-th of
 * the gather's. NAN where neither was measured.
 */
yk_status yk_knee_of_link(const struct yk_cost_book *book, int32_t a, int32_t b, int32_t ranks,
                          double *out_bytes) YK_MUST_USE;

#endif
