#include "measure/timings.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

yk_status yk_timings_add(struct yk_timings *timings, double seconds)
{
    YK_TRY(yk_array_grow((void **)&timings->seconds, &timings->capacity, timings->count,
                         sizeof *timings->seconds));
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

double yk_timings_median(double *numbers, int32_t count)
{
    if (count == 0) {
        return NAN;
    }
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

struct yk_profile_measurement yk_timings_summarise(struct yk_timings *timings, const char *versions)
{
    const int32_t count = timings->count;
    struct yk_profile_measurement made = {
        .value = yk_timings_median(timings->seconds, count),
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
