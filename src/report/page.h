/*
 * The room: page (the HTML around every report), web/ (its scripts, styles and templates, embedded
 * by web.h), chart (sections of a page), lanes (bars over time), figure and plot (parts of an SVG),
 * op_style, label, csv; plan/, run/, schedule/, profile/: what each of them shows.
 *
 * Page: one file that needs no other and no network, in light and dark, from a telephone's width
 * up. What is between begin and end is the report's own.
 */
#ifndef YK_REPORT_PAGE_H
#define YK_REPORT_PAGE_H

#include "base/text.h"
#include "report/figure.h"

enum {
    YK_PAGE_NARROW = 350 /* width of pictures for a telephone */
};

/* A {{name}} in a file of web/, and what takes its place. */
struct yk_page_slot {
    const char *name;
    const char *value; /* escaped, unless it is markup */
    bool markup;
};

/* Writes a part of web/ up to its first slot that is not among `slots`; returns what follows that
 * slot, the end where there is none. */
const char *yk_page_fill(const char *part, const struct yk_page_slot *slots, size_t count,
                         struct yk_text *out);

/* Everything up to and with the heading. `lead` is the sentence under the title; `styles` is CSS
 * besides that of every page, texts ended by a NULL. */
void yk_page_begin(const char *title, const char *lead, const char *const *styles,
                   struct yk_text *out);

/* Headline figures stand side by side between these two. */
void yk_page_begin_figures(struct yk_text *out);
void yk_page_add_figure(const char *name, const char *value, struct yk_text *out);
void yk_page_end_figures(struct yk_text *out);

void yk_page_begin_section(const char *heading, struct yk_text *out);
void yk_page_end_section(struct yk_text *out);

struct yk_page_column {
    const char *name;
    bool left; /* text, not numbers */
};

/* A table of `columns`, which one without a name ends; what is wider than the page can be scrolled
 * by keys, too. A row begins with its name and ends with </tr>. */
void yk_page_begin_table(const char *label, const struct yk_page_column *columns,
                         struct yk_text *out);
void yk_page_begin_row(const char *name, struct yk_text *out);
void yk_page_add_cell(const char *text, struct yk_text *out);
void yk_page_add_unit(double value, enum yk_unit unit, struct yk_text *out);

/* `part` of `whole`, as a length and as a percentage. */
void yk_page_add_meter(double part, double whole, struct yk_text *out);
void yk_page_end_table(struct yk_text *out);

/* The numbers of a picture: to read, and to download as the file `id`.csv. */
void yk_page_add_numbers(const char *id, const struct yk_text *csv, struct yk_text *out);

/* A place for the rows of chart `id`, which a script fills (web/lanes.js). */
void yk_page_add_chart(const char *id, const char *label, struct yk_text *out);

/* The frame of a picture in a page. */
struct yk_figure yk_page_frame(double width, struct yk_text *out);

/* The rest of the page, with `scripts` run in it: texts that follow each other, ended by a NULL. */
void yk_page_end(const char *const *scripts, struct yk_text *out);

#endif
