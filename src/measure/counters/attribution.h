/* What a gauge has been told: what ran when. For the two files of the gauge alone. */
#ifndef YK_MEASURE_COUNTERS_ATTRIBUTION_H
#define YK_MEASURE_COUNTERS_ATTRIBUTION_H

#include "measure/counters/recorder.h"

enum {
    YK_COUNTER_RECORDER_MAX_KINDS = (YK_COUNTER_MAX_PARTS - YK_COUNTER_PHASE_COUNT) / 2,
    YK_COUNTER_RECORDER_NO_KIND = -1,
};

/* One op, or several of one sort that followed each other. */
struct yk_counter_recorder_interval {
    double begin_s;
    double end_s;
    int16_t phase;
    int16_t kind;
};

/* One step, or an unbroken row of steps or passes. */
struct yk_counter_recorder_span {
    double begin_s;
    double end_s;
};

struct yk_counter_recorder_spans {
    struct yk_counter_recorder_span *all;
    int32_t count;
};

struct yk_counter_recorder {
    struct yk_counter_sampler *sampler;
    struct yk_counter_recorder_interval *intervals;
    int32_t interval_count;
    struct yk_counter_recorder_spans spans;
    struct yk_counter_recorder_spans steps; /* in order; of passes none */
    const char *kinds[YK_COUNTER_RECORDER_MAX_KINDS];
    int32_t kind_count;
    double last_began_s; /* of the step told of last */
    double last_done_s;
};

/* Those that touch the time from `begin_s` to `end_s` or a quarter of that around it, from
 * `begin_s` at 0. In the arena. */
yk_status yk_counter_attribution_line_around(const struct yk_counter_reading *readings,
                                             int32_t count, double begin_s, double end_s,
                                             struct yk_arena *arena,
                                             struct yk_counter_series *out) YK_MUST_USE;

/* All, from the first at 0. In the arena. */
yk_status yk_counter_attribution_line_over(const struct yk_counter_reading *readings, int32_t count,
                                           struct yk_arena *arena,
                                           struct yk_counter_series *out) YK_MUST_USE;

#endif
