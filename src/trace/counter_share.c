/* What parts of a step show: time is divided among them, and readings are explained by them. */
#include "base/arena.h"
#include "trace/bounded_fit.h"
#include "trace/counters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

_Static_assert((int)YK_BOUNDED_FIT_MOST > (int)YK_COUNTER_MOST_PARTS, "parts, and nothing");

/* Of all time, less than this in which nothing ran belongs to what ran around it: it can be told
 * from nothing else, and weighs nothing. */
static const double LEAST_NOTHING = 0.01;
/* What of the misfit a lag must do away with to be believed. */
static const double LEAST_GAIN = 0.1;
/* The error, of the average reading, that leaves a value worth telling. */
static const double MOST_ERROR = 0.2;

enum {
    LAG_READINGS = 2000 /* the latest so many tell of a lag */
};

/* A moment at which a span begins or ends. */
struct edge {
    double at_s;
    int32_t part;
    int32_t change; /* +1, −1 */
};

/* What a stretch of time belongs to. Stretches are in order and do not overlap; where there is
 * none, nothing ran. */
struct stretch {
    double begin_s;
    double end_s;
    int32_t part;
};

struct stretches {
    struct stretch *all;
    int32_t count;
};

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;
    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

/* The lowest part that runs; part_count: none. */
static int32_t owner_of(const int32_t *running, int32_t part_count)
{
    int32_t part = YK_COUNTER_UNKNOWN;
    while (part < part_count && running[part + 1] == 0) {
        part++;
    }
    return part;
}

static void extend(struct stretches *stretches, double begin_s, double end_s, int32_t part)
{
    struct stretch *last = stretches->count > 0 ? &stretches->all[stretches->count - 1] : NULL;
    if (!(end_s > begin_s)) {
        return;
    }
    if (last && last->part == part && last->end_s == begin_s) {
        last->end_s = end_s;
    } else {
        stretches->all[stretches->count++] = (struct stretch){begin_s, end_s, part};
    }
}

static yk_status divide(const struct yk_counter_span *spans, int32_t span_count, int32_t part_count,
                        struct yk_arena *arena, struct stretches *out)
{
    int32_t running[YK_COUNTER_MOST_PARTS + 1] = {0}; /* the first is what is unknown */
    struct edge *edges = NULL;
    int32_t edge_count = 0;
    YK_TRY_NEW(arena, edges, 2 * (int64_t)span_count + 1);
    YK_TRY_NEW(arena, out->all, 2 * (int64_t)span_count + 1);
    for (int32_t i = 0; i < span_count; i++) {
        if (spans[i].end_s > spans[i].begin_s) {
            edges[edge_count++] = (struct edge){spans[i].begin_s, spans[i].part, 1};
            edges[edge_count++] = (struct edge){spans[i].end_s, spans[i].part, -1};
        }
    }
    qsort(edges, (size_t)edge_count, sizeof *edges, compare_edges);
    for (int32_t i = 0; i < edge_count; i++) {
        const int32_t owner = owner_of(running, part_count);
        if (i > 0 && owner < part_count) {
            extend(out, edges[i - 1].at_s, edges[i].at_s, owner);
        }
        running[edges[i].part + 1] += edges[i].change;
    }
    return YK_OK;
}

