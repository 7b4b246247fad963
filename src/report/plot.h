/* Plot: curves over numbers: ranges that hold them, axes with round ticks, the curves themselves.
 * A plot is a figure (report/figure.h) with a rectangle in which x and y mean something. */
#ifndef YK_REPORT_PLOT_H
#define YK_REPORT_PLOT_H

#include "base/number.h"
#include "report/figure.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_plot_range {
    double low;
    double high;
};

/* Holds nothing. */
struct yk_plot_range yk_plot_range_empty(void);

/* Whether a chart can show `value`: it is a number, and so is what is computed of it. */
bool yk_plot_holds(double value);

/* What a chart cannot show is left out. */
void yk_plot_range_include(struct yk_plot_range *range, double value);

/* Adds `padding` times its width at both ends; what is empty or has no width gets some. */
void yk_plot_range_widen(struct yk_plot_range *range, double padding);

struct yk_plot {
    struct yk_figure figure;
    double left;
    double right;
    double top;
    double bottom;
    struct yk_plot_range x;
    struct yk_plot_range y;
    bool counts; /* x is counted: ticks are whole numbers */
};

double yk_plot_x(const struct yk_plot *plot, double x);
double yk_plot_y(const struct yk_plot *plot, double y);

/* A number of an axis, large ones short: "40G". */
void yk_plot_label(double value, char out[YK_NUMBER_SIZE]);

/* Grid lines with at most `parts` gaps between them, ticks of x, and their labels; y counts in
 * `unit`, of which one is `scale`. */
void yk_plot_axes(const struct yk_plot *plot, double scale, const char *unit, int parts);

/* A line through (x, y), with a gap where one cannot be shown. Of many points on one column of
 * pixels the first, lowest, highest and last are drawn: no peak is lost. */
void yk_plot_curve(const struct yk_plot *plot, const char *kind, const double *x, const double *y,
                   int32_t count);

#endif
