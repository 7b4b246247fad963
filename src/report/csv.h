/*
 * CSV: writes the cells of the tables of numbers in pages. The scripts of the pages read these
 * tables to draw charts.
 *
 * Every cell ends with a comma; yk_csv_end_row() replaces the last comma of a row with a newline. A
 * number that is not finite becomes an empty cell. Text that a spreadsheet would read as a formula
 * gets an apostrophe in front. Text that begins with an apostrophe gets a second one. So a reader
 * gets the original text if it removes the first character of text that begins with an apostrophe.
 * The output is the content of a CSV file: it is not escaped for HTML.
 */
#ifndef YK_REPORT_CSV_H
#define YK_REPORT_CSV_H

#include "base/text.h"

#include <stdint.h>

/* Adds text, in quotes if it contains a comma or a quote. Control characters become spaces. */
void yk_csv_add_text(struct yk_text *out, const char *text);

/* Adds seconds, rounded to nanoseconds, without trailing zeros. */
void yk_csv_add_seconds(struct yk_text *out, double seconds);

/* Adds bytes, rounded to a whole number. */
void yk_csv_add_bytes(struct yk_text *out, double bytes);

void yk_csv_add_number(struct yk_text *out, double value);
/* Adds a number with about six significant digits. */
void yk_csv_add_rounded_number(struct yk_text *out, double value);
void yk_csv_add_integer(struct yk_text *out, int64_t value);
void yk_csv_end_row(struct yk_text *out);

#endif
