/*
 * CSV: the cells of the tables of numbers in pages. The scripts of the pages draw from these
 * tables.
 *
 * Every cell ends with a comma; yk_csv_end_row() replaces the last comma of a row by a newline. A
 * number that is not finite becomes an empty cell. Text that a spreadsheet would read as a formula
 * gets an apostrophe in front; so does text that begins with an apostrophe, so that a reader can
 * remove exactly one. The output is the content of a CSV file: it is not escaped for HTML.
 */
#ifndef YK_REPORT_CSV_H
#define YK_REPORT_CSV_H

#include "base/text.h"

#include <stdint.h>

/* Quotes the text if it has a comma or a quote. Control characters become spaces. */
void yk_csv_add_text(struct yk_text *out, const char *text);

/* Seconds rounded to nanoseconds, with no trailing zeros. */
void yk_csv_add_seconds(struct yk_text *out, double seconds);

/* Bytes rounded to a whole number. */
void yk_csv_add_bytes(struct yk_text *out, double bytes);

void yk_csv_add_number(struct yk_text *out, double value);
/* Rounded to about six significant digits. */
void yk_csv_add_rounded(struct yk_text *out, double value);
void yk_csv_add_integer(struct yk_text *out, int64_t value);
void yk_csv_end_row(struct yk_text *out);

#endif
