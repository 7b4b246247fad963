/*
 * Sample shares: divides the samples of a batch over ranks so that the slowest rank is as fast as
 * possible. Times need not be proportional to samples. A rank may get no samples.
 */
#ifndef YK_PLANNER_SEARCH_SAMPLE_SHARES_H
#define YK_PLANNER_SEARCH_SAMPLE_SHARES_H

#include "base/status.h"

#include <stdint.h>

struct yk_sample_shares_problem {
    int32_t rank_count;
    int64_t samples;    /* in total */
    int64_t unit;       /* shares are multiples of this, at least 1 */
    const int64_t *max; /* (rank_count) limit of a rank, given by its memory */
    /* Time of `rank` for `samples`, 0 or more. It must not decrease as samples grow, except by
     * rounding. */
    yk_status (*time)(void *user, int32_t rank, int64_t samples, double *out_s);
    void *user;
};

/*
 * Minimises the time of the slowest rank, `*out_s`. Among such shares it minimises the sum of
 * times, unless that would be too slow; on ties, lower ranks get more. YK_ERROR_NO_FIT if the
 * limits add up to less than `samples`.
 */
yk_status yk_sample_shares_find(const struct yk_sample_shares_problem *problem, int64_t *out_shares,
                                double *out_s) YK_MUST_USE;

#endif
