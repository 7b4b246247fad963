/* Schedule describe: what the summary and the page of a schedule have in common: the figures of
 * each device, and sentences about the makespan and about waits. */
#ifndef YK_REPORT_SCHEDULE_DESCRIBE_H
#define YK_REPORT_SCHEDULE_DESCRIBE_H

#include "base/arena.h"
#include "base/text.h"
#include "report/schedule/report.h"
#include "sched/schedule.h"

/* How far the makespan is from the bound: "at most 19.4% longer than the shortest possible". */
void yk_schedule_describe_gap(const struct yk_schedule_report *report, struct yk_text *out);

/* Why `task` starts when it does: "waits for data of 4 from P2, which arrives at 27". */
void yk_schedule_describe_wait(const struct yk_schedule *schedule, int32_t task,
                               const struct yk_wait *wait, struct yk_text *out);

struct yk_schedule_device_figures {
    int32_t tasks;
    int64_t busy;       /* ticks */
    int64_t peak_bytes; /* 0 when no device of the graph has a limit */
};

/* One entry for each device, made with `arena`. */
yk_status yk_schedule_describe_devices(const struct yk_schedule *schedule, struct yk_arena *arena,
                                       struct yk_schedule_device_figures **out) YK_MUST_USE;

#endif
