/* Readings of counters, explained by what ran during them; and how late they come. */
#include "trace/counters.h"

#include "base/arena.h"
#include "trace/bounded_fit.h"

#include <math.h>
#include <stdlib.h>

/* What an interval of time belongs to. Intervals are in order and do not overlap; where there is
 * none, nothing ran. */
struct interval {
    double begin_s;
    double end_s;
    int32_t part;
};

struct timeline {
    struct interval *intervals;
    int32_t count;
    int32_t part_count;
    double ends_s; /* how far readings may begin and end from where they say, either way */
    bool nothing;  /* was seen long enough to count as a part, the last */
    double seconds[YK_COUNTER_MAX_PARTS + 1]; /* of each part in all readings, last of nothing */
};

/* Of all time, less than this in which nothing ran belongs to what ran around it: it weighs nothing
 * even where it is a tenth of the shortest part. */
static const double MIN_NOTHING = 1e-4;

enum {
    ENDS_SAMPLES = 5 /* over where a reading may begin and end */
};

/* A moment at which a span begins or ends. */
struct edge {
    double at_s;
    int32_t part;
    int32_t change; /* +1, −1 */
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
    int32_t part = YK_COUNTER_UNKNOWN_PART;
    while (part < part_count && running[part + 1] == 0) {
        part++;
    }
    return part;
}

static void extend(struct timeline *timeline, double begin_s, double end_s, int32_t part)
{
    struct interval *last = timeline->count > 0 ? &timeline->intervals[timeline->count - 1] : NULL;
    if (!(end_s > begin_s)) {
        return;
    }
    if (last && last->part == part && last->end_s == begin_s) {
        last->end_s = end_s;
    } else {
        timeline->intervals[timeline->count++] = (struct interval){begin_s, end_s, part};
    }
}

