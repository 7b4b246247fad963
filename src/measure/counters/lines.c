#include "measure/counters/lines.h"

#include <math.h>

enum {
    MOST_POINTS = 600 /* of a line */
};

static const double AROUND = 0.25;

void yk_counter_reading_sum_add(struct yk_counter_reading_sum *sum,
                                const struct yk_counter_reading *reading)
{
    const double length_s = reading->end_s - reading->begin_s;
    sum->begin_s = sum->seconds > 0 ? sum->begin_s : reading->begin_s;
    sum->end_s = reading->end_s;
    sum->seconds += length_s;
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        if (isfinite(reading->values[c])) {
            sum->weighted[c] += length_s * reading->values[c];
            sum->known_s[c] += length_s;
        }
    }
}

struct yk_counter_reading yk_counter_reading_sum_average(const struct yk_counter_reading_sum *sum)
{
    struct yk_counter_reading average = {.begin_s = sum->begin_s, .end_s = sum->end_s};
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        average.values[c] = sum->known_s[c] > 0 ? sum->weighted[c] / sum->known_s[c] : NAN;
    }
    return average;
}

static yk_status thin(const struct yk_counter_reading *readings, int32_t count, double zero_s,
                      struct yk_arena *arena, struct yk_counter_series *out)
{
    const int32_t together = 1 + (count - 1) / MOST_POINTS;
    YK_TRY_NEW(arena, out->readings, (int64_t)count / together + 2);
    for (int32_t first = 0; first < count; first += together) {
        struct yk_counter_reading_sum sum = {0};
        for (int32_t i = first; i < count && i < first + together; i++) {
            yk_counter_reading_sum_add(&sum, &readings[i]);
        }
        struct yk_counter_reading *point = &out->readings[out->count++];
        *point = yk_counter_reading_sum_average(&sum);
        point->begin_s -= zero_s;
        point->end_s -= zero_s;
    }
    return YK_OK;
}

yk_status yk_counter_line_around(const struct yk_counter_reading *readings, int32_t count,
                                 double begin_s, double end_s, struct yk_arena *arena,
                                 struct yk_counter_series *out)
{
    const double margin_s = AROUND * (end_s - begin_s);
    int32_t first = 0;
    while (first < count && readings[first].end_s <= begin_s - margin_s) {
        first++;
    }
    int32_t end = first;
    while (end < count && readings[end].begin_s < end_s + margin_s) {
        end++;
    }
    return end > first ? thin(readings + first, end - first, begin_s, arena, out) : YK_OK;
}

yk_status yk_counter_line_over(const struct yk_counter_reading *readings, int32_t count,
                               struct yk_arena *arena, struct yk_counter_series *out)
{
    return count > 0 ? thin(readings, count, readings[0].begin_s, arena, out) : YK_OK;
}
