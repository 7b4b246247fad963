/*
 * Timings: the durations of repeated runs, and their median, which is robust against a few
 * outliers. A run that got less CPU time per second than other runs of the same work was disturbed
 * by other processes. Disturbed runs can be dropped, even if most runs were disturbed. Initialise
 * struct yk_timings to {0}. Not thread-safe.
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

/* Sorts the durations. Returns their median, spread, minimum, maximum and number. The median is NAN
 * if there are no durations. */
struct yk_profile_measurement yk_timings_summarize(struct yk_timings *timings,
                                                   const char *versions);

void yk_timings_sort_numbers(double *numbers, int32_t count);

/* Sorts `numbers` and returns their median; NAN if `count` is 0. */
double yk_timings_median_of_numbers(double *numbers, int32_t count);

struct yk_timings_cpu_usage {
    double passed_s;   /* wall-clock time */
    double computed_s; /* CPU time of all threads of this process */
};

/* A round is one run; the best round has the most CPU time per second. Sets out[i] to true if round
 * i was undisturbed: if it had at least 97% of the CPU time per second of the best round. If fewer
 * than `min_count` rounds were undisturbed, sets out[i] to true for the best `min_count` rounds, or
 * for all rounds if `count` is less than `min_count`. */
void yk_timings_mark_undisturbed_runs(const struct yk_timings_cpu_usage *rounds, int32_t count,
                                      int32_t min_count, bool *out);

/* Returns the CPU time of all threads of this process since the process started. */
double yk_timings_process_cpu_s(void);

#endif
