/*
 * Refresh tracker: estimates at which times the driver refreshes its counters, and decides when the
 * caller should poll them.
 *
 * Most drivers refresh counters periodically (every 100 ms). An average has an exact begin and end
 * only if both are at a refresh. The time of a refresh is estimated as the midpoint between the
 * poll before it and the poll after it. Polls are frequent only around the time at which a refresh
 * is expected. Counters that are new at every poll are called continuous: every poll then counts as
 * a refresh. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_COUNTER_REFRESH_TRACKER_H
#define YK_MEASURE_COUNTERS_COUNTER_REFRESH_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS =
        15 /* number of recent intervals; their median is the expected interval */
};

struct yk_counter_refresh_tracker {
    double interval_s; /* expected interval between two refreshes; 0 means: unknown */
    double intervals_s[YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS];
    /* Number of observed intervals. When there are many, it stays between 15 and 29. */
    int32_t count;
    double started_s; /* time of the first poll after the start */
    double polled_s;  /* time of the last poll */
    double fresh_s;   /* time of the last poll that found a refresh; started_s if none did */
    double instant_s; /* time of the last refresh whose time is known; NAN means: none yet */
    int32_t passed;   /* number of refreshes after instant_s, whose times are not known */
    int32_t misses;   /* number of consecutive refreshes that came earlier than expected */
    bool may_pass;    /* the current wait skips refreshes on purpose */
};

/* Initialises the tracker with an expected interval of 100 ms. */
void yk_counter_refresh_tracker_init(struct yk_counter_refresh_tracker *refresh);

/* Starts or restarts the tracker with a first poll at `now_s`. Keeps the observed intervals. */
void yk_counter_refresh_tracker_start(struct yk_counter_refresh_tracker *refresh, double now_s);

/* Records a poll at `now_s`. `fresh` says whether the counters were refreshed since the previous
 * poll. Returns true if there was a refresh and its time is known; instant_s is then this time. */
bool yk_counter_refresh_tracker_record_poll(struct yk_counter_refresh_tracker *refresh,
                                            double now_s, bool fresh);

/* Returns the time at which the caller should poll next to find a refresh at about `wanted_s`. */
double yk_counter_refresh_tracker_next_poll_s(struct yk_counter_refresh_tracker *refresh,
                                              double wanted_s);

bool yk_counter_refresh_tracker_is_continuous(const struct yk_counter_refresh_tracker *refresh);

#endif
