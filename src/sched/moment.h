/* Moment: a task with when and where it runs, for sorting tasks by time. Private to this room. */
#ifndef YK_SCHED_MOMENT_H
#define YK_SCHED_MOMENT_H

#include <stdint.h>

struct yk_schedule_entry {
    int64_t start;
    int64_t finish;
    int32_t device; /* the same for all where devices do not matter */
    int32_t place;  /* in a topological order */
    int32_t task;
};

/*
 * By device, then by time. A task without length comes before one that starts when it does, and of
 * two without length the one with the earlier place: so an order by time is a topological one, too.
 */
void yk_schedule_sort_entries(struct yk_schedule_entry *moments, int32_t count);

#endif
