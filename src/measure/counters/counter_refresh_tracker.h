/*
 * Refresh tracker: estimates at which times the driver refreshes its counters, and decides when to
 * poll them.
 *
 * Most drivers refresh counters periodically (every 100 ms). The begin and the end of an average
 * are exactly known only if they are at a refresh. The time of a refresh is estimated as the
 * midpoint between the poll before it and the poll after it. The tracker polls only when the next
 * refresh is expected. Counters that are new at every poll are called continuous: then every poll
 * counts as a refresh. Not thread-safe.
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
    int32_t count;    /* number of observed intervals */
    double started_s; /* time of the first poll */
    double polled_s;  /* time of the last poll */
    double fresh_s;   /* time of the last poll that found a refresh, or of the first poll */
    double instant_s; /* time of the last refresh with a known time; NAN means: none yet */
    int32_t passed;   /* number of refreshes since instant_s, with unknown times */
    int32_t misses;   /* number of consecutive refreshes that came earlier than expected */
    bool may_pass;    /* the current wait skips refreshes on purpose */
};

/* Initialises the tracker with an expected interval of 100 ms. */
void yk_counter_refresh_tracker_init(struct yk_counter_refresh_tracker *refresh);

/* Starts or restarts the tracker with a first poll at `now_s`. Keeps the intervals observed so far.
 */
void yk_counter_refresh_tracker_start(struct yk_counter_refresh_tracker *refresh, double now_s);

/* Records a poll at `now_s`. `fresh` says whether the counters were refreshed since the previous
 * poll. Returns whether there was a refresh and its time is known; the time is then in instant_s.
 */
bool yk_counter_refresh_tracker_record_poll(struct yk_counter_refresh_tracker *refresh,
                                            double now_s, bool fresh);

/* Returns the time of the next poll in order to observe a refresh at about `wanted_s`. */
double yk_counter_refresh_tracker_next_poll_s(struct yk_counter_refresh_tracker *refresh,
                                              double wanted_s);

bool yk_counter_refresh_tracker_is_continuous(const struct yk_counter_refresh_tracker *refresh);

#endif
