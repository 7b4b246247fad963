#include "report/page.h"

#include "report/label.h"
#include "report/web_files.h"

#include <math.h>
#include <string.h>

enum {
    LINES_IN_BLOCK = 200
};

void yk_page_add_escaped_text_between(const char *before, const char *text, const char *after,
                                      struct yk_text *out)
{
    yk_text_add(out, before);
    yk_text_add_xml_escaped(out, text);
    yk_text_add(out, after);
}

static const struct yk_page_placeholder *
find_slot(const char *name, size_t length, const struct yk_page_placeholder *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(slots[i].name) == length && strncmp(slots[i].name, name, length) == 0) {
            return &slots[i];
        }
    }
    return NULL;
}

const char *yk_page_fill_template_until_unknown(const char *part,
                                                const struct yk_page_placeholder *slots,
                                                size_t count, struct yk_text *out)
{
    for (const char *name = strstr(part, "{{"); name; name = strstr(part, "{{")) {
        const size_t length = strcspn(name + 2, "}");
        const struct yk_page_placeholder *slot = find_slot(name + 2, length, slots, count);
        yk_text_add_bytes(out, part, (size_t)(name - part));
        part = name + 2 + length + 2;
        if (!slot) {
            return part;
        }
        yk_text_add_xml_escaped(out, slot->value);
    }
    yk_text_add(out, part);
    return part + strlen(part);
}

static void add_all(const char *const *texts, struct yk_text *out)
{
    for (; *texts; texts++) {
        yk_text_add(out, *texts);
    }
}

void yk_page_begin(const char *title, const char *lead, const char *const *styles,
                   struct yk_text *out)
{
    const struct yk_page_placeholder slots[] = {{"title", title}, {"lead", lead}};
    const size_t count = sizeof slots / sizeof *slots;
    const char *rest = yk_page_fill_template_until_unknown(yk_web_page_html, slots, count, out);
    yk_text_add(out, yk_web_page_css);
    yk_text_add(out, yk_web_figure_css);
    yk_text_add(out, yk_web_palette_css);
    add_all(styles, out);
    (void)yk_page_fill_template_until_unknown(rest, slots, count, out);
}

void yk_page_begin_headline_numbers(struct yk_text *out)
{
    yk_text_add(out, "<dl class=\"figures\">\n");
}

void yk_page_add_headline_number(const char *name, const char *value, struct yk_text *out)
{
    yk_page_add_escaped_text_between("<div><dt>", name, "</dt>", out);
    yk_page_add_escaped_text_between("<dd>", value, "</dd></div>\n", out);
}

void yk_page_end_headline_numbers(struct yk_text *out)
{
    yk_text_add(out, "</dl>\n");
}

void yk_page_begin_section(const char *heading, struct yk_text *out)
{
    yk_page_add_escaped_text_between("<section>\n<h2>", heading, "</h2>\n", out);
}

void yk_page_end_section(struct yk_text *out)
{
    yk_text_add(out, "</section>\n");
}

void yk_page_add_cell(const char *text, struct yk_text *out)
{
    yk_page_add_escaped_text_between("<td>", text, "</td>", out);
}

void yk_page_begin_table(const char *label, const struct yk_page_column *columns,
                         struct yk_text *out)
{
    yk_text_addf(out,
                 "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>\n"
                 "<thead><tr>",
                 label);
    for (; columns->name; columns++) {
        yk_text_addf(out, "<th scope=\"col\"%s>%s</th>", columns->left ? " class=\"left\"" : "",
                     columns->name);
    }
    yk_text_add(out, "</tr></thead>\n<tbody>\n");
}

void yk_page_begin_named_row(const char *name, struct yk_text *out)
{
    yk_page_add_escaped_text_between("<tr><th scope=\"row\">", name, "</th>", out);
}

void yk_page_add_unit_cell(double value, enum yk_unit unit, struct yk_text *out)
{
    yk_page_add_cell(YK_LABEL_WITH_UNIT(value, unit), out);
}

void yk_page_add_percent_cell(double part, double whole, struct yk_text *out)
{
    const bool known = isfinite(part) && whole > 0;
    yk_text_addf(out,
                 "<td><span class=\"meter%s\" style=\"--part:%.1f%%\"></span>"
                 "<span class=\"percent\">%s</span></td>",
                 known && part > whole ? " over" : "",
                 known ? 100 * fmin(fmax(part / whole, 0), 1) : 0,
                 known ? YK_LABEL_PERCENT(part, whole) : "\xe2\x80\x93");
}

void yk_page_end_table(struct yk_text *out)
{
    yk_text_add(out, "</tbody>\n</table></div>\n");
}

/* Adds lines in blocks, so that a browser lays out only the visible blocks. */
static void add_lines(const struct yk_text *lines, struct yk_text *out)
{
    for (size_t at = 0; at < lines->length;) {
        size_t end = at;
        for (int i = 0; i < LINES_IN_BLOCK && end < lines->length; i++) {
            const char *newline = memchr(lines->bytes + end, '\n', lines->length - end);
            end = newline ? (size_t)(newline - lines->bytes) + 1 : lines->length;
        }
        yk_text_add(out, "<code>");
        yk_text_add_xml_escaped_bytes(out, lines->bytes + at, end - at);
        yk_text_add(out, "</code>");
        at = end;
    }
}

void yk_page_add_csv_table(const char *id, const struct yk_text *csv, struct yk_text *out)
{
    const struct yk_page_placeholder slot = {"id", id};
    const char *rest = yk_page_fill_template_until_unknown(yk_web_numbers_html, &slot, 1, out);
    add_lines(csv, out);
    yk_text_add(out, rest);
    out->failed |= csv->failed;
}

void yk_page_add_canvas(const char *id, const char *label, struct yk_text *out)
{
    const struct yk_page_placeholder slots[] = {{"id", id}, {"label", label}};
    (void)yk_page_fill_template_until_unknown(yk_web_chart_html, slots,
                                              sizeof slots / sizeof *slots, out);
}

struct yk_figure yk_page_make_figure(double width, struct yk_text *out)
{
    return (struct yk_figure){.width = width, .out = out};
}

void yk_page_end(const char *const *scripts, struct yk_text *out)
{
    const char *content = strstr(yk_web_page_html, "{{content}}");
    const char *rest =
        yk_page_fill_template_until_unknown(content + strlen("{{content}}"), NULL, 0, out);
    add_all(scripts, out);
    yk_text_add(out, rest);
}
