/*
 * Shares: how many samples of a batch each rank takes, so that the slowest is as fast as can be.
 * Times need not grow in proportion to the samples, a rank may take none, and each has a most.
 */
#ifndef YK_PLANNER_SEARCH_SHARES_H
#define YK_PLANNER_SEARCH_SHARES_H

#include "base/status.h"

#include <stdint.h>

struct yk_shares_problem {
    int32_t rank_count;
    int64_t samples;    /* to be taken by all together */
    int64_t unit;       /* shares are multiples of this; 1 for any number */
    const int64_t *max; /* (rank_count) what a rank's memory allows */
    /* Seconds that `rank` takes for `samples`, from 0 on; it must not fall as samples grow by more
     * than rounding, but need not be a line. */
    yk_status (*time)(void *user, int32_t rank, int64_t samples, double *out_s);
    void *user;
};

/*
 * The shares whose slowest rank is fastest; among those, the ones whose times sum up to least, the
 * lower rank taking more on ties. (With thousands of samples that are all the same to the slowest,
 * sums would take too long and are left alone.) `*out_s` is the time of the slowest.
 * YK_ERROR_NO_FIT when all that the ranks may take is less than the samples.
 */
yk_status yk_shares_find(const struct yk_shares_problem *problem, int64_t *out_shares,
                         double *out_s) YK_MUST_USE;

#endif
