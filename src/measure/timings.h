/*
 * Timings: how long something took, each time it was done, and what counts of it: the median, which
 * a few disturbed runs do not move. A round that did the same work as another but got less of its
 * cores was disturbed by other processes: such rounds can be left out even where they are most of
 * them. Starts as {0}. One thread at a time.
 */
#ifndef YK_MEASURE_TIMINGS_H
#define YK_MEASURE_TIMINGS_H

#include "base/status.h"
#include "profile/profile.h"
#include <stdbool.h>

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

void yk_timings_sort(double *numbers, int32_t count);

/* The median of `numbers`, which are sorted by it; NAN of none. */
double yk_timings_median(double *numbers, int32_t count);

struct yk_timings_round {
    double passed_s;   /* by the clock */
    double computed_s; /* by all threads of this process */
};

/* Marks the rounds that got nearly as much of their cores as the one that got most, and never fewer
 * than `min_count`, or all where there are no more. */
void yk_timings_choose_undisturbed(const struct yk_timings_round *rounds, int32_t count,
                                   int32_t min_count, bool *out);

/* What all threads of this process have computed so far. */
double yk_timings_computed_s(void);

#endif
