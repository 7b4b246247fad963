/* Readings that come late: the parts of a step explain them best at the times they are from. */
#include "base/arena.h"
#include "trace/bounded_fit.h"
#include "trace/counter_timeline.h"

#include <math.h>

/* What of the misfit a lag must do away with to be believed; and how many times what one more
 * unknown does away with on average (F of 1 and many: 15 comes by chance once in 10,000 times, of
 * the lags that are tried once in 500). */
static const double MIN_GAIN = 0.1;
static const double MIN_F = 15;
/* A lag this near the farthest one was not found, it was stopped. */
static const double MAX_OF_REACH = 0.95;

enum {
    LAG_READINGS = 2000, /* the latest so many tell of a lag */
    ROUGH_STEPS = 10,    /* on either side */
    FINE_STEPS = 4,
    FINER = 5, /* times as fine */
};

struct search {
    const struct yk_counter_reading *readings;
    int32_t reading_count;
    struct yk_counter_timeline timeline;
    struct yk_bounded_fit fit;
    struct yk_bounded_fit_solution solution;
    int64_t spare; /* rows beyond the unknowns, at the last lag */
};

/* Those that are averages over their reading. */
static bool is_informative(enum yk_counter counter)
{
    return counter != YK_COUNTER_CLOCK && counter != YK_COUNTER_POWER &&
           counter != YK_COUNTER_MEMORY;
}

/* What of a counter's variance the parts leave unexplained; 0 where it does not vary. */
static double misfit_of(struct search *search, double lag_s, enum yk_counter counter)
{
    struct yk_bounded_fit *fit = &search->fit;
    double parts[YK_COUNTER_MAX_PARTS + 1];
    double sum = 0;
    yk_bounded_fit_begin(fit, yk_counter_timeline_columns(&search->timeline));
    for (int32_t i = 0; i < search->reading_count; i++) {
        const struct yk_counter_reading *reading = &search->readings[i];
        const double value = reading->values[counter];
        if (isfinite(value) &&
            yk_counter_timeline_weigh(&search->timeline, reading, lag_s, parts)) {
            const double weight = reading->end_s - reading->begin_s;
            yk_bounded_fit_add(fit, parts, value, weight);
            sum += weight * value;
        }
    }
    const double variance = fit->weight > 0 ? fit->square - sum * sum / fit->weight : 0;
    if (!(variance > 1e-9 * fit->square)) {
        return 0;
    }
    yk_bounded_fit_solve(fit, yk_counter_unit(counter) == YK_COUNTER_PART ? 1 : INFINITY,
                         &search->solution);
    const double spread = search->solution.spread;
    if (!isfinite(spread)) {
        return 0;
    }
    search->spare = search->solution.spare;
    return spread * spread * (double)fit->rows / variance;
}

static double misfit(struct search *search, double lag_s)
{
    double left = 0;
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        left +=
            is_informative((enum yk_counter)c) ? misfit_of(search, lag_s, (enum yk_counter)c) : 0;
    }
    return left;
}

/* The best of so many lags on each side of `around_s`. */
static double try_lags(struct search *search, double around_s, double step_s, int steps,
                       double *lowest)
{
    double best_s = around_s;
    for (int i = -steps; i <= steps; i++) {
        const double left = misfit(search, around_s + i * step_s);
        if (left < *lowest) {
            *lowest = left;
            best_s = around_s + i * step_s;
        }
    }
    return best_s;
}

/* 0 where no lag is believed. */
static double find(struct search *search, double max_s)
{
    const double in_time = misfit(search, 0);
    const double spare = (double)search->spare - 1;
    const double step_s = max_s / ROUGH_STEPS;
    double lowest = in_time;
    if (!(in_time > 0)) {
        return 0;
    }
    double lag_s = try_lags(search, 0, step_s, ROUGH_STEPS, &lowest);
    lag_s = try_lags(search, lag_s, step_s / FINER, FINE_STEPS, &lowest);
    const double gain = in_time - lowest;
    const bool believed = gain > MIN_GAIN * in_time && gain * spare > MIN_F * lowest &&
                          fabs(lag_s) < MAX_OF_REACH * max_s;
    return believed ? lag_s : 0;
}

static yk_status begin(const struct yk_counter_reading *readings, int32_t reading_count,
                       const struct yk_counter_span *spans, int32_t span_count, int32_t part_count,
                       struct yk_arena *arena, struct search **out)
{
    const int32_t skipped = reading_count > LAG_READINGS ? reading_count - LAG_READINGS : 0;
    YK_TRY_NEW(arena, *out, 1);
    (*out)->readings = readings + skipped;
    (*out)->reading_count = reading_count - skipped;
    return yk_counter_timeline_make((*out)->readings, (*out)->reading_count, spans, span_count,
                                    part_count, 0, arena, &(*out)->timeline);
}

yk_status yk_counters_fit_lag(const struct yk_counter_reading *readings, int32_t reading_count,
                              const struct yk_counter_span *spans, int32_t span_count,
                              int32_t part_count, double max_s, double *out_s)
{
    struct search *search = NULL;
    struct yk_arena *arena = NULL;
    *out_s = 0;
    if (reading_count == 0 || !(max_s > 0)) {
        return YK_OK;
    }
    YK_TRY(yk_arena_create(&arena));
    const yk_status status =
        begin(readings, reading_count, spans, span_count, part_count, arena, &search);
    if (status == YK_OK) {
        *out_s = find(search, max_s);
    }
    yk_arena_destroy(arena);
    return status;
}
