/* Curve: interpolates times that were measured at a few sizes (samples or bytes). */
#ifndef YK_COST_CURVE_H
#define YK_COST_CURVE_H

#include "profile/profile.h"

#include <stdbool.h>

enum {
    /* Every measurement has this error in addition to the error that its spread shows. The causes
     * are clocks, temperature, memory placement and earlier load. */
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
 * The error of a point is YK_CURVE_MIN_ERROR_PERCENT plus 2.44 times its spread: half of all
 * normally distributed errors are within the spread, and 90 % are within 2.44 times the spread.
 *
 * Between two points a and b, the error is the mean of their errors, weighted by the seconds that
 * each point contributes to the time. The curvature of the real curve adds another error:
 *   - If there is a third point c next to a or b, the added error is the distance between the line
 *     through a and b and the parabola through a, b and c. In Newton's form, this distance is
 *     |f[a, b, c]| · |size − size of a| · |size − size of b|.
 *     If both a and b have such a point, the larger distance counts.
 *   - Otherwise two rules limit the time: when the size grows, the time does not fall, and the time
 *     per unit of size does not rise. The added error is half of the range between these limits.
 *
 * Beyond an end, a and b are the two points nearest to that end. The error is the sum of three
 * errors: the error of the point at the end; the added error, as above; and the errors of a and b
 * times (distance from the end) / (distance between a and b). The sum of the second and the third
 * is limited by the two rules.
 */
struct yk_curve_estimate yk_curve_interpolate(const struct yk_profile_curve *curve, double size);

#endif
