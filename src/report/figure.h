/* Figure: what the pictures of a plan have in common: the frame of an SVG, letters and lines,
 * axes with round steps, a legend. */
#ifndef YK_REPORT_FIGURE_H
#define YK_REPORT_FIGURE_H

#include "base/text.h"
#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_FIGURE_ALONE_WIDTH = 1180,
    YK_FIGURE_HEADING = 36, /* height that the heading of a picture that stands alone takes */
};

/* Strong letters are wider than others: what part of them fits. */
#define YK_FIGURE_STRONG 0.88

struct yk_figure {
    double width;
    double height;
    bool alone; /* a file of its own, with heading, style and paper; else a page has these */
    struct yk_text *out;
};

void yk_figure_begin(const struct yk_figure *figure, const char *title);
void yk_figure_end(const struct yk_figure *figure);

/* `kind` is one or more classes of the style: soft, small, strong, middle, end, ink. */
void yk_figure_text(const struct yk_figure *figure, const char *kind, double x, double y,
                    const char *text);

/* The same, cut to fit into `pixels`. */
void yk_figure_cut_text(const struct yk_figure *figure, const char *kind, double x, double y,
                        const char *text, double pixels);

/* The text on lines of at most `pixels`, the first at `y`; returns the height. Writes
 * nothing without `figure`. */
double yk_figure_paragraph(const struct yk_figure *figure, const char *kind, double x, double y,
                           const char *text, double pixels);

void yk_figure_line(const struct yk_figure *figure, const char *kind, double x1, double y1,
                    double x2, double y2);

/* A rectangle without its end: what follows is its content, "</rect>" or more attributes. */
void yk_figure_begin_rect(const struct yk_figure *figure, const char *kind, double x, double y,
                          double width, double height);

/* An axis from 0 with a tick at every step. */
struct yk_figure_axis {
    double max;
    double step;
    double scale; /* of the unit that all ticks have in common */
    const char *unit;
};

struct yk_figure_axis yk_figure_axis_make(double max, enum yk_unit unit, int parts);
int32_t yk_figure_axis_last(const struct yk_figure_axis *axis);

/* "0", "200ms". */
void yk_figure_axis_label(const struct yk_figure_axis *axis, int32_t tick, char out[YK_UNITS_SIZE]);

/* Grid lines and times from `left` to `right`, from `top` to `bottom`; the labels go above. */
void yk_figure_time_grid(const struct yk_figure *figure, const struct yk_figure_axis *axis,
                         double left, double right, double top, double bottom);

struct yk_figure_legend_entry {
    const char *kind; /* class of its colour */
    const char *name;
};

/* Returns the height it takes; writes nothing without `figure`. */
double yk_figure_legend(const struct yk_figure *figure,
                        const struct yk_figure_legend_entry *entries, int32_t count, double left,
                        double top, double right);

#endif
