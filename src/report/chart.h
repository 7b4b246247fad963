/*
 * Chart: one section of a page: a picture, a table, or its own HTML, with its numbers as CSV. A
 * page is a list of charts. To add a chart, write one file with its record, and add one row to the
 * list of the page (plan/charts.h, run/charts.h).
 *
 * The functions of a record get the subject of the page: struct yk_equal_ranks_sets for a plan,
 * struct yk_run_page_data for a run. Records are constant.
 */
#ifndef YK_REPORT_CHART_H
#define YK_REPORT_CHART_H

#include "base/status.h"
#include "report/figure.h"

enum {
    YK_CHART_HALF_WIDTH = 580 /* picture width in pixels where two charts share a row of the page */
};

struct yk_chart {
    const char *name;  /* the picture's file is NAME.svg; NULL if `draw` is NULL */
    const char *title; /* heading of the section; NULL: `heading` returns it */
    const char *(*heading)(const void *subject);
    const char *row_class; /* consecutive charts with the same value share one <div> of this CSS
                              class; NULL: the chart stands in a row of its own */
    bool (*applies)(const void *subject); /* whether the page has this chart; NULL: always */

    /* Draws the picture at the figure's width and sets its height. NULL: there is no picture. */
    yk_status (*draw)(const void *subject, struct yk_figure frame);
    double width;      /* picture width in a page on a wide screen, in pixels; the browser scales
                          the picture down, and up to 680 pixels, or with the class "full" to the
                          width of its section */
    double file_width; /* picture width in its own file, in pixels */
    const char *css_class; /* CSS classes of the picture in a page, of web/charts.css: "full" (see
                              `width`), "scrolled" (a tall picture gets a scroll bar); NULL: none */

    /* Adds the section's HTML. NULL: the section shows the picture. */
    yk_status (*add_html)(const void *subject, struct yk_text *out);
    const char *note; /* HTML of a paragraph below; NULL: none */

    const char *csv_name; /* the numbers' file is CSV_NAME.csv; NULL if `write_csv` is NULL */
    yk_status (*write_csv)(const void *subject, struct yk_text *out); /* NULL: no numbers */
};

/* Adds the sections of all charts that apply. `charts` ends with NULL. */
yk_status yk_chart_add_sections(const struct yk_chart *const *charts, const void *subject,
                                struct yk_text *out) YK_MUST_USE;

/* Adds the chart's picture twice, for wide and for narrow screens; CSS shows one of them. */
yk_status yk_chart_add_picture(const struct yk_chart *chart, const void *subject,
                               struct yk_text *out) YK_MUST_USE;

/* Returns in `out` the text that receives the picture file `name`, such as "bars.svg". */
typedef yk_status (*yk_chart_open_file)(void *argument, const char *name, struct yk_text **out);

/* A yk_chart_open_file for a single picture: `argument` is the text. */
yk_status yk_chart_open_single_text(void *argument, const char *name, struct yk_text **out);

/* Writes pictures as standalone SVG files, each into the text that `open` returns: the picture of
 * the chart called `name`, or with name NULL those of all charts that apply. */
yk_status yk_chart_write_svg(const struct yk_chart *const *charts, const char *name,
                             const void *subject, yk_chart_open_file open,
                             void *argument) YK_MUST_USE;

#endif
