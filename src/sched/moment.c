#include "sched/moment.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct yk_schedule_entry *a = left;
    const struct yk_schedule_entry *b = right;
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    if (a->finish != b->finish) {
        return a->finish < b->finish ? -1 : 1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

void yk_schedule_sort_entries(struct yk_schedule_entry *moments, int32_t count)
{
    qsort(moments, (size_t)count, sizeof *moments, compare);
}