/* The first stretch that ends after a moment. */
static int32_t first_after(const struct stretches *stretches, double at_s)
{
    int32_t low = 0;
    int32_t high = stretches->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (stretches->all[middle].end_s > at_s) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The seconds of every part in a reading, and last of nothing: (part_count + 1). False where it is
 * not known what ran. */
static bool look_into(const struct yk_counter_reading *reading, double lag_s,
                      const struct stretches *stretches, int32_t part_count, double *out)
{
    const double begin_s = reading->begin_s + lag_s;
    const double end_s = reading->end_s + lag_s;
    double nothing_s = end_s - begin_s;
    if (!(nothing_s > 0)) {
        return false;
    }
    for (int32_t p = 0; p < part_count; p++) {
        out[p] = 0;
    }
    for (int32_t i = first_after(stretches, begin_s);
         i < stretches->count && stretches->all[i].begin_s < end_s; i++) {
        const struct stretch *stretch = &stretches->all[i];
        const double within_s = fmin(stretch->end_s, end_s) - fmax(stretch->begin_s, begin_s);
        if (stretch->part == YK_COUNTER_UNKNOWN) {
            return false;
        }
        out[stretch->part] += within_s;
        nothing_s -= within_s;
    }
    out[part_count] = fmax(nothing_s, 0);
    return true;
}

struct sharing {
    const struct yk_counter_reading *readings;
    int32_t reading_count;
    double lag_s; /* that readings are taken to be late by */
    struct stretches stretches;
    const struct yk_counter_groups *groups;
    int32_t part_count;
    bool nothing;                              /* counts as a part, the last */
    double seconds[YK_COUNTER_MOST_PARTS + 1]; /* of each part in all readings */
    struct yk_bounded_fit fit;
    struct yk_bounded_answer answer;
};

/* Adds up how long each part was seen, and whether nothing was seen long enough to count. */
static void see(struct sharing *sharing)
{
    double seen[YK_COUNTER_MOST_PARTS + 1];
    double all_s = 0;
    for (int32_t i = 0; i < sharing->reading_count; i++) {
        const struct yk_counter_reading *reading = &sharing->readings[i];
        if (look_into(reading, sharing->lag_s, &sharing->stretches, sharing->part_count, seen)) {
            for (int32_t p = 0; p <= sharing->part_count; p++) {
                sharing->seconds[p] += seen[p];
            }
            all_s += reading->end_s - reading->begin_s;
        }
    }
    sharing->nothing = sharing->seconds[sharing->part_count] >= LEAST_NOTHING * all_s;
}

/* One row of a fit: the parts of a reading, together 1. False where there are none. */
static bool make_row(const struct sharing *sharing, const struct yk_counter_reading *reading,
                     double *out)
{
    const int32_t columns = sharing->part_count + (sharing->nothing ? 1 : 0);
    double all_s = 0;
    if (!look_into(reading, sharing->lag_s, &sharing->stretches, sharing->part_count, out)) {
        return false;
    }
    for (int32_t p = 0; p < columns; p++) {
        all_s += out[p];
    }
    for (int32_t p = 0; p < columns; p++) {
        out[p] /= all_s;
    }
    return all_s > 0;
}

static double seconds_of(const struct sharing *sharing, int32_t group)
{
    const bool *members = sharing->groups->members + (int64_t)group * sharing->part_count;
    double sum = 0;
    for (int32_t p = 0; p < sharing->part_count; p++) {
        sum += members[p] ? sharing->seconds[p] : 0;
    }
    return sum;
}

/* The mean of a group's parts, where it is sure enough beside `average`; else NAN. */
static double value_of(const struct sharing *sharing, int32_t group, double average)
{
    const bool *members = sharing->groups->members + (int64_t)group * sharing->part_count;
    const double all_s = seconds_of(sharing, group);
    double weights[YK_COUNTER_MOST_PARTS + 1] = {0};
    double error = INFINITY;
    for (int32_t p = 0; p < sharing->part_count && all_s > 0; p++) {
        weights[p] = members[p] ? sharing->seconds[p] / all_s : 0;
    }
    const double value = all_s > 0 ? yk_bounded_answer_sum(&sharing->answer, weights, &error) : 0;
    return error <= MOST_ERROR * average ? value : NAN;
}

/* Fits a counter; returns the sum of its readings, each by its length. */
static double fit_counter(struct sharing *sharing, enum yk_counter counter)
{
    const int32_t columns = sharing->part_count + (sharing->nothing ? 1 : 0);
    const double most = yk_counter_unit(counter) == YK_COUNTER_PART ? 1 : INFINITY;
    struct yk_bounded_fit *fit = &sharing->fit;
    double parts[YK_COUNTER_MOST_PARTS + 1];
    double sum = 0;
    yk_bounded_fit_begin(fit, columns);
    for (int32_t i = 0; i < sharing->reading_count; i++) {
        const struct yk_counter_reading *reading = &sharing->readings[i];
        const double value = reading->values[counter];
        if (isfinite(value) && make_row(sharing, reading, parts)) {
            const double weight = reading->end_s - reading->begin_s;
            yk_bounded_fit_add(fit, parts, value, weight);
            sum += weight * value;
        }
    }
    yk_bounded_fit_solve(fit, most, &sharing->answer);
    return sum;
}

static void explain(struct sharing *sharing, enum yk_counter counter, double *out)
{
    const double sum = fit_counter(sharing, counter);
    const double weight = sharing->fit.weight;
    for (int32_t g = 0; g < sharing->groups->group_count; g++) {
        out[(int64_t)g * YK_COUNTER_COUNT + counter] =
            value_of(sharing, g, weight > 0 ? sum / weight : 0);
    }
}

/* Makes the parts' stretches and adds up how long each was seen. `*out` is in the arena. */
static yk_status begin(const struct sharing *given, const struct yk_counter_span *spans,
                       int32_t span_count, struct yk_arena *arena, struct sharing **out)
{
    if (given->part_count > YK_COUNTER_MOST_PARTS) {
        return yk_fail(YK_ERROR_INPUT, "readings are to be shared among %d parts, more than %d",
                       (int)given->part_count, YK_COUNTER_MOST_PARTS);
    }
    YK_TRY_NEW(arena, *out, 1);
    **out = *given;
    YK_TRY(divide(spans, span_count, given->part_count, arena, &(*out)->stretches));
    see(*out);
    return YK_OK;
}

yk_status yk_counters_share(const struct yk_counter_reading *readings, int32_t reading_count,
                            const struct yk_counter_span *spans, int32_t span_count,
                            const struct yk_counter_groups *groups, double *out, double *seconds)
{
    const struct sharing given = {.readings = readings,
                                  .reading_count = reading_count,
                                  .groups = groups,
                                  .part_count = groups->part_count};
    struct sharing *sharing = NULL;
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = begin(&given, spans, span_count, arena, &sharing);
    if (status == YK_OK) {
        for (int32_t g = 0; g < groups->group_count; g++) {
            seconds[g] = seconds_of(sharing, g);
        }
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            explain(sharing, (enum yk_counter)c, out);
        }
    }
    yk_arena_destroy(arena);
    return status;
}

