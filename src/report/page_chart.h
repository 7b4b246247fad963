/*
 * Page chart: the parts that pages with charts have in common: rows over time that a script draws,
 * what steers them, the numbers of a picture as CSV, and pictures in two widths.
 */
#ifndef YK_REPORT_PAGE_CHART_H
#define YK_REPORT_PAGE_CHART_H

#include "base/text.h"
#include "report/plan_figure.h"
#include "report/plan_fold.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_PAGE_NARROW = 350 /* width of pictures for a telephone */
};

/* The numbers of a picture: to look at, and to take away as the file `id`.csv. */
void yk_page_add_numbers(const char *id, const struct yk_text *csv, struct yk_text *out);

/* Buttons that zoom all charts over time, with the times they know of; a step or bound that is not
 * finite is not marked. */
void yk_page_add_timeline(double span_s, double step_s, double bound_s, struct yk_text *out);

/* The kinds of ops that the folds hold, as buttons that light them up. */
void yk_page_add_op_legend(const struct yk_plan_folds *folds, struct yk_text *out);

/* A place for the rows of chart `id`, which a script fills. */
void yk_page_add_chart(const char *id, const char *label, struct yk_text *out);

/* How many folds, from the first, have no more events than a page should hold. */
int32_t yk_page_written_folds(const struct yk_plan_folds *folds);

/* A picture in two widths, of which a page shows the one that suits the screen; ends with </div>.
 */
void yk_page_begin_width(bool narrow, struct yk_text *out);

/* The frame of a picture in a page. */
struct yk_figure yk_page_frame(double width, struct yk_text *out);

/* Where the scripts show and say what is pointed at: once in a page, at its end. */
void yk_page_add_tip(struct yk_text *out);

#endif
