/* Label: short texts for pictures and tables: numbers and times with few digits, percentages, round
 * steps of an axis; and estimates of how wide a text is. */
#ifndef YK_REPORT_LABEL_H
#define YK_REPORT_LABEL_H

#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "graph/graph.h"

#include <stdint.h>

/* `value` with about six digits and no trailing zeros: "80", "27.3333", "1234568". */
void yk_label_number(double value, char out[YK_NUMBER_BUFFER_SIZE]);

/* `ticks` in the time unit of the graph, with about six digits. */
void yk_label_time(const struct yk_graph *graph, int64_t ticks, char out[YK_NUMBER_BUFFER_SIZE]);
void yk_label_add_time(struct yk_text *text, const struct yk_graph *graph, int64_t ticks);

/* `count` with a comma between thousands: "12,345". */
void yk_label_count(int64_t count, char out[YK_NUMBER_BUFFER_SIZE]);

/* `part` of `whole` as a percentage with one decimal: "19.4%"; "0.0%" if the whole is not positive.
 */
void yk_label_percent(double part, double whole, char out[YK_NUMBER_BUFFER_SIZE]);

/* `value` with its unit: "3.2ms"; "0" if it is 0 up to rounding, "none" if it is not finite. */
void yk_label_with_unit(double value, enum yk_unit unit, char out[YK_UNITS_BUFFER_SIZE]);

/* An estimate of the width of `text` at 12 pixels font size. It is seldom too small. (C code has no
 * access to the fonts of the browser.) */
double yk_label_width_pixels(const char *text);

/* Adds `label`, escaped for XML. A label wider than `pixels` is shortened and ends with an
 * ellipsis.
 */
void yk_label_add_truncated(struct yk_text *text, const char *label, double pixels);

/* The smallest number of the form 1, 2 or 5 times a power of ten that divides `span` into at most
 * `parts` steps. `span` is positive, `parts` at least 1. */
double yk_label_axis_step(double span, int parts);

#endif
