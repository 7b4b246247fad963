/* Gantt: the tasks of a schedule as lanes, a row for each device, with the data that moves between
 * devices. In the arena it was made in. */
#ifndef YK_REPORT_SCHEDULE_GANTT_H
#define YK_REPORT_SCHEDULE_GANTT_H

#include "report/lanes.h"
#include "sched/schedule.h"

struct yk_gantt_options {
    const char *title;
    int64_t lower_bound;  /* ticks; marked when positive */
    const int32_t *kinds; /* (n) tasks of one number have one colour; NULL: by group */
    double span;          /* time across the width, in the graph's unit, if longer than the
                             schedule: for pictures that are compared */
};

yk_status yk_gantt_make(struct yk_schedule *schedule, const struct yk_gantt_options *options,
                        struct yk_arena *arena, struct yk_lanes *out) YK_MUST_USE;

#endif
