/*
 * Schedule report: the output of `yoke schedule`, except the chart for the terminal (gantt.h). It
 * consists of a table of devices, JSON, an HTML page, an SVG file, and a trace.
 */
#ifndef YK_REPORT_SCHEDULE_REPORT_H
#define YK_REPORT_SCHEDULE_REPORT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "sched/schedule.h"
#include "trace/trace.h"

struct yk_schedule_report {
    struct yk_schedule *schedule;
    const char *algorithm; /* name of the scheduler */
    const char *source;    /* name of the file of the graph */
    int64_t lower_bound;   /* lower bound of the makespan, in ticks */
    const int32_t *kinds;  /* (tasks) a number for each task; tasks with equal numbers have the same
                              colour. NULL means: tasks of the same group have the same colour */
};

/* Writes a sentence with makespan, lower bound and gap, and then a table of devices with their
 * tasks, busy and idle time, and peak memory. */
yk_status yk_schedule_report_write_summary(const struct yk_schedule_report *report,
                                           struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_report_write_json(const struct yk_schedule_report *report,
                                        struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_page_write(const struct yk_schedule_report *report,
                                 struct yk_text *out) YK_MUST_USE;

/* Writes the Gantt chart as an SVG file. */
yk_status yk_schedule_report_write_svg(const struct yk_schedule_report *report,
                                       struct yk_text *out) YK_MUST_USE;

/* Makes a trace with a rank for every device, an event for every task, and a flow for every
 * transfer. One unit of the graph's time becomes one second. The caller destroys the trace. */
yk_status yk_schedule_report_make_trace(const struct yk_schedule_report *report,
                                        struct yk_trace **out) YK_MUST_USE;

/* Writes the trace of yk_schedule_report_make_trace() in the format of Chrome trace events. */
yk_status yk_schedule_report_write_chrome_trace(const struct yk_schedule_report *report,
                                                struct yk_text *out) YK_MUST_USE;

struct yk_schedule_device_stats {
    int32_t tasks;      /* number of tasks */
    int64_t busy;       /* time in which the device runs tasks, in ticks */
    int64_t peak_bytes; /* 0 if no device of the graph has a memory limit */
};

/* Computes one element for each device. `out` lives in the arena. */
yk_status
yk_schedule_report_compute_device_stats(const struct yk_schedule *schedule, struct yk_arena *arena,
                                        struct yk_schedule_device_stats **out) YK_MUST_USE;

/* ---- phrases (describe.c) ---- */

/* Adds "1,234 tasks on 3 devices". */
void yk_schedule_describe_graph_size(const struct yk_graph *graph, struct yk_text *out);

/* Adds how far the makespan is from the lower bound: "at most 19.4% longer than the shortest
 * possible". */
void yk_schedule_describe_makespan_gap(const struct yk_schedule_report *report,
                                       struct yk_text *out);

/* Adds why `task` does not start earlier: "waits for data of t4 from P2, which arrives at 27". */
void yk_schedule_describe_task_wait(const struct yk_schedule *schedule, int32_t task,
                                    const struct yk_task_wait *wait, struct yk_text *out);

#endif
