/*
 * Gantt bars: the bars a picture of a schedule needs, so that a hundred thousand tasks are no more
 * to draw than a few thousand. A task wide enough to be seen is a bar of its own; neighbours that
 * are not, with hardly a gap between them, share one.
 */
#ifndef YK_REPORT_GANTT_BARS_H
#define YK_REPORT_GANTT_BARS_H

#include "base/arena.h"
#include "base/status.h"
#include "sched/schedule.h"

#include <stdint.h>

struct yk_gantt_bar {
    int64_t start;
    int64_t finish;
    int64_t busy;  /* ticks of it that tasks run */
    int32_t task;  /* the first task of it */
    int32_t count; /* of tasks */
};

struct yk_gantt_bars {
    struct yk_gantt_bar *bars; /* device after device, by start */
    int32_t *first;            /* (P + 1) device p has bars [first[p], first[p + 1]) */
    int32_t count;
};

struct yk_gantt_bars_limits {
    double least_ticks; /* shorter tasks are merged */
    int longest;        /* a merged bar ends after this many times the least: a row of nothing but
                           short tasks still shows where they are many */
    int32_t most;       /* the least is doubled until there are no more bars than this, or one for
                           each device */
};

/* Makes the bars with `arena`. */
yk_status yk_gantt_bars_make(struct yk_schedule *schedule,
                             const struct yk_gantt_bars_limits *limits, struct yk_arena *arena,
                             struct yk_gantt_bars *out) YK_MUST_USE;

#endif
