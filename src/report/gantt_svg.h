/* Gantt SVG: a schedule as a picture, readable in light and dark, that stands alone as a file or
 * inside a page. */
#ifndef YK_REPORT_GANTT_SVG_H
#define YK_REPORT_GANTT_SVG_H

#include "base/status.h"
#include "base/text.h"
#include "report/gantt_bars.h"
#include "sched/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_gantt_svg_options {
    const char *title;    /* NULL for none */
    int64_t lower_bound;  /* ticks; drawn as a line when positive */
    int width;            /* pixels */
    const int32_t *kinds; /* (n) tasks of one number look alike; NULL: by group */
    double span;          /* time across the width, in the graph's unit, if longer than the
                             schedule: for pictures that are compared */
    bool apart;           /* no task shares a bar because it is narrow, only because they are too
                             many: for a page that can be zoomed into */
};

yk_status yk_gantt_svg_write(struct yk_schedule *schedule,
                             const struct yk_gantt_svg_options *options,
                             struct yk_text *out) YK_MUST_USE;

/* The bars of the picture, in the order of its elements of class "bar". */
yk_status yk_gantt_svg_bars(struct yk_schedule *schedule,
                            const struct yk_gantt_svg_options *options, struct yk_arena *arena,
                            struct yk_gantt_bars *out) YK_MUST_USE;

#endif
