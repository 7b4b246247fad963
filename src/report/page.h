/* Page: the shell of every HTML report: one file that needs no other and no network, in light and
 * dark, from a telephone's width up. What is between begin and end is the report's own. */
#ifndef YK_REPORT_PAGE_H
#define YK_REPORT_PAGE_H

#include "base/text.h"

/* Everything up to and with the heading. `lead` is the sentence under the title; `style` is CSS of
 * the report's own, besides that of every page. */
void yk_page_begin(const char *title, const char *lead, const char *style, struct yk_text *out);

/* Headline figures stand side by side between these two. */
void yk_page_begin_figures(struct yk_text *out);
void yk_page_add_figure(const char *name, const char *value, struct yk_text *out);
void yk_page_end_figures(struct yk_text *out);

void yk_page_begin_section(const char *heading, struct yk_text *out);
void yk_page_end_section(struct yk_text *out);

/* A cell of a table. */
void yk_page_add_cell(const char *words, struct yk_text *out);

/* The rest of the page, with `scripts` run in it: texts that follow each other, ended by a NULL. */
void yk_page_end(const char *const *scripts, struct yk_text *out);

/* The look of every page, as CSS. */
extern const char yk_page_style[];

/* A function of scripts: an element of that name, with words in it. */
#define YK_PAGE_SCRIPT_TAG                                                                         \
    "function tag(name, words, className) {\n"                                                     \
    "  const element = document.createElement(name);\n"                                            \
    "  element.textContent = words;\n"                                                             \
    "  if (className) {\n"                                                                         \
    "    element.className = className;\n"                                                         \
    "  }\n"                                                                                        \
    "  return element;\n"                                                                          \
    "}\n"

#endif
