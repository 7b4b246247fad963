/*
 * Schedule report: everything `yoke schedule` can say about a schedule besides the drawings:
 * a table for each device, JSON, a self-contained HTML page, and a trace.
 */
#ifndef YK_REPORT_SCHEDULE_REPORT_H
#define YK_REPORT_SCHEDULE_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "sched/schedule.h"
#include "trace/trace.h"

struct yk_schedule_report {
    struct yk_schedule *schedule;
    const char *algorithm;
    const char *source;   /* the name the user knows the graph by */
    int64_t lower_bound;  /* ticks */
    const int32_t *kinds; /* (n) tasks of one number have one colour; NULL: by group */
};

/* Makespan, bound and gap in a sentence, then a table of devices: tasks, busy, idle, peak memory.
 */
yk_status yk_schedule_report_summary(const struct yk_schedule_report *report,
                                     struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_report_json(const struct yk_schedule_report *report,
                                  struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_report_page(const struct yk_schedule_report *report,
                                  struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_report_trace(const struct yk_schedule_report *report,
                                   struct yk_trace **out) YK_MUST_USE;

/* The Gantt chart as an SVG file, and the trace in Chrome's form. */
yk_status yk_schedule_report_svg(const struct yk_schedule_report *report,
                                 struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_report_chrome(const struct yk_schedule_report *report,
                                    struct yk_text *out) YK_MUST_USE;

#endif
