/* What parts of a step show: readings are explained by what ran during them. */
#include "base/arena.h"
#include "trace/bounded_fit.h"
#include "trace/counter_timeline.h"

#include <math.h>

_Static_assert((int)YK_BOUNDED_FIT_MAX > (int)YK_COUNTER_MAX_PARTS, "parts, and nothing");

enum {
    MAX_COLUMNS = YK_COUNTER_MAX_PARTS + 1,
    MAX_ROUNDS = 6 /* until the spread and the priors agree */
};

/* The mean of the parts is the average reading, known so many times as well as readings tell it. */
static const double MEAN_WEIGHT = 100;
/* Rounding, of the values: no spread is less. */
static const double MIN_SPREAD = 1e-6;

struct sharing {
    const struct yk_counter_reading *readings;
    int32_t reading_count;
    const struct yk_counter_groups *groups;
    struct yk_counter_timeline timeline;
    double mean[MAX_COLUMNS]; /* what each column has of the readings of a counter */
    double average;           /* of them */
    struct yk_bounded_fit fit;
    struct yk_bounded_fit_solution solution;
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
    return yk_counter_unit(counter) == YK_COUNTER_PART ? part
           : counter == YK_COUNTER_CLOCK               ? clock
                                                       : other;
}

/* "Nothing" is a family of its own. */
static int32_t family_of(const struct sharing *sharing, int32_t column)
{
    const struct yk_counter_groups *groups = sharing->groups;
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

/* Adds up the readings of a counter. */
static void add_readings(struct sharing *sharing, enum yk_counter counter)
{
    struct yk_bounded_fit *fit = &sharing->fit;
    double parts[MAX_COLUMNS];
    double sums[MAX_COLUMNS] = {0};
    double sum = 0;
    yk_bounded_fit_begin(fit, yk_counter_timeline_columns(&sharing->timeline));
    for (int32_t i = 0; i < sharing->reading_count; i++) {
        const struct yk_counter_reading *reading = &sharing->readings[i];
        const double value = reading->values[counter];
        if (isfinite(value) && yk_counter_timeline_weigh(&sharing->timeline, reading, 0, parts)) {
            const double weight = reading->end_s - reading->begin_s;
            yk_bounded_fit_add(fit, parts, value, weight);
            sum += weight * value;
            for (int32_t p = 0; p < fit->count; p++) {
                sums[p] += weight * parts[p];
            }
        }
    }
    for (int32_t p = 0; p < fit->count; p++) {
        sharing->mean[p] = fit->weight > 0 ? sums[p] / fit->weight : 0;
    }
    sharing->average = fit->weight > 0 ? sum / fit->weight : 0;
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
    add_readings(sharing, counter);
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

static yk_status begin(const struct sharing *inputs, const struct yk_counter_span *spans,
                       int32_t span_count, struct yk_arena *arena, struct sharing **out)
{
    YK_TRY_NEW(arena, *out, 1);
    **out = *inputs;
    return yk_counter_timeline_make(inputs->readings, inputs->reading_count, spans, span_count,
                                    inputs->groups->part_count, inputs->groups->ends_s, arena,
                                    &(*out)->timeline);
}

yk_status yk_counters_fit_parts(const struct yk_counter_reading *readings, int32_t reading_count,
                                const struct yk_counter_span *spans, int32_t span_count,
                                const struct yk_counter_groups *groups, double *out,
                                double *seconds)
{
    const struct sharing inputs = {
        .readings = readings, .reading_count = reading_count, .groups = groups};
    struct sharing *sharing = NULL;
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = begin(&inputs, spans, span_count, arena, &sharing);
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
