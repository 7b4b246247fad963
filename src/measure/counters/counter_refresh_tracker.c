#include "measure/counters/counter_refresh_tracker.h"

#include "measure/timings.h"

#include <math.h>
#include <string.h>

static const double expected_s = 0.1; /* until more is known */
static const double poll_s = 1e-3;
static const double slow_poll_s = 1e-2; /* where refreshes stay away */
static const double lead_s = 8e-3;      /* how long before a refresh is expected polls begin, */
static const double min_lead_s = 3e-3;  /* and before it could be, going by those of late */
static const double steady_s = 2e-3;    /* like counters that always are new */

/* Polls so far apart still tell the instant between them; or so large a part of the time since the
 * last one. */
static const double close_s = 4e-3;
static const double close_part = 0.05;

/* Of so many the median is believed: a single strange one is not. */
static const int32_t believed_count = 3;

static void forget(struct yk_counter_refresh_tracker *refresh)
{
    refresh->interval_s = 0;
    refresh->count = 0;
    refresh->misses = 0;
}

void yk_counter_refresh_tracker_init(struct yk_counter_refresh_tracker *refresh)
{
    memset(refresh, 0, sizeof *refresh);
    refresh->interval_s = expected_s;
}

void yk_counter_refresh_tracker_start(struct yk_counter_refresh_tracker *refresh, double now_s)
{
    refresh->started_s = now_s;
    refresh->polled_s = now_s;
    refresh->fresh_s = now_s;
    refresh->instant_s = NAN;
    refresh->passed = 0;
    refresh->misses = 0;
    refresh->may_pass = false;
}

bool yk_counter_refresh_tracker_is_continuous(const struct yk_counter_refresh_tracker *refresh)
{
    return refresh->count >= believed_count && refresh->interval_s <= steady_s;
}

static int32_t kept_count(const struct yk_counter_refresh_tracker *refresh)
{
    return refresh->count < YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS
               ? refresh->count
               : YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS;
}

static void learn(struct yk_counter_refresh_tracker *refresh, double interval_s)
{
    refresh->intervals_s[refresh->count % YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS] = interval_s;
    /* The place of the next one goes round; the count itself stays small. */
    refresh->count = refresh->count < 2 * YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS - 1
                         ? refresh->count + 1
                         : YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS;
    refresh->misses = 0;
    if (refresh->count >= believed_count) {
        double sorted_s[YK_COUNTER_REFRESH_TRACKER_MAX_INTERVALS];
        const int32_t kept = kept_count(refresh);
        memcpy(sorted_s, refresh->intervals_s, sizeof sorted_s[0] * (size_t)kept);
        yk_timings_sort_numbers(sorted_s, kept);
        refresh->interval_s = sorted_s[kept / 2];
    }
}

/* Two in a row, and an interval that never came true is not the right one. */
static void miss(struct yk_counter_refresh_tracker *refresh)
{
    refresh->passed++;
    if (refresh->may_pass || refresh->interval_s == 0) {
        return;
    }
    refresh->misses++;
    if (refresh->misses > 1 || refresh->count < believed_count) {
        forget(refresh);
    }
}

bool yk_counter_refresh_tracker_record_poll(struct yk_counter_refresh_tracker *refresh,
                                            double now_s, bool fresh)
{
    const bool steady = yk_counter_refresh_tracker_is_continuous(refresh);
    const double gap_s = now_s - refresh->polled_s;
    const double last_s = refresh->instant_s;
    refresh->polled_s = now_s;
    if (!fresh) {
        if (steady) {
            forget(refresh);
        }
        return false;
    }
    refresh->fresh_s = now_s;
    const double since_s = now_s - (isnan(last_s) ? refresh->started_s : last_s);
    if (!steady && gap_s > fmax(close_s, close_part * since_s)) {
        miss(refresh);
        return false;
    }
    refresh->instant_s = now_s - 0.5 * gap_s;
    if (!steady && !isnan(last_s) && refresh->passed == 0) {
        learn(refresh, refresh->instant_s - last_s);
    }
    if (yk_counter_refresh_tracker_is_continuous(refresh)) {
        refresh->instant_s = now_s;
    }
    refresh->passed = 0;
    return true;
}

/* How long before a refresh is expected polls begin. */
static double find_lead_s(const struct yk_counter_refresh_tracker *refresh)
{
    const int32_t kept = kept_count(refresh);
    double min_s = refresh->interval_s;
    for (int32_t i = 0; i < kept; i++) {
        min_s = fmin(min_s, refresh->intervals_s[i]);
    }
    const double lead = fmax(lead_s, refresh->interval_s - min_s + min_lead_s);
    return fmin(lead, 0.25 * refresh->interval_s);
}

double yk_counter_refresh_tracker_next_poll_s(struct yk_counter_refresh_tracker *refresh,
                                              double wanted_s)
{
    const double soon_s = refresh->polled_s + poll_s;
    const double interval_s = refresh->interval_s;
    refresh->may_pass = false;
    if (yk_counter_refresh_tracker_is_continuous(refresh)) {
        return fmax(wanted_s, soon_s);
    }
    if (interval_s > 0 && !isnan(refresh->instant_s)) {
        const double first = 1 + refresh->passed;
        const double count = fmax(first, round((wanted_s - refresh->instant_s) / interval_s));
        const double wake_s = refresh->instant_s + count * interval_s - find_lead_s(refresh);
        if (wake_s > soon_s) {
            refresh->may_pass = count > first;
            return wake_s;
        }
    }
    const bool away = refresh->polled_s - refresh->fresh_s > 2 * fmax(interval_s, expected_s);
    return away ? refresh->polled_s + slow_poll_s : soon_s;
}
