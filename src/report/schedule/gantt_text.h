/* Gantt text: a schedule drawn with characters, one row a device, as wide as the terminal. Control
 * characters in names become question marks: the only escapes are the colours of the chart. */
#ifndef YK_REPORT_SCHEDULE_GANTT_TEXT_H
#define YK_REPORT_SCHEDULE_GANTT_TEXT_H

#include "base/status.h"
#include "base/text.h"
#include "sched/schedule.h"

#include <stdbool.h>

struct yk_gantt_text_options {
    int width;   /* columns in all */
    bool colour; /* with terminal escapes; otherwise brackets separate tasks */
};

yk_status yk_gantt_text_write(struct yk_schedule *schedule,
                              const struct yk_gantt_text_options *options,
                              struct yk_text *out) YK_MUST_USE;

#endif
