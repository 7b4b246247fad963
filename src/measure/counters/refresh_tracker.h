/*
 * Refresh tracker: estimates at which times the driver refreshes its counters, and decides when to
 * poll them.
 *
 * Most drivers refresh counters periodically (every 100 ms). The begin and end of an average are
 * known only at a refresh. The time of a refresh is taken as the midpoint of the two polls around
 * it. The tracker polls only when the next refresh is expected. Counters that differ at every poll
 * are called steady: then every poll counts as a refresh. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_REFRESH_TRACKER_H
#define YK_MEASURE_COUNTERS_REFRESH_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_REFRESH_TRACKER_MAX_INTERVALS =
        15 /* number of recent intervals; their median is expected next */
};

struct yk_refresh_tracker {
    double interval_s; /* expected interval between refreshes; 0: unknown */
    double intervals_s[YK_REFRESH_TRACKER_MAX_INTERVALS];
    int32_t count;    /* number of observed intervals */
    double started_s; /* time of the first poll */
    double polled_s;  /* time of the last poll */
    double fresh_s;   /* time of the last poll that found a refresh; at first: the first poll */
    double instant_s; /* time of the last refresh whose time is known; NAN: none since the start */
    int32_t passed;   /* number of refreshes after that one */
    int32_t misses;   /* consecutive refreshes that came before the expected time */
    bool may_pass;    /* the current wait skips refreshes on purpose */
};

/* Initialises the tracker with an expected interval of 100 ms. */
void yk_refresh_tracker_open(struct yk_refresh_tracker *refresh);

/* Starts with a first poll at `now_s`. Observed intervals are kept. */
void yk_refresh_tracker_start(struct yk_refresh_tracker *refresh, double now_s);

/* Records a poll at `now_s`. `fresh`: the counters were refreshed since the previous poll. Returns
 * whether the time of the refresh is known; it is then in instant_s. */
bool yk_refresh_tracker_poll(struct yk_refresh_tracker *refresh, double now_s, bool fresh);

/* Returns when to poll next in order to observe a refresh at about `wanted_s`. */
double yk_refresh_tracker_next_poll_s(struct yk_refresh_tracker *refresh, double wanted_s);

bool yk_refresh_tracker_is_continuous(const struct yk_refresh_tracker *refresh);

#endif
