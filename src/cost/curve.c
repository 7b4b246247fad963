#include "cost/curve.h"

#include <math.h>

/* The 95th percentile of a normal distribution over its 75th. */
static const double nine_tenths_over_half = 1.6449 / 0.6745;

static double point_error(const struct yk_profile_point *point)
{
    const double spread = isfinite(point->spread) ? fmax(point->spread, 0) : 0;
    return YK_CURVE_MIN_ERROR_PERCENT / 100.0 + nine_tenths_over_half * spread;
}

static double slope_of(const struct yk_profile_point *a, const struct yk_profile_point *b)
{
    return (b->seconds - a->seconds) / (b->size - a->size);
}

/* f[a, b, c], half of the second derivative of the parabola through the three. */
static double bend_of(const struct yk_profile_point *a, const struct yk_profile_point *b,
                      const struct yk_profile_point *c)
{
    return (slope_of(b, c) - slope_of(a, b)) / (c->size - a->size);
}

/* Error in seconds, due to curvature, of the line through points `below` and `below` + 1. */
static double bend_between(const struct yk_profile_curve *curve, int32_t below, double size)
{
    const struct yk_profile_point *a = &curve->points[below];
    const struct yk_profile_point *b = a + 1;
    double bend = 0;
    if (curve->count < 3) {
        const double min_s = fmax(a->seconds, b->seconds * size / b->size);
        const double max_s = fmin(b->seconds, a->seconds * size / a->size);
        return fabs(max_s - min_s) / 2;
    }
    if (below > 0) {
        bend = fabs(bend_of(a - 1, a, b));
    }
    if (below + 2 < curve->count) {
        bend = fmax(bend, fabs(bend_of(a, b, b + 1)));
    }
    return bend * (size - a->size) * (b->size - size);
}

static struct yk_curve_estimate between(const struct yk_profile_curve *curve, int32_t below,
                                        double size)
{
    const struct yk_profile_point *a = &curve->points[below];
    const struct yk_profile_point *b = a + 1;
    const double along = (size - a->size) / (b->size - a->size);
    const double from_a_s = (1 - along) * a->seconds;
    const double from_b_s = along * b->seconds;
    const double seconds = from_a_s + from_b_s;
    const double off_s = from_a_s * point_error(a) + from_b_s * point_error(b);
    return (struct yk_curve_estimate){
        .seconds = seconds,
        .error = (off_s + bend_between(curve, below, size)) / seconds,
    };
}

/* Extrapolates beyond `end`. `inner` and `third` are the next points inwards, or NULL. */
static struct yk_curve_estimate beyond(const struct yk_profile_point *end,
                                       const struct yk_profile_point *inner,
                                       const struct yk_profile_point *third, double size)
{
    const double distance = size - end->size;
    const double steepest = end->seconds / end->size;
    const double slope = inner ? fmin(fmax(slope_of(inner, end), 0), steepest) : steepest;
    const double seconds = end->seconds + slope * distance;
    const double flat_off_s = fabs(slope * distance);
    const double steep_off_s = fabs((steepest - slope) * distance);
    double more_s = (flat_off_s + steep_off_s) / 2;
    if (third) {
        more_s = fabs(bend_of(end, inner, third) * distance * (size - inner->size));
    }
    if (inner) {
        const double carried = distance / (end->size - inner->size); /* positive beyond any end */
        more_s += carried * (end->seconds * point_error(end) + inner->seconds * point_error(inner));
    }
    more_s = fmin(more_s, fmax(flat_off_s, steep_off_s));
    return (struct yk_curve_estimate){
        .seconds = seconds,
        .error = point_error(end) + more_s / seconds,
    };
}

struct yk_curve_estimate yk_curve_interpolate(const struct yk_profile_curve *curve, double size)
{
    const struct yk_profile_point *first = &curve->points[0];
    const int32_t count = curve->count;
    int32_t above = 0;
    while (above < count && first[above].size < size) {
        above++;
    }
    if (above < count && first[above].size == size) {
        return (struct yk_curve_estimate){first[above].seconds, point_error(&first[above]), true};
    }
    if (above == 0) {
        return beyond(first, count > 1 ? first + 1 : NULL, count > 2 ? first + 2 : NULL, size);
    }
    if (above == count) {
        const struct yk_profile_point *last = &first[count - 1];
        return beyond(last, count > 1 ? last - 1 : NULL, count > 2 ? last - 2 : NULL, size);
    }
    return between(curve, above - 1, size);
}
