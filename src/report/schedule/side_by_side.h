/*
 * Side by side: a page with several schedules of one work: a table of figures, and a Gantt
 * chart of each. Nothing here knows what the work is.
 */
#ifndef YK_REPORT_SCHEDULE_SIDE_BY_SIDE_H
#define YK_REPORT_SCHEDULE_SIDE_BY_SIDE_H

#include "base/status.h"
#include "base/text.h"
#include "sched/schedule.h"

#include <stdint.h>

struct yk_side_by_side_row {
    const char *name;
    const char *const *cells;     /* one for each column */
    const char *remark;           /* a sentence about it, or NULL */
    struct yk_schedule *schedule; /* drawn; NULL when there is none */
    int64_t lower_bound;          /* ticks, 0 for none */
    const int32_t *kinds;         /* (n) tasks of one number have one colour; NULL: by group */
};

struct yk_side_by_side {
    const char *title;
    const char *lead;
    const char *const *columns; /* titles, besides that of the name */
    int32_t column_count;
    const struct yk_side_by_side_row *rows;
    int32_t row_count;
    int32_t winner; /* the row that is set off, or -1 */
    const char *const *notes;
    int32_t note_count;
};

yk_status yk_side_by_side_write(const struct yk_side_by_side *page,
                                struct yk_text *out) YK_MUST_USE;

#endif
