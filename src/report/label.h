/* Label: the short texts of pictures and tables: times with few digits, round steps of an axis, and
 * how wide a text is. */
#ifndef YK_REPORT_LABEL_H
#define YK_REPORT_LABEL_H

#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "graph/graph.h"

#include <stdint.h>

/* `value` with about six digits and no trailing zeros: "80", "27.3333", "1234568". */
void yk_label_number(double value, char out[YK_NUMBER_SIZE]);

/* The time of `ticks` in the graph's unit, with about six digits. */
void yk_label_time(const struct yk_graph *graph, int64_t ticks, char out[YK_NUMBER_SIZE]);
void yk_label_add_time(struct yk_text *text, const struct yk_graph *graph, int64_t ticks);

/* `count` with a comma between thousands: "12,345". */
void yk_label_count(int64_t count, char out[YK_NUMBER_SIZE]);

/* `part` of `whole` as a percentage with one decimal: "19.4%"; "0.0%" when the whole is nothing. */
void yk_label_percent(double part, double whole, char out[YK_NUMBER_SIZE]);

/* `value` with its unit, "3.2ms"; "0" of nothing, "none" when it is not finite. */
void yk_label_unit(double value, enum yk_unit unit, char out[YK_UNITS_SIZE]);

/* About how many pixels `text` take in letters of 12 pixels: a guess that is seldom too small,
 * since an SVG cannot ask for their width. */
double yk_label_pixels(const char *text);

/* `text` for XML, or as many of them as fit into `pixels`, and an ellipsis. */
void yk_label_add_cut(struct yk_text *text, const char *label, double pixels);

/* The least of 1, 2 and 5 times a power of ten that cuts `span` into at most `parts`, for a
 * positive span and at least one part. */
double yk_label_step(double span, int parts);

#endif
