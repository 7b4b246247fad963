/* Label: makes short texts for pictures and tables (numbers and times with few digits,
 * percentages), chooses round steps of an axis, and estimates how wide a text is. */
#ifndef YK_REPORT_LABEL_H
#define YK_REPORT_LABEL_H

#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "graph/graph.h"

#include <stdint.h>

/* Each of the next five functions writes a text to `out` and returns `out`. */

/* Writes `value` with about six digits and without trailing zeros: "80", "27.3333", "1234568". */
const char *yk_label_format_number(double value, char out[YK_NUMBER_BUFFER_SIZE]);

/* Writes `ticks` in the time unit of the graph, with about six digits. */
const char *yk_label_format_graph_time(const struct yk_graph *graph, int64_t ticks,
                                       char out[YK_NUMBER_BUFFER_SIZE]);

/* Writes `count` with a comma between thousands: "12,345". */
const char *yk_label_format_count(int64_t count, char out[YK_NUMBER_BUFFER_SIZE]);

/* Writes a count per second, rounded to at least three digits: "12,345", "67.9", "2.31". */
const char *yk_label_format_speed(double per_s, char out[YK_NUMBER_BUFFER_SIZE]);

/* Writes the percentage that `part` is of `whole`, with one decimal: "19.4%". Writes "0.0%" if
 * `whole` is not positive. */
const char *yk_label_format_percent(double part, double whole, char out[YK_NUMBER_BUFFER_SIZE]);

/* Writes `value` with its unit: "3.2ms". Writes "0" if the value is 0 or so small that it can only
 * be a rounding error. Writes "none" if the value is not finite. */
const char *yk_label_format_with_unit(double value, enum yk_unit unit,
                                      char out[YK_UNITS_BUFFER_SIZE]);

/* These macros call the six functions with a temporary buffer for `out`. The buffer is valid until
 * the end of the enclosing block. */
#define YK_LABEL_NUMBER(value) yk_label_format_number((value), (char[YK_NUMBER_BUFFER_SIZE]){0})
#define YK_LABEL_GRAPH_TIME(graph, ticks)                                                          \
    yk_label_format_graph_time((graph), (ticks), (char[YK_NUMBER_BUFFER_SIZE]){0})
#define YK_LABEL_COUNT(count) yk_label_format_count((count), (char[YK_NUMBER_BUFFER_SIZE]){0})
#define YK_LABEL_SPEED(per_s) yk_label_format_speed((per_s), (char[YK_NUMBER_BUFFER_SIZE]){0})
#define YK_LABEL_PERCENT(part, whole)                                                              \
    yk_label_format_percent((part), (whole), (char[YK_NUMBER_BUFFER_SIZE]){0})
#define YK_LABEL_WITH_UNIT(value, unit)                                                            \
    yk_label_format_with_unit((value), (unit), (char[YK_UNITS_BUFFER_SIZE]){0})

/* Returns an estimate of the width of `text` at a font size of 12 pixels. The estimate is seldom
 * too small. (C code has no access to the fonts of the browser.) */
double yk_label_estimate_width_pixels(const char *text);

/* Adds `label`, escaped for XML. A label wider than `pixels` is shortened and ends with an
 * ellipsis.
 */
void yk_label_add_truncated_xml(struct yk_text *text, const char *label, double pixels);

/* Returns a round step for an axis: the smallest number of the form 1, 2 or 5 times a power of ten
 * that divides `span` into at most `parts` steps. `span` must be positive, and `parts` at least 1.
 */
double yk_label_choose_axis_step(double span, int parts);

#endif
