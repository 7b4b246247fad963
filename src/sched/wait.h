/* Wait: what a task of a schedule waited for before it started. */
#ifndef YK_SCHED_WAIT_H
#define YK_SCHED_WAIT_H

#include "sched/schedule.h"

enum yk_wait_reason {
    YK_WAIT_NOTHING, /* it starts at time 0 */
    YK_WAIT_DATA,    /* its last input arrived just then */
    YK_WAIT_DEVICE,  /* its device finished another task just then */
    YK_WAIT_MEMORY,  /* another task ended just then, and with it held no more memory here */
    YK_WAIT_CHOICE,  /* none of these: the scheduler left it for later */
};

struct yk_wait {
    enum yk_wait_reason reason;
    int32_t task;    /* the one that sent the data, held the device or its memory; -1: none */
    int32_t edge;    /* the edge whose data came last; -1 unless the reason is data */
    int64_t arrival; /* ticks: when everything it needs was there and its device free */
};

/* Why each task starts when it does: `out` has room for one entry for each task. */
yk_status yk_wait_explain(struct yk_schedule *schedule, struct yk_wait *out) YK_MUST_USE;

#endif
