/* Curve: what times measured at a few sizes (samples, bytes) say about the sizes between. */
#ifndef YK_COST_CURVE_H
#define YK_COST_CURVE_H

#include "profile/profile.h"

#include <stdbool.h>

enum {
    /* What repeating at once does not show, and so no spread contains: clocks, heat, where memory
     * lies, what ran before. */
    YK_CURVE_FLOOR_PERCENT = 3,
};

/* What a curve says about a size. */
struct yk_curve_value {
    double seconds;
    double error;  /* nine tenths of such times are no further off than this part of them */
    bool measured; /* at this very size */
};

/*
 * The time at `size`. The curve has at least one point; sizes are positive and rise.
 *
 * Between two points it is on the straight line through them. Beyond the ends it continues from the
 * last point as the line through the last two does, so that a device that takes a + b·size is known
 * from any two points; but neither so flat that more would take less, nor so steep that nothing
 * would take less than nothing: with one point it is proportional to the size.
 *
 * Error. A point is off by YK_CURVE_FLOOR_PERCENT and what its spread says: of normal errors, half
 * are within the spread, and nine tenths within 1.645 / 0.6745 = 2.44 times that. A line carries
 * the errors of its two points in proportion to their weight; beyond the ends the weights grow with
 * the distance. Added is how far the line is from the parabola through a third point next to the
 * two, |f[a, b, c]| · |size − a| · |size − b| by Newton's form. Where there is no third point, half
 * of what is possible is added: more never takes less, nor more for each.
 */
struct yk_curve_value yk_curve_at(const struct yk_profile_curve *curve, double size);

#endif
