#include "report/chart.h"

#include "report/page.h"

#include <stdio.h>
#include <string.h>

static bool applies(const struct yk_chart *chart, const void *subject)
{
    return !chart->applies || chart->applies(subject);
}

yk_status yk_chart_add_picture(const struct yk_chart *chart, const void *subject,
                               struct yk_text *out)
{
    for (int narrow = 0; narrow < 2; narrow++) {
        yk_text_addf(out, "<div class=\"at-%s%s%s\">\n", narrow ? "narrow" : "wide",
                     chart->css_class ? " " : "", chart->css_class ? chart->css_class : "");
        YK_TRY(chart->draw(subject,
                           yk_page_make_figure(narrow ? YK_PAGE_NARROW_WIDTH : chart->width, out)));
        yk_text_add(out, "</div>\n");
    }
    return YK_OK;
}

static yk_status add_numbers(const struct yk_chart *chart, const void *subject, struct yk_text *out)
{
    struct yk_text csv = {0};
    const yk_status status = chart->write_csv(subject, &csv);
    yk_page_add_csv_table(chart->csv_name, &csv, out);
    yk_text_free(&csv);
    return status;
}

static yk_status add_section(const struct yk_chart *chart, const void *subject, struct yk_text *out)
{
    yk_page_begin_section(chart->title ? chart->title : chart->heading(subject), out);
    YK_TRY(chart->add_html ? chart->add_html(subject, out)
                           : yk_chart_add_picture(chart, subject, out));
    if (chart->note) {
        yk_text_addf(out, "<p class=\"note\">%s</p>\n", chart->note);
    }
    if (chart->write_csv) {
        YK_TRY(add_numbers(chart, subject, out));
    }
    yk_page_end_section(out);
    return YK_OK;
}

yk_status yk_chart_add_sections(const struct yk_chart *const *charts, const void *subject,
                                struct yk_text *out)
{
    const char *row = "";
    for (; *charts; charts++) {
        const char *next = (*charts)->row_class ? (*charts)->row_class : "";
        if (!applies(*charts, subject)) {
            continue;
        }
        if (strcmp(row, next) != 0) {
            yk_text_add(out, *row ? "</div>\n" : "");
            if (*next) {
                yk_text_addf(out, "<div class=\"%s\">\n", next);
            }
            row = next;
        }
        YK_TRY(add_section(*charts, subject, out));
    }
    yk_text_add(out, *row ? "</div>\n" : "");
    return yk_text_status(out);
}

yk_status yk_chart_use_argument_as_picture_text(void *argument, const char *name,
                                                struct yk_text **out)
{
    (void)name;
    *out = argument;
    return YK_OK;
}

static yk_status write_picture(const struct yk_chart *chart, const void *subject,
                               yk_chart_picture_text_function open, void *argument)
{
    struct yk_text *text = NULL;
    char name[64];
    snprintf(name, sizeof name, "%s.svg", chart->name);
    YK_TRY(open(argument, name, &text));
    YK_TRY(chart->draw(
        subject, (struct yk_figure){.width = chart->file_width, .standalone = true, .out = text}));
    return yk_text_status(text);
}

yk_status yk_chart_write_pictures(const struct yk_chart *const *charts, const char *name,
                                  const void *subject, yk_chart_picture_text_function open,
                                  void *argument)
{
    for (; *charts; charts++) {
        if ((*charts)->draw &&
            (name ? strcmp((*charts)->name, name) == 0 : applies(*charts, subject))) {
            YK_TRY(write_picture(*charts, subject, open, argument));
        }
    }
    return YK_OK;
}
