/* Curve: interpolates times that were measured at a few sizes (samples or bytes). */
#ifndef YK_COST_CURVE_H
#define YK_COST_CURVE_H

#include "profile/profile.h"

#include <stdbool.h>

enum {
    /* Error of every measurement that its spread does not show: clocks, temperature, memory
     * placement, earlier load. */
    YK_CURVE_MIN_ERROR_PERCENT = 3,
};

struct yk_curve_estimate {
    double seconds;
    double error;  /* relative error that 90 % of such predictions stay within */
    bool measured; /* the curve has a point at exactly this size */
};

/*
 * The time at `size`. The curve has at least one point; its sizes are positive and ascending.
 *
 * Between two points the curve is linear. Beyond its ends it continues the line through the last
 * two points. The slope of that continuation is at least 0, and at most that of a line through the
 * origin. With a single point, time is proportional to size.
 *
 * The error of a point is YK_CURVE_MIN_ERROR_PERCENT plus 2.44 times its spread: half of all normal
 * errors are within the spread, 90 % within 1.645 / 0.6745 times the spread. On a line, the errors
 * of its two points are weighted like their times. Curvature adds the distance from the parabola
 * through a third point, |f[a, b, c]| · |size − a| · |size − b| in Newton's form. Without a third
 * point it adds half of the range allowed by two rules: time does not fall as size grows, and time
 * per unit of size does not rise.
 */
struct yk_curve_estimate yk_curve_interpolate(const struct yk_profile_curve *curve, double size);

#endif
