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
/* The error, of the average reading, that leaves a value worth telling. */
static const double MOST_ERROR = 0.2;

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
static bool look_into(const struct yk_counter_reading *reading, const struct stretches *stretches,
                      int32_t part_count, double *out)
{
    double nothing_s = reading->end_s - reading->begin_s;
    if (!(nothing_s > 0)) {
        return false;
    }
    for (int32_t p = 0; p < part_count; p++) {
        out[p] = 0;
    }
    for (int32_t i = first_after(stretches, reading->begin_s);
         i < stretches->count && stretches->all[i].begin_s < reading->end_s; i++) {
        const struct stretch *stretch = &stretches->all[i];
        const double within_s =
            fmin(stretch->end_s, reading->end_s) - fmax(stretch->begin_s, reading->begin_s);
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
        if (look_into(reading, &sharing->stretches, sharing->part_count, seen)) {
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
    if (!look_into(reading, &sharing->stretches, sharing->part_count, out)) {
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

static void explain(struct sharing *sharing, enum yk_counter counter, double *out)
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
    const double average = fit->weight > 0 ? sum / fit->weight : 0;
    for (int32_t g = 0; g < sharing->groups->group_count; g++) {
        out[(int64_t)g * YK_COUNTER_COUNT + counter] = value_of(sharing, g, average);
    }
}

yk_status yk_counters_share(const struct yk_counter_reading *readings, int32_t reading_count,
                            const struct yk_counter_span *spans, int32_t span_count,
                            const struct yk_counter_groups *groups, double *out, double *seconds)
{
    struct yk_arena *arena = NULL;
    if (groups->part_count > YK_COUNTER_MOST_PARTS) {
        return yk_fail(YK_ERROR_INPUT, "readings are to be shared among %d parts, more than %d",
                       (int)groups->part_count, YK_COUNTER_MOST_PARTS);
    }
    YK_TRY(yk_arena_create(&arena));
    struct sharing *sharing = yk_arena_take(arena, 1, sizeof *sharing);
    yk_status status = sharing ? YK_OK : yk_fail_out_of_memory();
    if (status == YK_OK) {
        sharing->readings = readings;
        sharing->reading_count = reading_count;
        sharing->groups = groups;
        sharing->part_count = groups->part_count;
        status = divide(spans, span_count, groups->part_count, arena, &sharing->stretches);
    }
    if (status == YK_OK) {
        see(sharing);
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
