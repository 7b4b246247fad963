/*
 * Comparison page: a page that compares several schedules of the same work. It has a table with a
 * row for each schedule, and a Gantt chart of each schedule. All charts have the same time scale.
 * The caller decides what the columns of the table mean. The structs own nothing.
 */
#ifndef YK_REPORT_SCHEDULE_COMPARISON_PAGE_H
#define YK_REPORT_SCHEDULE_COMPARISON_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "sched/schedule.h"

#include <stdint.h>

struct yk_schedule_comparison_page_row {
    const char *name;
    const char *const *cells;     /* (column_count) texts of the cells */
    const char *remark;           /* a sentence about the row; NULL means: none */
    struct yk_schedule *schedule; /* NULL means: no schedule was found, and there is no chart */
    int64_t lower_bound;          /* lower bound of the makespan, in ticks; 0 means: unknown */
    const int32_t *kinds; /* (tasks) a number for each task; tasks with equal numbers have the same
                             colour. NULL means: tasks of the same group have the same colour */
};

struct yk_schedule_comparison_page {
    const char *title;
    const char *lead;           /* the sentence under the title */
    const char *const *columns; /* (column_count) titles of the columns of `cells` */
    int32_t column_count;
    const struct yk_schedule_comparison_page_row *rows;
    int32_t row_count;
    int32_t winner;           /* index of the row that is highlighted; -1 means: none */
    const char *const *notes; /* (note_count) sentences */
    int32_t note_count;
};

yk_status yk_schedule_comparison_page_write(const struct yk_schedule_comparison_page *page,
                                            struct yk_text *out) YK_MUST_USE;

#endif
