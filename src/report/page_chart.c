#include "report/page_chart.h"

#include "report/plan_look.h"

#include <math.h>
#include <string.h>

enum {
    MOST_EVENTS = 300000, /* written into a page */
    LINES_IN_PIECE = 200,
};

/* Lines in pieces: a browser lays out only those in sight. */
static void add_lines(const struct yk_text *lines, struct yk_text *out)
{
    struct yk_text piece = {0};
    for (size_t at = 0; at < lines->length;) {
        size_t end = at;
        for (int i = 0; i < LINES_IN_PIECE && end < lines->length; i++) {
            const char *newline = memchr(lines->bytes + end, '\n', lines->length - end);
            end = newline ? (size_t)(newline - lines->bytes) + 1 : lines->length;
        }
        piece.length = 0;
        yk_text_add_bytes(&piece, lines->bytes + at, end - at);
        yk_text_add(out, "<code>");
        yk_text_add_xml(out, yk_text_chars(&piece));
        yk_text_add(out, "</code>");
        at = end;
    }
    out->failed |= piece.failed;
    yk_text_free(&piece);
}

void yk_page_add_numbers(const char *id, const struct yk_text *csv, struct yk_text *out)
{
    yk_text_addf(
        out,
        "<div class=\"numbers\">\n<button type=\"button\" class=\"save\" data-csv=\"csv-%s\" "
        "data-file=\"%s.csv\" hidden>Download CSV</button>\n"
        "<details><summary>The numbers</summary>\n"
        "<pre id=\"csv-%s\" tabindex=\"0\" aria-label=\"%s.csv\">\n",
        id, id, id, id);
    add_lines(csv, out);
    yk_text_add(out, "</pre></details></div>\n");
    out->failed |= csv->failed;
}

void yk_page_add_op_legend(const struct yk_plan_folds *folds, struct yk_text *out)
{
    bool uses[YK_LOOK_OP_COUNT] = {false};
    for (int32_t f = 0; f < folds->count; f++) {
        for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
            const struct yk_plan_lane *lane = &folds->folds[f].lanes[l];
            for (int32_t i = 0; i < lane->count; i++) {
                uses[yk_look_op_kind(lane->events[i]->op)] = true;
            }
        }
    }
    yk_text_add(out, "<div class=\"legend live\" role=\"group\" aria-label=\"Kinds of ops to "
                     "light up\" hidden>\n");
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        const char *name = yk_look_op_name(k);
        if (uses[k]) {
            yk_text_addf(out,
                         "<button type=\"button\" data-kind=\"%s\" data-code=\"%s\" "
                         "aria-pressed=\"false\"><i class=\"op-%s\" aria-hidden=\"true\">%s</i>%s"
                         "</button>\n",
                         name, yk_look_op_code(k), name, yk_look_op_code(k), name);
        }
    }
    yk_text_add(out, "</div>\n");
}

void yk_page_add_chart(const char *id, const char *label, struct yk_text *out)
{
    yk_text_addf(
        out,
        "<div class=\"rows\" id=\"%s-chart\" hidden><div class=\"tall\"><canvas "
        "tabindex=\"0\" role=\"application\" aria-roledescription=\"chart\" "
        "aria-label=\"%s. Arrow keys go from one to the next; plus, minus and 0 zoom; Shift "
        "and arrows move.\"></canvas></div></div>\n",
        id, label);
}

void yk_page_add_timeline(double span_s, double step_s, double bound_s, struct yk_text *out)
{
    yk_text_add(out, "<div class=\"timeline controls live\" data-span=\"");
    yk_text_add_number(out, span_s);
    yk_text_add(out, "\" data-step=\"");
    yk_text_add_number(out, isfinite(step_s) ? step_s : -1);
    yk_text_add(out, "\" data-bound=\"");
    yk_text_add_number(out, isfinite(bound_s) ? bound_s : -1);
    yk_text_add(
        out,
        "\" hidden>\n"
        "<button type=\"button\" id=\"zoom-out\" aria-label=\"Zoom out\">\xe2\x88\x92</button>\n"
        "<button type=\"button\" id=\"zoom-in\" aria-label=\"Zoom in\">+</button>\n"
        "<button type=\"button\" id=\"fit\">Fit</button>\n"
        "<output id=\"range\"></output>\n</div>\n");
}

int32_t yk_page_written_folds(const struct yk_plan_folds *folds)
{
    int64_t events = 0;
    for (int32_t f = 0; f < folds->count; f++) {
        for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
            events += folds->folds[f].lanes[l].count;
        }
        if (events > MOST_EVENTS && f > 0) {
            return f;
        }
    }
    return folds->count;
}

void yk_page_begin_width(bool narrow, struct yk_text *out)
{
    yk_text_add(out, narrow ? "<div class=\"at-narrow\">\n" : "<div class=\"at-wide\">\n");
}

struct yk_figure yk_page_frame(double width, struct yk_text *out)
{
    return (struct yk_figure){.width = width, .out = out};
}

void yk_page_add_tip(struct yk_text *out)
{
    yk_text_add(out, "<div id=\"tip\" role=\"tooltip\" hidden></div>\n"
                     "<p id=\"told\" aria-live=\"polite\"></p>\n");
}
