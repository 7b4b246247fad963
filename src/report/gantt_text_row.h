/* Gantt text row: the cells of one device. Private to the text Gantt. */
#ifndef YK_REPORT_GANTT_TEXT_ROW_H
#define YK_REPORT_GANTT_TEXT_ROW_H

#include "base/text.h"
#include "sched/schedule.h"

#include <stdbool.h>
#include <stdint.h>

/* The cells of one task: [first, end). */
struct yk_gantt_text_span {
    int first;
    int end;
};

struct yk_gantt_text_row {
    const struct yk_schedule *schedule;
    int columns;
    bool colour;
    const int32_t *tasks; /* of the device, by start */
    int32_t count;
    struct yk_gantt_text_span *spans; /* room for one for each column */
    double *busy;                     /* room for one for each column */
};

/* Writes the row without trailing spaces. True when it shows how busy the device is and not its
 * tasks, because they have no room. */
bool yk_gantt_text_row_write(struct yk_gantt_text_row *row, struct yk_text *out);

/* The first `length` bytes of a name, with '?' for what would move a terminal's cursor. */
void yk_gantt_text_add_name(struct yk_text *text, const char *name, size_t length);

#endif
