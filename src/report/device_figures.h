/* Device figures: what a schedule makes of each device, for the summary and the page. */
#ifndef YK_REPORT_DEVICE_FIGURES_H
#define YK_REPORT_DEVICE_FIGURES_H

#include "base/arena.h"
#include "base/status.h"
#include "sched/schedule.h"

#include <stdint.h>

struct yk_device_figures {
    int32_t tasks;
    int64_t busy;       /* ticks */
    int64_t peak_bytes; /* 0 when no device of the graph has a limit */
};

/* One entry for each device, made with `arena`. */
yk_status yk_device_figures_count(const struct yk_schedule *schedule, struct yk_arena *arena,
                                  struct yk_device_figures **out) YK_MUST_USE;

#endif
