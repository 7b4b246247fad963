/* Plot: curves in an SVG: a figure (figure.h) with a rectangle in which x and y are data
 * coordinates, axes with round ticks, and curves. */
#ifndef YK_REPORT_PLOT_H
#define YK_REPORT_PLOT_H

#include "base/number.h"
#include "report/figure.h"

#include <stdbool.h>
#include <stdint.h>

/* Empty if low > high. */
struct yk_plot_range {
    double low;
    double high;
};

struct yk_plot_range yk_plot_range_empty(void);

/* Whether a plot can show `value`: it is a number of at most 1e15 in magnitude. */
bool yk_plot_can_show(double value);

/* Extends the range to `value`, if a plot can show it. */
void yk_plot_range_include(struct yk_plot_range *range, double value);

/* Adds `padding` times the range's width at both ends. An empty range becomes about 0 to 1, and a
 * range of width 0 gets a positive width. */
void yk_plot_range_pad(struct yk_plot_range *range, double padding);

struct yk_plot {
    struct yk_figure figure;
    double left; /* the rectangle, in pixels */
    double right;
    double top;
    double bottom;
    struct yk_plot_range x; /* data shown from left to right */
    struct yk_plot_range y; /* data shown from bottom to top */
    bool integer_x;         /* ticks of x are whole numbers */
};

/* The pixel coordinate of a data coordinate. */
double yk_plot_x_pixel(const struct yk_plot *plot, double x);
double yk_plot_y_pixel(const struct yk_plot *plot, double y);

/* Formats the number of a tick; large numbers are shortened: "40G". */
void yk_plot_tick_label(double value, char out[YK_NUMBER_BUFFER_SIZE]);

/* Draws both axes: grid lines at round values of y, at most `parts` steps, and ticks of x. Labels
 * of y are in `unit`, whose value is `scale`. */
void yk_plot_draw_axes(const struct yk_plot *plot, double scale, const char *unit, int parts);

/* Draws a line through the points (x[i], y[i]), with a gap at points that a plot cannot show. Of
 * many points on one pixel column, only the first, lowest, highest and last are drawn, so that
 * every peak stays visible. */
void yk_plot_draw_curve(const struct yk_plot *plot, const char *kind, const double *x,
                        const double *y, int32_t count);

#endif
