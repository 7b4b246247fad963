#include "cost/cost.h"

#include "base/json_write.h"

#include <math.h>
#include <stdint.h>

void yk_error_band_add_time(struct yk_error_band *band, const struct yk_cost_time_estimate *time,
                            double seconds)
{
    band->origin_s[time->origin] += seconds;
    band->error_s[time->origin] += seconds * time->error;
}

static double sum_of(const double *values)
{
    double sum = 0;
    for (int origin = 0; origin < YK_COST_ORIGIN_COUNT; origin++) {
        sum += values[origin];
    }
    return sum;
}

double yk_error_band_relative_error(const struct yk_error_band *band)
{
    const double sum_s = sum_of(band->origin_s);
    return sum_s > 0 ? sum_of(band->error_s) / sum_s : 0;
}

double yk_error_band_origin_fraction(const struct yk_error_band *band, enum yk_cost_origin origin)
{
    const double sum_s = sum_of(band->origin_s);
    return sum_s > 0 ? band->origin_s[origin] / sum_s : 0;
}

/* Smaller fractions would be printed as 0 %. */
static const double min_shown = 0.005;

void yk_error_band_describe_origins(const struct yk_error_band *band, struct yk_text *out)
{
    int32_t shown = 0;
    for (int origin = 0; origin < YK_COST_ORIGIN_COUNT; origin++) {
        shown +=
            yk_error_band_origin_fraction(band, (enum yk_cost_origin)origin) >= min_shown ? 1 : 0;
    }
    const char *between = "";
    for (int origin = 0; origin < YK_COST_ORIGIN_COUNT; origin++) {
        const double part = yk_error_band_origin_fraction(band, (enum yk_cost_origin)origin);
        if (part < min_shown) {
            continue;
        }
        yk_text_add(out, between);
        yk_cost_describe_origin((enum yk_cost_origin)origin, out);
        if (shown > 1) {
            yk_text_addf(out, " (%.0f %% of the time)", 100 * part);
        }
        between = "; ";
    }
}

/* Four decimals: the values are not known more precisely. */
static void write_rounded(struct yk_json_writer *json, const char *key, double value)
{
    yk_json_write_number(json, key, round(1e4 * value) / 1e4);
}

void yk_error_band_write_json_members(const struct yk_error_band *band, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .needs_comma = true};
    write_rounded(&json, "error", yk_error_band_relative_error(band));
    yk_json_write_begin_object(&json, "origins");
    for (int origin = 0; origin < YK_COST_ORIGIN_COUNT; origin++) {
        const double part = yk_error_band_origin_fraction(band, (enum yk_cost_origin)origin);
        if (part >= 0.5e-4) {
            write_rounded(&json, yk_cost_origin_name((enum yk_cost_origin)origin), part);
        }
    }
    yk_json_write_end_object(&json);
}
