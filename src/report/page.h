/*
 * Files of this folder:
 *   page            the HTML around every report, and its tables
 *   web, web/       scripts, styles and HTML templates, embedded by the build
 *   chart           one section of a page
 *   lanes           bars over time, as in a Gantt chart (op_style: how ops look)
 *   figure, plot    parts of an SVG; curves in one
 *   label, csv      short texts; tables of numbers
 *   plan/, run/, schedule/, profile/    the report of each
 *
 * Page: one HTML file that needs no other file and no network, in light and dark colours, for
 * screens from the width of a phone up. The report adds its own HTML between yk_page_begin() and
 * yk_page_end(). Text arguments are escaped for HTML unless a comment says otherwise.
 */
#ifndef YK_REPORT_PAGE_H
#define YK_REPORT_PAGE_H

#include "base/text.h"
#include "report/figure.h"

enum {
    YK_PAGE_NARROW_WIDTH = 350 /* width of pictures for a phone, in pixels */
};

/* The value of a placeholder {{name}} in a template of web/. */
struct yk_page_placeholder {
    const char *name;
    const char *value;
    bool markup; /* `value` is HTML and is not escaped */
};

/* Adds the template `part` up to the first placeholder that is not in `slots`. Returns the rest of
 * the template after that placeholder, or its end. */
const char *yk_page_fill_template(const char *part, const struct yk_page_placeholder *slots,
                                  size_t count, struct yk_text *out);

/* Adds the page up to its heading. `lead` is the sentence under the title. `styles` are CSS texts
 * besides those of every page; the list ends with NULL. */
void yk_page_begin(const char *title, const char *lead, const char *const *styles,
                   struct yk_text *out);

/* Adds `before`, the escaped `text`, and `after`. `before` and `after` are HTML. */
void yk_page_add_text(const char *before, const char *text, const char *after, struct yk_text *out);

/* The headline numbers of a page. */
void yk_page_begin_headline_numbers(struct yk_text *out);
void yk_page_add_headline_number(const char *name, const char *value, struct yk_text *out);
void yk_page_end_headline_numbers(struct yk_text *out);

void yk_page_begin_section(const char *heading, struct yk_text *out);
void yk_page_end_section(struct yk_text *out);

struct yk_page_column {
    const char *name; /* HTML */
    bool left;        /* aligned left, for text; false: aligned right, for numbers */
};

/* Begins a table that can be scrolled sideways, by mouse and keyboard. `label` is HTML, its ARIA
 * label. `columns` ends with an
 * entry without a name. The caller closes each row with </tr>. */
void yk_page_begin_table(const char *label, const struct yk_page_column *columns,
                         struct yk_text *out);
void yk_page_begin_row(const char *name, struct yk_text *out);
void yk_page_add_cell(const char *text, struct yk_text *out);
void yk_page_add_unit_cell(double value, enum yk_unit unit, struct yk_text *out);

/* Adds a cell with `part` of `whole` as a bar and as a percentage. */
void yk_page_add_percent_cell(double part, double whole, struct yk_text *out);
void yk_page_end_table(struct yk_text *out);

/* Adds a CSV table, to read in the page and to download as the file ID.csv. */
void yk_page_add_csv(const char *id, const struct yk_text *csv, struct yk_text *out);

/* Adds the canvas of chart `id`, which web/time_chart.js fills; `label` is its ARIA label. */
void yk_page_add_canvas(const char *id, const char *label, struct yk_text *out);

/* A figure for a picture inside a page. */
struct yk_figure yk_page_make_figure(double width, struct yk_text *out);

/* Adds the end of the page. `scripts` are JavaScript texts that run as one script, in their order;
 * the list ends with NULL. */
void yk_page_end(const char *const *scripts, struct yk_text *out);

#endif
