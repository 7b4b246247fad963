#include "measure/survey/noise.h"

#include <math.h>
#include <stdlib.h>

static const double shortest_s = 50e-6;

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static int32_t add(const struct yk_profile_measurement *made, double *spreads, int32_t count)
{
    if (made->value >= shortest_s && made->samples > 1 && !isnan(made->spread)) {
        spreads[count++] = made->spread;
    }
    return count;
}

double yk_survey_noise(const struct yk_survey *survey)
{
    double *spreads =
        calloc((size_t)survey->layer_count + (size_t)survey->link_count + 1, sizeof *spreads);
    double noise = NAN;
    int32_t count = 0;
    for (int32_t i = 0; spreads && i < survey->layer_count; i++) {
        count = add(&survey->layers[i].measurement, spreads, count);
    }
    for (int32_t i = 0; spreads && i < survey->link_count; i++) {
        count = add(&survey->links[i].measurement, spreads, count);
    }
    if (count > 0) {
        qsort(spreads, (size_t)count, sizeof *spreads, compare);
        noise = spreads[(3 * (int64_t)count - 1) / 4];
    }
    free(spreads);
    return noise;
}
