#include "measure/timings.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Of the largest part of its cores that any round got. */
static const double nearly = 0.97;

yk_status yk_timings_add(struct yk_timings *timings, double seconds)
{
    YK_TRY_GROW_ARRAY(timings->seconds, timings->capacity, timings->count);
    timings->seconds[timings->count++] = seconds;
    return YK_OK;
}

void yk_timings_free(struct yk_timings *timings)
{
    free(timings->seconds);
    *timings = (struct yk_timings){0};
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

void yk_timings_sort_numbers(double *numbers, int32_t count)
{
    if (count > 0) {
        qsort(numbers, (size_t)count, sizeof *numbers, compare);
    }
}

double yk_timings_median_of_numbers(double *numbers, int32_t count)
{
    if (count == 0) {
        return NAN;
    }
    yk_timings_sort_numbers(numbers, count);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

struct yk_profile_measurement yk_timings_summarize(struct yk_timings *timings, const char *versions)
{
    const int32_t count = timings->count;
    struct yk_profile_measurement made = {
        .value = yk_timings_median_of_numbers(timings->seconds, count),
        .samples = count,
        .versions = versions,
    };
    if (count > 0) {
        made.min = timings->seconds[0];
        made.max = timings->seconds[count - 1];
    }
    if (made.value > 0) {
        const double low = timings->seconds[count / 4];
        const double high = timings->seconds[count - 1 - count / 4];
        made.spread = (high - low) / 2 / made.value;
    }
    return made;
}

double yk_timings_process_cpu_s(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static double part_of(const struct yk_timings_cpu_usage *round)
{
    return round->passed_s > 0 ? round->computed_s / round->passed_s : 0;
}

/* The round that got most of those that are not marked yet; −1: all are. */
static int32_t best_of(const struct yk_timings_cpu_usage *rounds, int32_t count, const bool *marked)
{
    int32_t best = -1;
    for (int32_t i = 0; i < count; i++) {
        if (!marked[i] && (best < 0 || part_of(&rounds[i]) > part_of(&rounds[best]))) {
            best = i;
        }
    }
    return best;
}

void yk_timings_mark_undisturbed_runs(const struct yk_timings_cpu_usage *rounds, int32_t count,
                                      int32_t min_count, bool *out)
{
    double most = 0;
    for (int32_t i = 0; i < count; i++) {
        most = fmax(most, part_of(&rounds[i]));
        out[i] = false;
    }
    for (int32_t chosen = 0; chosen < count; chosen++) {
        const int32_t best = best_of(rounds, count, out);
        if (chosen >= min_count && part_of(&rounds[best]) < nearly * most) {
            return;
        }
        out[best] = true;
    }
}
