/*
 * Figure: writes the elements of SVG pictures: the <svg> element, text, lines, rectangles, axes
 * with round ticks, and legends. Coordinates are in pixels, from the top left corner.
 *
 * `kind` is always a list of CSS classes. The colours of data come from web/palette.css. All other
 * classes come from web/figure.css: soft, small, tiny, strong, middle, end, ink, halo, grid, axis,
 * track …
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

/* The width of text is estimated for letters that are not bold (label.h), but bold letters are
 * wider. So text of class "strong" fits into a space if its estimated width is at most this
 * fraction of the space. */
#define YK_FIGURE_BOLD_TEXT_SPACE_FRACTION 0.88

struct yk_figure {
    double width;
    double height;
    bool standalone; /* true means: an SVG file of its own, with heading, CSS and background; false
                        means: a picture in a page, which already has these */
    struct yk_text *out;
};

void yk_figure_begin(const struct yk_figure *figure, const char *title);
void yk_figure_end(const struct yk_figure *figure);

/* Draws text with its baseline at `y`. */
void yk_figure_draw_text(const struct yk_figure *figure, const char *kind, double x, double y,
                         const char *text);

/* Draws text. Text wider than `pixels` is shortened and ends with an ellipsis. */
void yk_figure_draw_truncated_text(const struct yk_figure *figure, const char *kind, double x,
                                   double y, const char *text, double pixels);

/* Draws text in lines that are at most `pixels` wide. The first baseline is at `y`. Returns the
 * height of all lines. If `figure` is NULL, draws nothing and only returns the height. */
double yk_figure_draw_paragraph(const struct yk_figure *figure, const char *kind, double x,
                                double y, const char *text, double pixels);

void yk_figure_draw_line(const struct yk_figure *figure, const char *kind, double x1, double y1,
                         double x2, double y2);

/* Begins a <rect> and leaves its tag open: the caller adds more attributes, ">" and content, and
 * closes the element. */
void yk_figure_begin_rect_tag(const struct yk_figure *figure, const char *kind, double x, double y,
                              double width, double height);

/* An axis that starts at 0 and has a tick at every multiple of `step`. */
struct yk_figure_axis {
    double max;
    double step;
    double scale; /* one `unit` in bytes or seconds, such as 0.001 for "ms" */
    const char *unit;
};

/* Makes an axis from 0 to `max` with at most `parts` steps. `unit` must be YK_UNIT_BYTES or
 * YK_UNIT_SECONDS. */
struct yk_figure_axis yk_figure_axis_make(double max, enum yk_unit unit, int parts);

/* Returns the index of the last tick. The index of the first tick is 0. */
int32_t yk_figure_axis_last_tick(const struct yk_figure_axis *axis);

/* Writes the label of a tick: "0", "200ms". */
void yk_figure_axis_write_tick_label(const struct yk_figure_axis *axis, int32_t tick,
                                     char out[YK_UNITS_BUFFER_SIZE]);

/* Draws a vertical grid line at every tick of a horizontal axis, with the tick's label above it. */
void yk_figure_draw_vertical_grid(const struct yk_figure *figure, const struct yk_figure_axis *axis,
                                  double left, double right, double top, double bottom);

struct yk_figure_legend_entry {
    char kind[32]; /* CSS classes that colour the sample */
    char name[128];
    bool is_line; /* true means: the sample is a line, for a curve; false means: a square */
};

/* Draws a legend, on as many lines as needed. Returns its height. If `figure` is NULL, draws
 * nothing and only returns the height. */
double yk_figure_draw_legend(const struct yk_figure *figure,
                             const struct yk_figure_legend_entry *entries, int32_t count,
                             double left, double top, double right);

#endif
