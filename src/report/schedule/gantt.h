/* Gantt: draws a schedule as a Gantt chart with one row per device, as a time chart (gantt.c) or as
 * characters for a terminal (gantt_text.c). */
#ifndef YK_REPORT_SCHEDULE_GANTT_H
#define YK_REPORT_SCHEDULE_GANTT_H

#include "base/status.h"
#include "base/text.h"
#include "report/time_chart.h"
#include "sched/schedule.h"

#include <stdbool.h>

struct yk_gantt_time_chart_options {
    const char *title;
    int64_t lower_bound;  /* lower bound of the makespan, in ticks; 0 means: no mark */
    const int32_t *kinds; /* (tasks) a number for each task; tasks with equal numbers have the same
                             colour. NULL means: tasks of the same group have the same colour */
    double span; /* time across the whole width, in the graph's unit; if it is less than the
                    makespan, the makespan is used */
};

/* Makes a time chart of the schedule. It lives in the arena. */
yk_status yk_gantt_make_time_chart(struct yk_schedule *schedule,
                                   const struct yk_gantt_time_chart_options *options,
                                   struct yk_arena *arena, struct yk_time_chart *out) YK_MUST_USE;

/* Writes the chart as text of at most `width` columns. If `colour` is true, the text contains
 * terminal colour codes; otherwise tasks are in brackets. Control characters in names become
 * question marks. */
yk_status yk_gantt_text_write(struct yk_schedule *schedule, int width, bool colour,
                              struct yk_text *out) YK_MUST_USE;

#endif
