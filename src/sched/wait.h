/* Wait: what a task of a schedule waited for before it started. */
#ifndef YK_SCHED_WAIT_H
#define YK_SCHED_WAIT_H

#include "sched/schedule.h"

enum yk_wait_reason {
    YK_WAIT_NOTHING, /* it starts at time 0 */
    YK_WAIT_DATA,    /* its last input arrived just then */
    YK_WAIT_DEVICE,  /* its device finished another task just then */
    YK_WAIT_MEMORY,  /* neither: memory, or the scheduler's choice, kept it back */
};

struct yk_wait {
    enum yk_wait_reason reason;
    int32_t task;    /* the task that sent the data or held the device; -1 for the other reasons */
    int32_t edge;    /* the edge whose data came last; -1 unless the reason is data */
    int64_t arrival; /* ticks: when everything it needs was there and its device free */
};

/* Why each task starts when it does: `out` has room for one entry for each task. */
yk_status yk_wait_explain(struct yk_schedule *schedule, struct yk_wait *out) YK_MUST_USE;

#endif
