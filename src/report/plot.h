/* Plot: draws curves in an SVG picture. A plot is a figure (figure.h) with a rectangle in which x
 * and y are data coordinates, with axes that have round ticks. */
#ifndef YK_REPORT_PLOT_H
#define YK_REPORT_PLOT_H

#include "base/number.h"
#include "report/figure.h"

#include <stdbool.h>
#include <stdint.h>

/* A range of numbers. It is empty if low > high. */
struct yk_plot_range {
    double low;
    double high;
};

struct yk_plot_range yk_plot_range_make_empty(void);

/* Returns whether a plot can show `value`: it must be a number with a magnitude of at most 1e15. */
bool yk_plot_can_show_value(double value);

/* Extends the range so that it includes `value`. Does nothing if a plot cannot show `value`. */
void yk_plot_range_include_value(struct yk_plot_range *range, double value);

/* Extends the range at both ends by `padding` times its width. An empty range becomes about 0 to 1,
 * and a range of width 0 gets a positive width. */
void yk_plot_range_pad(struct yk_plot_range *range, double padding);

struct yk_plot {
    struct yk_figure figure;
    double left; /* left, right, top and bottom of the rectangle, in pixels */
    double right;
    double top;
    double bottom;
    struct yk_plot_range x; /* the data coordinates at the left and at the right end */
    struct yk_plot_range y; /* the data coordinates at the bottom and at the top */
    bool integer_x;         /* ticks of x are whole numbers */
};

/* Return the pixel coordinate of a data coordinate. */
double yk_plot_x_pixel(const struct yk_plot *plot, double x);
double yk_plot_y_pixel(const struct yk_plot *plot, double y);

/* Writes the number of a tick. Large numbers are shortened: "40G". */
void yk_plot_write_tick_label(double value, char out[YK_NUMBER_BUFFER_SIZE]);

/* Draws both axes: grid lines at round values of y, with at most `parts` steps, and ticks of x.
 * Labels of y are values divided by `scale`, followed by `unit`. */
void yk_plot_draw_axes(const struct yk_plot *plot, double scale, const char *unit, int parts);

/* Draws a line through the points (x[i], y[i]), with a gap at points that a plot cannot show. If
 * many points are in one column of pixels, only the first, lowest, highest and last of them are
 * drawn, so that every peak stays visible. */
void yk_plot_draw_curve(const struct yk_plot *plot, const char *kind, const double *x,
                        const double *y, int32_t count);

#endif
