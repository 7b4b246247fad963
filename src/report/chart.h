/*
 * Chart: one section of a page: a picture, a table, or HTML of its own, and its numbers. A page is
 * a list of charts; one file with such a record, and one row in its page's list (plan/charts.h,
 * run/charts.h), adds one. Every function gets the subject of the page: struct yk_equal_ranks_sets
 * of a plan, struct yk_run_page of a run. Records never change.
 */
#ifndef YK_REPORT_CHART_H
#define YK_REPORT_CHART_H

#include "base/status.h"
#include "report/figure.h"

enum {
    YK_CHART_HALF = 580 /* width of two charts in one row */
};

struct yk_chart {
    const char *name;  /* of the picture as a file, NAME.svg */
    const char *title; /* of the section; NULL: what `heading` returns */
    const char *(*heading)(const void *subject);
    const char *row; /* class of the <div> that neighbours with the same share; NULL: alone */
    bool (*applies)(const void *subject); /* NULL: always */

    /* The picture at the frame's width; it sets its height itself. NULL: none. */
    yk_status (*draw)(const void *subject, struct yk_figure frame);
    double width;      /* of the picture in a page, where that is wide */
    double file_width; /* and in a file of its own */
    const char *style; /* classes of the picture in a page: "full", "scrolled"; NULL: none */

    /* The section's HTML instead of the picture. NULL: the picture, for wide and narrow screens. */
    yk_status (*add)(const void *subject, struct yk_text *out);
    const char *note; /* a paragraph below; NULL: none */

    const char *numbers; /* of the table of numbers, NUMBERS.csv; NULL: none */
    yk_status (*csv)(const void *subject, struct yk_text *out);
};

/* The sections of all charts that apply, in the order of the list, which a NULL ends. */
yk_status yk_chart_add_all(const struct yk_chart *const *charts, const void *subject,
                           struct yk_text *out) YK_MUST_USE;

/* The picture of a chart for wide and narrow screens, of which a page shows the one that suits. */
yk_status yk_chart_add_picture(const struct yk_chart *chart, const void *subject,
                               struct yk_text *out) YK_MUST_USE;

/* Gives the text for a picture as the file `name`, "bars.svg". */
typedef yk_status (*yk_chart_open)(void *argument, const char *name, struct yk_text **out);

/* An `open` for one picture: its argument is the text. */
yk_status yk_chart_open_text(void *argument, const char *name, struct yk_text **out);

/* The picture of chart `name`, or of every chart, for NULL, that applies, each as an SVG that
 * stands alone in the text that `open` gives. */
yk_status yk_chart_write(const struct yk_chart *const *charts, const char *name,
                         const void *subject, yk_chart_open open, void *argument) YK_MUST_USE;

#endif
