/*
 * Schedule data: what the script of the schedule's page knows, as JSON.
 *
 *   {"makespan": 80, "lower_bound": 67, "devices": ["P1", …],
 *    "bars":  [[device, start, finish, task], …]      in the order of the SVG; task -1: several
 *    "tasks": [{"name", "why", "after", "inputs": [[task, arrival, cost], …]}, …]}
 *
 * "after" is the task whose end or data it waits for, or -1. "tasks" is left out of large graphs.
 */
#ifndef YK_REPORT_SCHEDULE_DATA_H
#define YK_REPORT_SCHEDULE_DATA_H

#include "report/gantt_svg.h"
#include "report/schedule_report.h"

#include <stdbool.h>

/* Whether the graph is small enough for the page to hold every task. */
bool yk_schedule_data_is_detailed(const struct yk_graph *graph);

/* `chart` is what the page's SVG was made with. */
yk_status yk_schedule_data_write(const struct yk_schedule_report *report,
                                 const struct yk_gantt_svg_options *chart,
                                 struct yk_text *out) YK_MUST_USE;

#endif
