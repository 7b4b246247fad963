#include "trace/counter_timeline.h"

#include <math.h>
#include <stdlib.h>

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
    int32_t part = YK_COUNTER_UNKNOWN;
    while (part < part_count && running[part + 1] == 0) {
        part++;
    }
    return part;
}

static void extend(struct yk_counter_timeline *timeline, double begin_s, double end_s, int32_t part)
{
    struct yk_counter_interval *last =
        timeline->count > 0 ? &timeline->intervals[timeline->count - 1] : NULL;
    if (!(end_s > begin_s)) {
        return;
    }
    if (last && last->part == part && last->end_s == begin_s) {
        last->end_s = end_s;
    } else {
        timeline->intervals[timeline->count++] = (struct yk_counter_interval){begin_s, end_s, part};
    }
}

static yk_status divide(const struct yk_counter_span *spans, int32_t span_count, int32_t part_count,
                        struct yk_arena *arena, struct yk_counter_timeline *out)
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

/* The first stretch that ends after a moment. */
static int32_t first_after(const struct yk_counter_timeline *timeline, double at_s)
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
                           const struct yk_counter_timeline *timeline, double *out)
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
        const struct yk_counter_interval *interval = &timeline->intervals[i];
        const double within_s = fmin(interval->end_s, end_s) - fmax(interval->begin_s, begin_s);
        if (interval->part == YK_COUNTER_UNKNOWN) {
            return false;
        }
        out[interval->part] += within_s;
        nothing_s -= within_s;
    }
    out[part_count] = fmax(nothing_s, 0);
    return true;
}

/* Adds up how long each part was seen, and whether nothing was seen long enough to count. */
static void see(const struct yk_counter_reading *readings, int32_t reading_count,
                struct yk_counter_timeline *timeline)
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

yk_status yk_counter_timeline_make(const struct yk_counter_reading *readings, int32_t reading_count,
                                   const struct yk_counter_span *spans, int32_t span_count,
                                   int32_t part_count, double ends_s, struct yk_arena *arena,
                                   struct yk_counter_timeline *out)
{
    if (part_count > YK_COUNTER_MAX_PARTS) {
        return yk_fail(YK_ERROR_INPUT, "readings are to be shared among %d parts, more than %d",
                       (int)part_count, YK_COUNTER_MAX_PARTS);
    }
    *out = (struct yk_counter_timeline){.part_count = part_count, .ends_s = ends_s};
    YK_TRY(divide(spans, span_count, part_count, arena, out));
    see(readings, reading_count, out);
    return YK_OK;
}

int32_t yk_counter_timeline_columns(const struct yk_counter_timeline *timeline)
{
    return timeline->part_count + (timeline->nothing ? 1 : 0);
}

bool yk_counter_timeline_weigh(const struct yk_counter_timeline *timeline,
                               const struct yk_counter_reading *reading, double lag_s, double *out)
{
    double parts_s[YK_COUNTER_MAX_PARTS + 1];
    const int32_t columns = yk_counter_timeline_columns(timeline);
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