static yk_status divide(const struct yk_counter_part_span *spans, int32_t span_count,
                        int32_t part_count, struct yk_arena *arena, struct timeline *out)
{
    int32_t running[YK_COUNTER_MAX_PARTS + 1] = {0}; /* the first is what is unknown */
    struct edge *edges = NULL;
    int32_t edge_count = 0;
    YK_TRY_NEW(arena, edges, 2 * (int64_t)span_count + 1);
    YK_TRY_NEW(arena, out->intervals, 2 * (int64_t)span_count + 1);
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

/* The first interval that ends after `at_s`. */
static int32_t first_after(const struct timeline *timeline, double at_s)
{
    int32_t low = 0;
    int32_t high = timeline->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (timeline->intervals[middle].end_s > at_s) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The seconds of every part in a reading, and last of nothing: (part_count + 1). False where it is
 * not known what ran. */
static bool divide_reading(const struct yk_counter_reading *reading, double lag_s,
                           const struct timeline *timeline, double *out)
{
    const double begin_s = reading->begin_s + lag_s;
    const double end_s = reading->end_s + lag_s;
    const int32_t part_count = timeline->part_count;
    double nothing_s = end_s - begin_s;
    if (!(nothing_s > 0)) {
        return false;
    }
    for (int32_t p = 0; p < part_count; p++) {
        out[p] = 0;
    }
    for (int32_t i = first_after(timeline, begin_s);
         i < timeline->count && timeline->intervals[i].begin_s < end_s; i++) {
        const struct interval *interval = &timeline->intervals[i];
        const double within_s = fmin(interval->end_s, end_s) - fmax(interval->begin_s, begin_s);
        if (interval->part == YK_COUNTER_UNKNOWN_PART) {
            return false;
        }
        out[interval->part] += within_s;
        nothing_s -= within_s;
    }
    out[part_count] = fmax(nothing_s, 0);
    return true;
}

/* Sums the time of each part in all readings, and decides whether "nothing ran" is a part. */
static void count_seconds(const struct yk_counter_reading *readings, int32_t reading_count,
                          struct timeline *timeline)
{
    double parts_s[YK_COUNTER_MAX_PARTS + 1];
    double all_s = 0;
    for (int32_t i = 0; i < reading_count; i++) {
        if (divide_reading(&readings[i], 0, timeline, parts_s)) {
            for (int32_t p = 0; p <= timeline->part_count; p++) {
                timeline->seconds[p] += parts_s[p];
            }
            all_s += readings[i].end_s - readings[i].begin_s;
        }
    }
    timeline->nothing = timeline->seconds[timeline->part_count] >= MIN_NOTHING * all_s;
}

static int32_t columns_of(const struct timeline *timeline)
{
    return timeline->part_count + (timeline->nothing ? 1 : 0);
}

static bool weigh_reading(const struct timeline *timeline, const struct yk_counter_reading *reading,
                          double lag_s, double *out)
{
    double parts_s[YK_COUNTER_MAX_PARTS + 1];
    const int32_t columns = columns_of(timeline);
    const int looks = timeline->ends_s > 0 ? ENDS_SAMPLES : 1;
    double all_s = 0;
    for (int32_t p = 0; p < columns; p++) {
        out[p] = 0;
    }
    for (int i = 0; i < looks; i++) {
        const double off_s = timeline->ends_s * ((2.0 * i + 1) / looks - 1);
        if (!divide_reading(reading, lag_s + off_s, timeline, parts_s)) {
            return false;
        }
        for (int32_t p = 0; p < columns; p++) {
            out[p] += parts_s[p];
            all_s += parts_s[p];
        }
    }
    for (int32_t p = 0; p < columns && all_s > 0; p++) {
        out[p] /= all_s;
    }
    return all_s > 0;
}

_Static_assert((int)YK_BOUNDED_FIT_MAX_UNKNOWNS > (int)YK_COUNTER_MAX_PARTS, "parts, and nothing");

enum {
    MAX_COLUMNS = YK_COUNTER_MAX_PARTS + 1,
    MAX_ROUNDS = 6 /* until the spread and the priors agree */
};

/* Weight of the prior that the mean of the parts is the average reading, relative to all readings.
 */
static const double MEAN_WEIGHT = 100;
/* Rounding, of the values: no spread is less. */
static const double MIN_SPREAD = 1e-6;

struct sharing {
    const struct yk_counter_reading *readings;
    int32_t reading_count;
    const struct yk_counter_part_groups *groups; /* NULL in the search for a lag */
    struct timeline timeline;
    double mean[MAX_COLUMNS]; /* what each column has of the readings of a counter */
    double sum;               /* of these readings, by their lengths */
    double average;           /* of them */
    struct yk_bounded_fit fit;
    struct yk_bounded_fit_solution solution;
    int64_t degrees_of_freedom; /* at the last lag */
};

/* What is held of a counter before it is read, as standard deviations, and what error leaves a
 * value worth telling. */
struct scale {
    double families; /* of a family's mean from the average */
    double members;  /* of a part from its family's mean */
    double nothing;  /* of what shows while nothing runs from 0 */
    double max_error;
    double max; /* no value is above it */
};

static struct scale scale_of(enum yk_counter counter, double average)
{
    const struct scale part = {0.5, 0.25, 0.1, fmin(0.05 + 0.2 * average, 0.1), 1};
    const struct scale clock = {0.1 * average, 0.05 * average, 10 * average, 0.02 * average,
                                INFINITY};
    const struct scale other = {10 * average, 0.5 * average, 10 * average, 0.2 * average, INFINITY};
    return yk_counter_get_unit(counter) == YK_COUNTER_UNIT_FRACTION ? part
           : counter == YK_COUNTER_CLOCK                            ? clock
                                                                    : other;
}

/* "Nothing" is a family of its own. */
static int32_t family_of(const struct sharing *sharing, int32_t column)
{
    const struct yk_counter_part_groups *groups = sharing->groups;
    return groups->families && column < groups->part_count ? groups->families[column] : column;
}

/* What each column has of a family's time: (columns). False of a family that was not seen. */
static bool weigh_family(const struct sharing *sharing, int32_t family, double *out)
{
    double all = 0;
    for (int32_t p = 0; p < sharing->fit.count; p++) {
        out[p] = family_of(sharing, p) == family ? sharing->mean[p] : 0;
        all += out[p];
    }
    for (int32_t p = 0; p < sharing->fit.count && all > 0; p++) {
        out[p] /= all;
    }
    return all > 0;
}

/* What is likely of a family and of its members, where a row of weight 1 spreads by `spread`. */
static void add_family_priors(struct sharing *sharing, int32_t family, const struct scale *scale,
                              double spread)
{
    double weights[MAX_COLUMNS] = {0};
    double apart[MAX_COLUMNS] = {0};
    if (!weigh_family(sharing, family, weights)) {
        return;
    }
    const bool nothing = family == sharing->timeline.part_count;
    const double likely = nothing ? scale->nothing : scale->families;
    yk_bounded_fit_add_prior(&sharing->fit, weights, nothing ? 0 : sharing->average,
                             spread * spread / (likely * likely));
    for (int32_t member = 0; member < sharing->fit.count; member++) {
        if (weights[member] > 0 && weights[member] < 1) {
            for (int32_t p = 0; p < sharing->fit.count; p++) {
                apart[p] = (p == member ? 1 : 0) - weights[p];
            }
            yk_bounded_fit_add_prior(&sharing->fit, apart, 0,
                                     spread * spread / (scale->members * scale->members));
        }
    }
}

/* Adds up the readings of a counter, with their times moved by `lag_s`. */
static void add_readings(struct sharing *sharing, enum yk_counter counter, double lag_s)
{
    struct yk_bounded_fit *fit = &sharing->fit;
    double parts[MAX_COLUMNS];
    double sums[MAX_COLUMNS] = {0};
    sharing->sum = 0;
    yk_bounded_fit_begin(fit, columns_of(&sharing->timeline));
    for (int32_t i = 0; i < sharing->reading_count; i++) {
        const struct yk_counter_reading *reading = &sharing->readings[i];
        const double value = reading->values[counter];
        if (isfinite(value) && weigh_reading(&sharing->timeline, reading, lag_s, parts)) {
            const double weight = reading->end_s - reading->begin_s;
            yk_bounded_fit_add_row(fit, parts, value, weight);
            sharing->sum += weight * value;
            for (int32_t p = 0; p < fit->count; p++) {
                sums[p] += weight * parts[p];
            }
        }
    }
    for (int32_t p = 0; p < fit->count; p++) {
        sharing->mean[p] = fit->weight > 0 ? sums[p] / fit->weight : 0;
    }
    sharing->average = fit->weight > 0 ? sharing->sum / fit->weight : 0;
}

/* How much what is likely weighs depends on the spread around the answer, and the other way round:
 * from no priors at all, a few rounds make both agree. */
static void fit_counter(struct sharing *sharing, const struct scale *scale)
{
    struct yk_bounded_fit *fit = &sharing->fit;
    const double lowest = MIN_SPREAD * sqrt(fit->square / (double)(fit->rows > 0 ? fit->rows : 1));
    double spread = 0;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        yk_bounded_fit_clear_priors(fit);
        yk_bounded_fit_add_prior(fit, sharing->mean, sharing->average, MEAN_WEIGHT * fit->weight);
        for (int32_t family = 0; spread > 0 && family < fit->count; family++) {
            add_family_priors(sharing, family, scale, spread);
        }
        yk_bounded_fit_solve(fit, scale->max, &sharing->solution);
        spread = fmax(sharing->solution.spread, lowest);
        if (!isfinite(spread)) {
            return;
        }
    }
    sharing->solution.spread = spread;
}

static double seconds_of(const struct sharing *sharing, int32_t group)
{
    const int32_t part_count = sharing->timeline.part_count;
    const bool *members = sharing->groups->members + (int64_t)group * part_count;
    double sum = 0;
    for (int32_t p = 0; p < part_count; p++) {
        sum += members[p] ? sharing->timeline.seconds[p] : 0;
    }
    return sum;
}

/* The mean of a group's parts, where it is sure enough; else NAN. */
static double value_of(const struct sharing *sharing, int32_t group, double max_error)
{
    const int32_t part_count = sharing->timeline.part_count;
    const bool *members = sharing->groups->members + (int64_t)group * part_count;
    const double all_s = seconds_of(sharing, group);
    double weights[MAX_COLUMNS] = {0};
    double error = INFINITY;
    for (int32_t p = 0; p < part_count && all_s > 0; p++) {
        weights[p] = members[p] ? sharing->timeline.seconds[p] / all_s : 0;
    }
    const double value =
        all_s > 0 ? yk_bounded_fit_weighted_sum(&sharing->solution, weights, &error) : 0;
    return error <= max_error ? value : NAN;
}

static void explain(struct sharing *sharing, enum yk_counter counter, double *out)
{
    add_readings(sharing, counter, 0);
    const struct scale scale = scale_of(counter, sharing->average);
    /* What never shows anything shows nothing in any part. */
    const bool shows = sharing->average > 0;
    if (shows) {
        fit_counter(sharing, &scale);
    }
    for (int32_t g = 0; g < sharing->groups->group_count; g++) {
        const bool visible = sharing->fit.rows > 0 && seconds_of(sharing, g) > 0;
        out[(int64_t)g * YK_COUNTER_COUNT + counter] =
            shows ? value_of(sharing, g, scale.max_error) : (visible ? 0 : NAN);
    }
}

static yk_status begin_sharing(const struct yk_counter_reading *readings, int32_t reading_count,
                               const struct yk_counter_part_span *spans, int32_t span_count,
                               int32_t part_count, double ends_s, struct yk_arena *arena,
                               struct sharing **out)
{
    struct sharing *sharing = NULL;
    if (part_count > YK_COUNTER_MAX_PARTS) {
        return yk_fail(YK_ERROR_INPUT, "readings are to be shared among %d parts, more than %d",
                       (int)part_count, YK_COUNTER_MAX_PARTS);
    }
    YK_TRY_NEW(arena, sharing, 1);
    sharing->readings = readings;
    sharing->reading_count = reading_count;
    sharing->timeline = (struct timeline){.part_count = part_count, .ends_s = ends_s};
    YK_TRY(divide(spans, span_count, part_count, arena, &sharing->timeline));
    count_seconds(readings, reading_count, &sharing->timeline);
    *out = sharing;
    return YK_OK;
}

yk_status yk_counters_fit_part_groups(const struct yk_counter_reading *readings,
                                      int32_t reading_count,
                                      const struct yk_counter_part_span *spans, int32_t span_count,
                                      const struct yk_counter_part_groups *groups, double *out,
                                      double *seconds)
{
    struct sharing *sharing = NULL;
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = begin_sharing(readings, reading_count, spans, span_count,
                                           groups->part_count, groups->ends_s, arena, &sharing);
    if (status == YK_OK) {
        sharing->groups = groups;
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

/* What of the misfit a lag must do away with to be believed; and how many times what one more
 * unknown does away with on average (F of 1 and many: 15 comes by chance once in 10,000 times, of
 * the lags that are tried once in 500). */
static const double MIN_GAIN = 0.1;
static const double MIN_F = 15;
/* A lag this near the farthest one was not found, it was stopped. */
static const double MAX_OF_REACH = 0.95;

enum {
    LAG_READINGS = 2000, /* the lag is fitted to the latest readings */
    ROUGH_STEPS = 10,    /* on either side */
    FINE_STEPS = 4,
    FINER = 5, /* times as fine */
};

/* Those that are averages over their reading. */
static bool is_informative(enum yk_counter counter)
{
    return counter != YK_COUNTER_CLOCK && counter != YK_COUNTER_POWER &&
           counter != YK_COUNTER_MEMORY;
}

/* What of a counter's variance the parts leave unexplained; 0 where it does not vary. */
static double misfit_of(struct sharing *sharing, double lag_s, enum yk_counter counter)
{
    const struct yk_bounded_fit *fit = &sharing->fit;
    add_readings(sharing, counter, lag_s);
    const double variance =
        fit->weight > 0 ? fit->square - sharing->sum * sharing->sum / fit->weight : 0;
    if (!(variance > 1e-9 * fit->square)) {
        return 0;
    }
    yk_bounded_fit_solve(fit,
                         yk_counter_get_unit(counter) == YK_COUNTER_UNIT_FRACTION ? 1 : INFINITY,
                         &sharing->solution);
    const double spread = sharing->solution.spread;
    if (!isfinite(spread)) {
        return 0;
    }
    sharing->degrees_of_freedom = sharing->solution.degrees_of_freedom;
    return spread * spread * (double)fit->rows / variance;
}

static double misfit(struct sharing *sharing, double lag_s)
{
    double left = 0;
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        left +=
            is_informative((enum yk_counter)c) ? misfit_of(sharing, lag_s, (enum yk_counter)c) : 0;
    }
    return left;
}

/* The best of `steps` lags on each side of `around_s`. */
static double try_lags(struct sharing *sharing, double around_s, double step_s, int steps,
                       double *lowest)
{
    double best_s = around_s;
    for (int i = -steps; i <= steps; i++) {
        const double left = misfit(sharing, around_s + i * step_s);
        if (left < *lowest) {
            *lowest = left;
            best_s = around_s + i * step_s;
        }
    }
    return best_s;
}

/* 0 where no lag is believed. */
static double find(struct sharing *sharing, double max_s)
{
    const double in_time = misfit(sharing, 0);
    const double spare = (double)sharing->degrees_of_freedom - 1;
    const double step_s = max_s / ROUGH_STEPS;
    double lowest = in_time;
    if (!(in_time > 0)) {
        return 0;
    }
    double lag_s = try_lags(sharing, 0, step_s, ROUGH_STEPS, &lowest);
    lag_s = try_lags(sharing, lag_s, step_s / FINER, FINE_STEPS, &lowest);
    const double gain = in_time - lowest;
    const bool believed = gain > MIN_GAIN * in_time && gain * spare > MIN_F * lowest &&
                          fabs(lag_s) < MAX_OF_REACH * max_s;
    return believed ? lag_s : 0;
}

yk_status yk_counters_fit_driver_lag(const struct yk_counter_reading *readings,
                                     int32_t reading_count,
                                     const struct yk_counter_part_span *spans, int32_t span_count,
                                     int32_t part_count, double max_s, double *out_s)
{
    const int32_t skipped = reading_count > LAG_READINGS ? reading_count - LAG_READINGS : 0;
    struct yk_arena *arena = NULL;
    struct sharing *sharing = NULL;
    *out_s = 0;
    if (reading_count == 0 || !(max_s > 0)) {
        return YK_OK;
    }
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = begin_sharing(readings + skipped, reading_count - skipped, spans,
                                           span_count, part_count, 0, arena, &sharing);
    *out_s = status == YK_OK ? find(sharing, max_s) : 0;
    yk_arena_destroy(arena);
    return status;
}
