/* Gauge lines: readings as lines of a picture: those around a step, those of a whole run, several
 * averaged into one where there are many. */
#ifndef YK_MEASURE_COUNTERS_LINES_H
#define YK_MEASURE_COUNTERS_LINES_H

#include "base/arena.h"
#include "trace/counters_file.h"

/* Readings added up, each by its length. Starts as {0}. */
struct yk_counter_reading_sum {
    double begin_s;
    double end_s;
    double seconds; /* of all together */
    double weighted[YK_COUNTER_COUNT];
    double known_s[YK_COUNTER_COUNT]; /* of those that had a number */
};

void yk_counter_reading_sum_add(struct yk_counter_reading_sum *sum,
                                const struct yk_counter_reading *reading);

/* From the beginning of the first to the end of the last; NAN of what none had a number for. */
struct yk_counter_reading yk_counter_reading_sum_average(const struct yk_counter_reading_sum *sum);

/* Those that touch the time from `begin_s` to `end_s` or a quarter of that around it, from
 * `begin_s` at 0. In the arena. */
yk_status yk_counter_line_around(const struct yk_counter_reading *readings, int32_t count,
                                 double begin_s, double end_s, struct yk_arena *arena,
                                 struct yk_counter_series *out) YK_MUST_USE;

/* All, from the first at 0. In the arena. */
yk_status yk_counter_line_over(const struct yk_counter_reading *readings, int32_t count,
                               struct yk_arena *arena, struct yk_counter_series *out) YK_MUST_USE;

#endif
