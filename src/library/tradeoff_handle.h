/* Trade-off handle: what a yoke_tradeoff is, for the files that make it and draw it. */
#ifndef YK_LIBRARY_TRADEOFF_HANDLE_H
#define YK_LIBRARY_TRADEOFF_HANDLE_H

#include "library/library.h"
#include "planner/tradeoff.h"

enum {
    YK_LIBRARY_CHARTS = 2,
    YK_LIBRARY_CURVES = 3,
};

struct yoke_tradeoff {
    struct yk_library_basis basis;
    struct yk_tradeoff *found;
    struct yk_plan_curve curves[YK_LIBRARY_CURVES];
    struct yk_plan_tradeoff charts[YK_LIBRARY_CHARTS]; /* in the order of yoke_tradeoff_chart */
    int32_t chart_count;                               /* of these, that have points */
    struct yoke_tradeoff_info info;
};

#endif
