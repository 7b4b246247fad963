/*
 * Refreshes: when a driver brings its counters up to date, found by polling them, and when to poll.
 *
 * Most drivers do it at an interval of their own (100 ms), and only between two such instants do
 * counters tell an average of known begin and end. An instant is taken as the middle of the two
 * polls around it; between instants nobody polls, since the next one is expected. Counters that are
 * new at every poll are steady: then any moment is such an instant. One thread at a time.
 */
#ifndef YK_MEASURE_COUNTERS_REFRESH_H
#define YK_MEASURE_COUNTERS_REFRESH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_REFRESH_MAX_INTERVALS = 15 /* intervals, whose median is expected */
};

struct yk_refresh {
    double interval_s; /* expected; 0: not known */
    double intervals_s[YK_REFRESH_MAX_INTERVALS];
    int32_t count;    /* of intervals seen */
    double started_s; /* the first poll */
    double polled_s;  /* the last one */
    double fresh_s;   /* the last one that came after a refresh; the first one before that */
    double instant_s; /* of the last refresh whose instant is known; NAN: none since the start */
    int32_t passed;   /* how often there were others since */
    int32_t misses;   /* in a row: a refresh came before it was looked for */
    bool may_pass;    /* the wait goes past refreshes on purpose */
};

/* Nothing is known, 100 ms are expected. */
void yk_refresh_open(struct yk_refresh *refresh);

/* The first poll is at `now_s`, with nothing to compare with. What is known of intervals stays. */
void yk_refresh_start(struct yk_refresh *refresh, double now_s);

/* A poll, which found that counters are `fresh`, that is were refreshed since the last one. True
 * when it is known at which instant (instant_s). */
bool yk_refresh_poll(struct yk_refresh *refresh, double now_s, bool fresh);

/* When to poll next, where a refresh about `wanted_s` is looked for. */
double yk_refresh_next_s(struct yk_refresh *refresh, double wanted_s);

bool yk_refresh_is_steady(const struct yk_refresh *refresh);

#endif
