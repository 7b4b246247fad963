/*
 * CSV: cells of the tables of numbers that stand in pages. The pages' scripts draw from these very
 * lines. Every cell ends with a comma; the end of a row turns the last one into a newline.
 *
 * Cells of text that a spreadsheet would read as a formula get an apostrophe in front (and so do
 * those that begin with one, so that it can come off again). What is no number is empty. Text is
 * for a file; in a page it is escaped once more.
 */
#ifndef YK_REPORT_CSV_H
#define YK_REPORT_CSV_H

#include "base/text.h"

#include <stdint.h>

/* A cell of text, quoted where it must be. */
void yk_csv_add_text(struct yk_text *out, const char *text);

/* Seconds to the nanosecond, without trailing zeros. */
void yk_csv_add_seconds(struct yk_text *out, double seconds);

/* Whole bytes. */
void yk_csv_add_bytes(struct yk_text *out, double bytes);

void yk_csv_add_number(struct yk_text *out, double value);
/* With about six digits, where the others are noise. */
void yk_csv_add_rounded(struct yk_text *out, double value);
void yk_csv_add_integer(struct yk_text *out, int64_t value);
void yk_csv_end_row(struct yk_text *out);

#endif
