/*
 * CSV: cells of the tables of numbers that stand in pages. The pages' scripts draw from these very
 * lines.
 *
 * Cells of text that a spreadsheet would take for a formula get an apostrophe in front (and so do
 * those that begin with one, so that it can be taken off again). What is no number is empty. Text
 * is for a file; in a page it is escaped once more.
 */
#ifndef YK_REPORT_CSV_H
#define YK_REPORT_CSV_H

#include "base/text.h"

/* A cell of text, quoted where it must be. */
void yk_csv_add_words(struct yk_text *out, const char *words);

/* Seconds to the nanosecond, without trailing zeros. */
void yk_csv_add_seconds(struct yk_text *out, double seconds);

/* Whole bytes. */
void yk_csv_add_bytes(struct yk_text *out, double bytes);

void yk_csv_add_number(struct yk_text *out, double value);

#endif
