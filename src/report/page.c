#include "report/page.h"

/* Words between two pieces of HTML. */
static void add_between(const char *before, const char *words, const char *after,
                        struct yk_text *out)
{
    yk_text_add(out, before);
    yk_text_add_xml(out, words);
    yk_text_add(out, after);
}

void yk_page_begin(const char *title, const char *lead, const char *style, struct yk_text *out)
{
    yk_text_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n"
                     "<link rel=\"icon\" href=\"data:,\">\n<title>");
    yk_text_add_xml(out, title);
    yk_text_add(out, "</title>\n<style>\n");
    yk_text_add(out, yk_page_style);
    yk_text_add(out, style);
    add_between("</style>\n</head>\n<body>\n<main>\n<header>\n<h1>", title, "</h1>\n", out);
    add_between("<p>", lead, "</p>\n</header>\n", out);
}

void yk_page_begin_figures(struct yk_text *out)
{
    yk_text_add(out, "<dl class=\"figures\">\n");
}

void yk_page_add_figure(const char *name, const char *value, struct yk_text *out)
{
    add_between("<div><dt>", name, "</dt>", out);
    add_between("<dd>", value, "</dd></div>\n", out);
}

void yk_page_end_figures(struct yk_text *out)
{
    yk_text_add(out, "</dl>\n");
}

void yk_page_begin_section(const char *heading, struct yk_text *out)
{
    add_between("<section>\n<h2>", heading, "</h2>\n", out);
}

void yk_page_end_section(struct yk_text *out)
{
    yk_text_add(out, "</section>\n");
}

void yk_page_add_cell(const char *words, struct yk_text *out)
{
    add_between("<td>", words, "</td>", out);
}

void yk_page_end(const char *const *scripts, struct yk_text *out)
{
    yk_text_add(out, "</main>\n<script>\n(() => {\n'use strict';\n");
    for (; *scripts; scripts++) {
        yk_text_add(out, *scripts);
    }
    yk_text_add(out, "})();\n</script>\n</body>\n</html>\n");
}
