/* Curve: interpolates times that were measured at a few sizes (samples or bytes). */
#ifndef YK_COST_CURVE_H
#define YK_COST_CURVE_H

#include "profile/profile.h"

#include <stdbool.h>

enum {
    /* The part of the error of every measurement that is not visible in its spread. Its causes are
     * clocks, temperature, memory placement and earlier load. */
    YK_CURVE_MIN_ERROR_PERCENT = 3,
};

struct yk_curve_estimate {
    double seconds;
    double error;  /* relative; the errors of 90 % of such estimates are at most this large */
    bool measured; /* whether the curve has a point at exactly this size */
};

/*
 * Estimates the time at `size`. The curve must have at least one point. Its sizes must be positive
 * and ascending.
 *
 * Between two points the curve is linear. Beyond each end, the curve continues the line through the
 * two points nearest to that end. The slope of this line is limited: it is at least 0, and at most
 * the slope of a line from the origin to the point at that end. If the curve has only one point,
 * time is proportional to size.
 *
 * The error of a point is YK_CURVE_MIN_ERROR_PERCENT plus 2.44 times its spread. The reason for
 * 2.44: of normally distributed errors, half are within the spread, and 90 % are within 1.645 /
 * 0.6745 times the spread. Between two points, the error is the mean of their errors, weighted in
 * the same way as their times. The curvature of the real curve adds another error. With a third
 * point, it is the distance to the parabola through the three points: |f[a, b, c]| · |size −
 * a| · |size − b| in Newton's form. Without a third point, two rules limit the time: it does not
 * fall as the size grows, and the time per unit of size does not rise. Half of the range between
 * these limits is then added.
 */
struct yk_curve_estimate yk_curve_interpolate(const struct yk_profile_curve *curve, double size);

#endif