/* ---- readings that come late ---- */

/* What of the readings' variance the parts leave unexplained, of all counters that vary. */
static double misfit(struct sharing *sharing, double lag_s)
{
    double left = 0;
    sharing->lag_s = lag_s;
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        const double sum = fit_counter(sharing, (enum yk_counter)c);
        const struct yk_bounded_fit *fit = &sharing->fit;
        const double spread = sharing->answer.spread;
        const double variance = fit->weight > 0 ? fit->square - sum * sum / fit->weight : 0;
        if (isfinite(spread) && variance > 1e-9 * fit->square) {
            left += spread * spread * (double)fit->rows / variance;
        }
    }
    return left;
}

/* The best of so many lags on each side of `around_s`. */
static double try_lags(struct sharing *sharing, double around_s, double step_s, int steps,
                       double *least)
{
    double best_s = around_s;
    for (int i = -steps; i <= steps; i++) {
        const double left = misfit(sharing, around_s + i * step_s);
        if (left < *least) {
            *least = left;
            best_s = around_s + i * step_s;
        }
    }
    return best_s;
}

yk_status yk_counters_find_lag(const struct yk_counter_reading *readings, int32_t reading_count,
                               const struct yk_counter_span *spans, int32_t span_count,
                               int32_t part_count, double *out_s)
{
    const int32_t skipped = reading_count > LAG_READINGS ? reading_count - LAG_READINGS : 0;
    const struct sharing given = {.readings = readings + skipped,
                                  .reading_count = reading_count - skipped,
                                  .part_count = part_count};
    struct sharing *sharing = NULL;
    struct yk_arena *arena = NULL;
    *out_s = 0;
    if (reading_count == 0) {
        return YK_OK;
    }
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = begin(&given, spans, span_count, arena, &sharing);
    if (status == YK_OK) {
        const double length_s =
            (readings[reading_count - 1].end_s - given.readings[0].begin_s) / given.reading_count;
        const double in_time = misfit(sharing, 0);
        double least = in_time;
        const double rough_s = try_lags(sharing, 0, length_s / 20, 10, &least);
        const double fine_s = try_lags(sharing, rough_s, length_s / 100, 4, &least);
        *out_s = least < (1 - LEAST_GAIN) * in_time ? fine_s : 0;
    }
    yk_arena_destroy(arena);
    return status;
}
