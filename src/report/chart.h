/*
 * Chart: one section of a page. It shows a picture, a table or other HTML, and offers its numbers
 * as CSV. A page is a list of charts. To add a chart, write one file that defines its record (a
 * struct yk_chart), and add one row to the list of the page (plan/charts.h, run/charts.h).
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
    const char *title; /* heading of the section; NULL means: `heading` returns it */
    const char *(*heading)(const void *subject);
    /* Consecutive charts with the same `row_class` share one <div> of this CSS class. In the class
     * "pair", two charts stand side by side on a wide screen, so use this class for an even number
     * of consecutive charts. (A third chart would fill only half a row; in the page of a run it
     * fills a whole row, see web/run.css.) In the class "pair uneven", the first of two charts
     * is wider. NULL means: the chart has a row of its own. */
    const char *row_class;
    bool (*applies)(const void *subject); /* whether to show this chart; NULL means: always */

    /* Draws the picture with the width frame.width. The function itself chooses the height of the
     * picture. NULL means: there is no picture. */
    yk_status (*draw)(const void *subject, struct yk_figure frame);
    double width; /* picture width in a page on a wide screen, in pixels. The browser then scales
                     the picture to the width of its section, but to at most 680 pixels; with the
                     class "full" there is no such limit */
    double file_width; /* picture width in its own file, in pixels */
    /* CSS classes of the picture in a page, defined in web/charts.css: "full" (see `width`) or
     * "scrolled" (a tall picture gets a scroll bar). NULL means: none. */
    const char *css_class;

    /* Adds the section's HTML. NULL means: the section shows the picture. */
    yk_status (*add_html)(const void *subject, struct yk_text *out);
    const char *note; /* HTML of a paragraph at the end of the section; NULL means: none */

    const char *csv_name; /* file of the numbers: CSV_NAME.csv; NULL if `write_csv` is NULL */
    yk_status (*write_csv)(const void *subject, struct yk_text *out); /* NULL means: no numbers */
};

/* Adds the sections of all charts that apply to the subject. `charts` ends with NULL. */
yk_status yk_chart_add_sections(const struct yk_chart *const *charts, const void *subject,
                                struct yk_text *out) YK_MUST_USE;

/* Adds the chart's picture twice, for wide and for narrow screens. CSS shows only one of the two
 * pictures. */
yk_status yk_chart_add_picture(const struct yk_chart *chart, const void *subject,
                               struct yk_text *out) YK_MUST_USE;

/* Sets `*out` to the text that receives the picture. `name` is the name of its file, such as
 * "bars.svg". */
typedef yk_status (*yk_chart_picture_text_function)(void *argument, const char *name,
                                                    struct yk_text **out);

/* A yk_chart_picture_text_function for a single picture. `argument` is the struct yk_text that
 * receives it.
 */
yk_status yk_chart_use_argument_as_picture_text(void *argument, const char *name,
                                                struct yk_text **out);

/* Writes pictures as standalone SVG files, each into the text that `open` returns. If `name` is not
 * NULL, writes only the picture of the chart with this name. If `name` is NULL, writes the pictures
 * of all charts that apply. */
yk_status yk_chart_write_pictures(const struct yk_chart *const *charts, const char *name,
                                  const void *subject, yk_chart_picture_text_function open,
                                  void *argument) YK_MUST_USE;

#endif
