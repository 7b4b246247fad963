/*
 * What ran while a reading was taken: time divided among the parts of a step, and what of it each
 * reading saw. What is made is in the caller's arena; reading it is for any thread.
 */
#ifndef YK_TRACE_COUNTER_TIMELINE_H
#define YK_TRACE_COUNTER_TIMELINE_H

#include "base/arena.h"
#include "trace/counters.h"

/* What a stretch of time belongs to. Stretches are in order and do not overlap; where there is
 * none, nothing ran. */
struct yk_counter_interval {
    double begin_s;
    double end_s;
    int32_t part;
};

struct yk_counter_timeline {
    struct yk_counter_interval *intervals;
    int32_t count;
    int32_t part_count;
    double ends_s; /* how far readings may begin and end from where they say, either way */
    bool nothing;  /* was seen long enough to count as a part, the last */
    double seconds[YK_COUNTER_MAX_PARTS + 1]; /* of each part in all readings, last of nothing */
};

/* Fails where there are more than YK_COUNTER_MAX_PARTS parts. */
yk_status yk_counter_timeline_make(const struct yk_counter_reading *readings, int32_t reading_count,
                                   const struct yk_counter_span *spans, int32_t span_count,
                                   int32_t part_count, double ends_s, struct yk_arena *arena,
                                   struct yk_counter_timeline *out) YK_MUST_USE;

/* Parts, and nothing where it counts. */
int32_t yk_counter_timeline_columns(const struct yk_counter_timeline *timeline);

/* What each part has of a reading taken `lag_s` later than it says, together 1: (columns). It is
 * the mean over where the reading may begin and end, so that a part as short as that is not taken
 * for more or less than it is. False where it is not known what ran, or nothing that counts did. */
bool yk_counter_timeline_weigh(const struct yk_counter_timeline *timeline,
                               const struct yk_counter_reading *reading, double lag_s, double *out);

#endif
