/*
 * Timings: how long something took, each time it was done, and what to believe of it: the median,
 * which a few disturbed runs do not move.
 *
 * Starts as {0}. One thread at a time.
 */
#ifndef YK_MEASURE_TIMINGS_H
#define YK_MEASURE_TIMINGS_H

#include "base/status.h"
#include "profile/profile.h"

#include <stdint.h>

struct yk_timings {
    double *seconds;
    int32_t count;
    int32_t capacity;
};

yk_status yk_timings_add(struct yk_timings *timings, double seconds) YK_MUST_USE;
void yk_timings_free(struct yk_timings *timings);

/* The median, the spread around it, the fastest, the slowest and how many there are; sorts them.
 * NAN where there are none. */
struct yk_profile_measurement yk_timings_summarise(struct yk_timings *timings,
                                                   const char *versions);

/* The median of `numbers`, which are sorted by it; NAN of none. */
double yk_timings_median(double *numbers, int32_t count);

#endif
