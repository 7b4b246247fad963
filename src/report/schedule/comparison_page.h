/*
 * Comparison page: a page that compares several schedules of the same work: a table with a row
 * for each, and a Gantt chart of each. All charts have the same time scale. The caller decides what
 * the columns mean. The records own nothing.
 */
#ifndef YK_REPORT_SCHEDULE_COMPARISON_PAGE_H
#define YK_REPORT_SCHEDULE_COMPARISON_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "sched/schedule.h"

#include <stdint.h>

struct yk_comparison_page_row {
    const char *name;
    const char *const *cells;     /* (column_count) */
    const char *remark;           /* a sentence; NULL: none */
    struct yk_schedule *schedule; /* NULL: there is none, and no chart */
    int64_t lower_bound;          /* of the makespan, in ticks; 0: unknown */
    const int32_t *kinds; /* (tasks) tasks with equal numbers have the same colour; NULL: the
                             number is the task's group */
};

struct yk_comparison_page {
    const char *title;
    const char *lead;           /* the sentence under the title */
    const char *const *columns; /* (column_count) titles; the column of names has none */
    int32_t column_count;
    const struct yk_comparison_page_row *rows;
    int32_t row_count;
    int32_t winner; /* index of the highlighted row; -1: none */
    const char *const *notes;
    int32_t note_count;
};

yk_status yk_comparison_page_write(const struct yk_comparison_page *page,
                                   struct yk_text *out) YK_MUST_USE;

#endif
