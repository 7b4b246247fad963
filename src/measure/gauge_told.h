/* What a gauge has been told: what ran when. For the two files of the gauge alone. */
#ifndef YK_MEASURE_GAUGE_TOLD_H
#define YK_MEASURE_GAUGE_TOLD_H

#include "measure/gauge.h"

enum {
    YK_GAUGE_MOST_KINDS = (YK_COUNTER_MOST_PARTS - YK_GAUGE_PHASE_COUNT) / 2,
    YK_GAUGE_NO_KIND = -1,
};

/* One op, or several of one sort that followed each other. */
struct yk_gauge_moment {
    double begin_s;
    double end_s;
    int16_t phase;
    int16_t kind;
};

/* One step, or an unbroken row of steps or passes. */
struct yk_gauge_stretch {
    double begin_s;
    double end_s;
};

struct yk_gauge_stretches {
    struct yk_gauge_stretch *all;
    int32_t count;
};

struct yk_gauge {
    struct yk_meters *meters;
    struct yk_gauge_moment *moments;
    int32_t moment_count;
    struct yk_gauge_stretches stretches;
    struct yk_gauge_stretches steps; /* in order; of passes none */
    const char *kinds[YK_GAUGE_MOST_KINDS];
    int32_t kind_count;
    double last_began_s; /* of the step told of last */
    double last_done_s;
};

#endif
