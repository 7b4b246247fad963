/*
 * Figure: the parts that SVG pictures are made of: the <svg> element, text, lines, rectangles, axes
 * with round ticks, legends. Coordinates are pixels from the top left.
 *
 * `kind` is always a list of CSS classes. Colours of data come from web/palette.css, everything
 * else from web/figure.css: soft, small, tiny, strong, middle, end, ink, halo, grid, axis, track …
 */
#ifndef YK_REPORT_FIGURE_H
#define YK_REPORT_FIGURE_H

#include "base/text.h"
#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_FIGURE_FULL_WIDTH = 1180,   /* width of a full-width picture */
    YK_FIGURE_HEADING_HEIGHT = 36, /* height of the heading of a standalone picture */
};

/* Bold letters are wider: text of class "strong" fits if its estimated width is at most this
 * fraction of the space. */
#define YK_FIGURE_BOLD_FRACTION 0.88

struct yk_figure {
    double width;
    double height;
    bool standalone; /* an SVG file of its own, with heading, CSS and background; false: inside a
                        page, which has these */
    struct yk_text *out;
};

void yk_figure_begin(const struct yk_figure *figure, const char *title);
void yk_figure_end(const struct yk_figure *figure);

/* Text with its baseline at `y`. */
void yk_figure_text(const struct yk_figure *figure, const char *kind, double x, double y,
                    const char *text);

/* Text that is shortened, with an ellipsis, to at most `pixels`. */
void yk_figure_truncated_text(const struct yk_figure *figure, const char *kind, double x, double y,
                              const char *text, double pixels);

/* Text broken into lines of at most `pixels`, the first baseline at `y`. Returns the height of all
 * lines. With figure NULL it only measures. */
double yk_figure_paragraph(const struct yk_figure *figure, const char *kind, double x, double y,
                           const char *text, double pixels);

void yk_figure_line(const struct yk_figure *figure, const char *kind, double x1, double y1,
                    double x2, double y2);

/* Begins a <rect> and leaves its tag open: the caller adds more attributes, ">" and content, and
 * closes it. */
void yk_figure_begin_rect(const struct yk_figure *figure, const char *kind, double x, double y,
                          double width, double height);

/* An axis that starts at 0 and has a tick at every multiple of `step`. */
struct yk_figure_axis {
    double max;
    double step;
    double scale; /* value of one `unit` */
    const char *unit;
};

/* An axis up to `max` with at most `parts` steps; `unit` is bytes or seconds. */
struct yk_figure_axis yk_figure_axis_make(double max, enum yk_unit unit, int parts);

/* The index of the last tick; the first is 0. */
int32_t yk_figure_axis_last_tick(const struct yk_figure_axis *axis);

/* The label of a tick: "0", "200ms". */
void yk_figure_axis_tick_label(const struct yk_figure_axis *axis, int32_t tick,
                               char out[YK_UNITS_BUFFER_SIZE]);

/* Draws a vertical grid line at every tick of a horizontal axis, with the tick's label above it. */
void yk_figure_time_grid(const struct yk_figure *figure, const struct yk_figure_axis *axis,
                         double left, double right, double top, double bottom);

struct yk_figure_legend_entry {
    char kind[32]; /* CSS classes that colour the sample */
    char name[128];
    bool is_line; /* the sample is a line, as for a curve; false: a square */
};

/* Draws a legend on as many lines as it needs. Returns its height. With figure NULL it only
 * measures. */
double yk_figure_legend(const struct yk_figure *figure,
                        const struct yk_figure_legend_entry *entries, int32_t count, double left,
                        double top, double right);

#endif
