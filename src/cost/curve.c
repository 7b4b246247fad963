#include "cost/curve.h"

double yk_curve_at(const struct yk_profile_curve *curve, double size)
{
    const struct yk_profile_point *first = &curve->points[0];
    const struct yk_profile_point *last = &curve->points[curve->count - 1];
    if (size <= first->size) {
        return first->seconds * size / first->size;
    }
    if (size >= last->size) {
        return last->seconds * size / last->size;
    }
    const struct yk_profile_point *above = first;
    while (above->size < size) {
        above++;
    }
    const struct yk_profile_point *below = above - 1;
    const double along = (size - below->size) / (above->size - below->size);
    return below->seconds + along * (above->seconds - below->seconds);
}
