/* Curve: what times measured at a few sizes (samples, bytes) say about the sizes between. */
#ifndef YK_COST_CURVE_H
#define YK_COST_CURVE_H

#include "profile/profile.h"

/*
 * The seconds at `size`: on the straight line between the two points around it, proportional to the
 * size beyond the ends. The curve has at least one point; sizes are positive and rise.
 */
double yk_curve_at(const struct yk_profile_curve *curve, double size);

#endif
