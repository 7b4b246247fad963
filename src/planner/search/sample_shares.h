/*
 * Sample shares: divides the samples of a batch among ranks so that the slowest rank is as fast as
 * possible. Times need not be proportional to the number of samples. A rank may get no samples.
 */
#ifndef YK_PLANNER_SEARCH_SAMPLE_SHARES_H
#define YK_PLANNER_SEARCH_SAMPLE_SHARES_H

#include "base/status.h"

#include <stdint.h>

struct yk_sample_shares_problem {
    int32_t rank_count;
    int64_t samples;    /* number of samples of all ranks together */
    int64_t unit;       /* shares are multiples of this, at least 1 */
    const int64_t *max; /* (rank_count) maximum share of each rank, given by its memory */
    /* Computes the time that `rank` needs for `samples` samples, 0 or more. The time must not
     * decrease as `samples` grows, except for rounding errors. */
    yk_status (*time)(void *user, int32_t rank, int64_t samples, double *out_s);
    void *user;
};

/*
 * Finds the shares with the shortest time of the slowest rank, `*out_s`. Of several such shares,
 * chooses those with the smallest sum of the times of all ranks, unless this would take too long to
 * compute. If the sums are also equal, ranks with lower numbers get more samples. Fails with
 * YK_ERROR_NO_FIT if the limits `max` add up to less than `samples`.
 */
yk_status yk_sample_shares_find(const struct yk_sample_shares_problem *problem, int64_t *out_shares,
                                double *out_s) YK_MUST_USE;

#endif
