/*
 * Page: writes one HTML file that needs no other file and no network. The page has light and dark
 * colours, and fits all screens, also the narrow screen of a phone. The report adds its own HTML
 * between yk_page_begin() and yk_page_end(). Text arguments are escaped for HTML unless a comment
 * says otherwise.
 *
 * Files of this folder:
 *   page            the HTML around every report, and its tables
 *   web_files.h, web/    scripts, styles and HTML templates, which the build embeds
 *   chart           one section of a page
 *   time_chart      bars over time, as in a Gantt chart
 *   op_style        colour, name and symbol of ops in time charts (declared in time_chart.h)
 *   figure          elements of an SVG picture
 *   plot            an SVG picture with curves
 *   label           short texts for pictures and tables
 *   csv             tables of numbers
 *   plan/, run/, schedule/, profile/    the report about a plan, a run, a schedule or a profile
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
};

/* Adds the template `part`, with the values of its placeholders, up to the first placeholder that
 * is not in `slots`. Returns the rest of the template after this placeholder, which is empty if all
 * placeholders are in `slots`. */
const char *yk_page_fill_template_until_unknown(const char *part,
                                                const struct yk_page_placeholder *slots,
                                                size_t count, struct yk_text *out);

/* Adds the page up to the end of its heading. `lead` is the sentence under the title. `styles` are
 * additional CSS texts; page.css, figure.css and palette.css are in every page. The list ends with
 * NULL. */
void yk_page_begin(const char *title, const char *lead, const char *const *styles,
                   struct yk_text *out);

/* Adds `before`, the escaped `text`, and `after`. `before` and `after` are HTML. */
void yk_page_add_escaped_text_between(const char *before, const char *text, const char *after,
                                      struct yk_text *out);

/* Add the headline numbers, a short list of the most important values at the top of a page. */
void yk_page_begin_headline_numbers(struct yk_text *out);
void yk_page_add_headline_number(const char *name, const char *value, struct yk_text *out);
void yk_page_end_headline_numbers(struct yk_text *out);

void yk_page_begin_section(const char *heading, struct yk_text *out);
void yk_page_end_section(struct yk_text *out);

struct yk_page_column {
    const char *name; /* title of the column, as HTML */
    bool left; /* true means: aligned left, for text; false means: aligned right, for numbers */
};

/* Begins a table that can be scrolled sideways, with the mouse and with the keyboard. `label` is
 * the ARIA label of the table, as HTML. `columns` ends with an entry whose name is NULL. The caller
 * closes each row with </tr>. */
void yk_page_begin_table(const char *label, const struct yk_page_column *columns,
                         struct yk_text *out);
void yk_page_begin_named_row(const char *name, struct yk_text *out);
void yk_page_add_cell(const char *text, struct yk_text *out);
void yk_page_add_unit_cell(double value, enum yk_unit unit, struct yk_text *out);

/* Adds a cell that shows `part` as a percentage of `whole`, as a bar and as a number. */
void yk_page_add_percent_cell(double part, double whole, struct yk_text *out);
void yk_page_end_table(struct yk_text *out);

/* Adds a CSV table that can be read in the page, and downloaded as a file. If `id` is "memory", the
 * name of the file is "memory.csv". */
void yk_page_add_csv_table(const char *id, const struct yk_text *csv, struct yk_text *out);

/* Adds the canvas of the chart `id`, on which web/time_chart.js draws. `label` is the ARIA label of
 * the canvas. */
void yk_page_add_canvas(const char *id, const char *label, struct yk_text *out);

/* Returns a figure for a picture inside a page. */
struct yk_figure yk_page_make_figure(double width, struct yk_text *out);

/* Adds the end of the page. `scripts` are JavaScript texts, which are joined in this order into one
 * script; the list ends with NULL. */
void yk_page_end(const char *const *scripts, struct yk_text *out);

#endif
