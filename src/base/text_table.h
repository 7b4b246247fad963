/* Text table: text in aligned columns for a terminal. A table copies its cells. Only one thread at
 * a time may use a table. */
#ifndef YK_BASE_TEXT_TABLE_H
#define YK_BASE_TEXT_TABLE_H

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

struct yk_text_table;

enum yk_text_table_align {
    YK_TEXT_TABLE_LEFT,
    YK_TEXT_TABLE_RIGHT,
};

struct yk_text_table_column {
    const char *title;
    enum yk_text_table_align align;
};

yk_status yk_text_table_create(const struct yk_text_table_column *columns, size_t count,
                               struct yk_text_table **out) YK_MUST_USE;
void yk_text_table_destroy(struct yk_text_table *table);

/* Adds the next cell, row by row. Replaces control characters with '?'. */
void yk_text_table_add_cell(struct yk_text_table *table, const char *format, ...)
    YK_PRINTF_LIKE(2, 3);

/* Writes the titles, a line of dashes, and all rows that are complete. Each line is indented by two
 * spaces. */
yk_status yk_text_table_write(const struct yk_text_table *table, struct yk_text *out) YK_MUST_USE;

/* Calls yk_text_table_write(), then destroys the table. */
yk_status yk_text_table_write_and_destroy(struct yk_text_table *table,
                                          struct yk_text *out) YK_MUST_USE;

#endif
