#include "base/text_table.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct yk_text_table {
    struct yk_text_table_column *columns;
    size_t column_count;
    struct yk_text cells; /* all cells, each zero-terminated */
    size_t cell_count;
};

yk_status yk_text_table_create(const struct yk_text_table_column *columns, size_t count,
                               struct yk_text_table **out)
{
    struct yk_text_table *table = calloc(1, sizeof *table);
    struct yk_text_table_column *copy = calloc(count, sizeof *copy);
    if (!table || !copy) {
        free(table);
        free(copy);
        return yk_fail_out_of_memory();
    }
    memcpy(copy, columns, count * sizeof *copy);
    table->columns = copy;
    table->column_count = count;
    *out = table;
    return YK_OK;
}

void yk_text_table_destroy(struct yk_text_table *table)
{
    if (!table) {
        return;
    }
    yk_text_free(&table->cells);
    free(table->columns);
    free(table);
}

void yk_text_table_add_cell(struct yk_text_table *table, const char *format, ...)
{
    const size_t begin = table->cells.length;
    va_list arguments;
    va_start(arguments, format);
    yk_text_addv(&table->cells, format, arguments);
    va_end(arguments);
    /* Cells may contain names from files, which must not control the terminal or end the cell. */
    if (table->cells.length > begin) {
        yk_utf8_replace_control_characters(table->cells.bytes + begin, table->cells.length - begin);
    }
    yk_text_add_bytes(&table->cells, "", 1);
    table->cell_count++;
}

static void write_cell(const struct yk_text_table *table, size_t column, const char *cell,
                       size_t width, struct yk_text *out)
{
    const size_t padding = width - yk_text_display_width(cell);
    const bool last = column + 1 == table->column_count;
    yk_text_add(out, "  ");
    if (table->columns[column].align == YK_TEXT_TABLE_RIGHT) {
        yk_text_add_repeated(out, " ", padding);
        yk_text_add(out, cell);
    } else {
        yk_text_add(out, cell);
        yk_text_add_repeated(out, " ", last ? 0 : padding);
    }
    if (last) {
        yk_text_trim_end(out);
        yk_text_add(out, "\n");
    }
}

static void write_rows(const struct yk_text_table *table, const size_t *widths, struct yk_text *out)
{
    for (size_t c = 0; c < table->column_count; c++) {
        write_cell(table, c, table->columns[c].title, widths[c], out);
    }
    for (size_t c = 0; c < table->column_count; c++) {
        yk_text_add(out, "  ");
        yk_text_add_repeated(out, "-", widths[c]);
    }
    yk_text_trim_end(out); /* empty columns without a title have no rule */
    yk_text_add(out, "\n");
    const char *cell = yk_text_chars(&table->cells);
    const size_t complete = table->cell_count - table->cell_count % table->column_count;
    for (size_t i = 0; i < complete; i++) {
        const size_t column = i % table->column_count;
        write_cell(table, column, cell, widths[column], out);
        cell += strlen(cell) + 1;
    }
}

yk_status yk_text_table_write(const struct yk_text_table *table, struct yk_text *out)
{
    YK_TRY(yk_text_status(&table->cells));
    size_t *widths = calloc(table->column_count, sizeof *widths);
    YK_TRY_ALLOCATED(widths);
    for (size_t c = 0; c < table->column_count; c++) {
        widths[c] = yk_text_display_width(table->columns[c].title);
    }
    const char *cell = yk_text_chars(&table->cells);
    for (size_t i = 0; i < table->cell_count; i++) {
        const size_t column = i % table->column_count;
        const size_t width = yk_text_display_width(cell);
        widths[column] = width > widths[column] ? width : widths[column];
        cell += strlen(cell) + 1;
    }
    write_rows(table, widths, out);
    free(widths);
    return yk_text_status(out);
}

yk_status yk_text_table_write_and_destroy(struct yk_text_table *table, struct yk_text *out)
{
    const yk_status status = yk_text_table_write(table, out);
    yk_text_table_destroy(table);
    return status;
}
