#include "report/run_sections.h"

#include "report/label.h"
#include "report/page.h"
#include "report/page_chart.h"
#include "report/run_csv.h"
#include "report/run_tables.h"
#include "report/run_words.h"

#include <math.h>
#include <string.h>

enum {
    WIDE = 1240,
    MIDDLE = 720,
    MOST_NUMBERS = 400000, /* of ranks over steps, written into a page */
};

void yk_run_section_words(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                          struct yk_text *out)
{
    struct yk_text words = {0};
    struct yk_text sentence = {0};
    yk_run_words_add(report, ranks, &words);
    if (words.length > 0) {
        yk_text_add(out, "<div class=\"binds\"><strong>Where the time goes</strong>\n");
        for (const char *line = words.bytes; *line; line += strcspn(line, "\n") + 1) {
            sentence.length = 0;
            yk_text_add_bytes(&sentence, line, strcspn(line, "\n"));
            yk_text_add(out, "<p>");
            yk_text_add_xml(out, yk_text_chars(&sentence));
            yk_text_add(out, "</p>\n");
        }
        yk_text_add(out, "</div>\n");
    }
    out->failed |= words.failed || sentence.failed;
    yk_text_free(&words);
    yk_text_free(&sentence);
}

yk_status yk_run_section_rank_steps(const struct yk_run_report *report,
                                    const struct yk_run_curves *curves,
                                    const struct yk_run_ranks *ranks, struct yk_arena *arena,
                                    struct yk_text *out)
{
    static const struct {
        const char *kind;
        double width;
    } drawings[] = {
        {"at-wide full", WIDE}, {"at-middle full", MIDDLE}, {"at-narrow", YK_PAGE_NARROW}};
    const int64_t numbers = (int64_t)report->step_count * yk_run_csv_rank_columns(report);
    const int32_t stride = (int32_t)(1 + (numbers - 1) / MOST_NUMBERS);
    struct yk_text csv = {0};
    yk_page_begin_section("Computation of every rank", out);
    yk_text_add(out, "<div class=\"widths\">\n");
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        yk_text_addf(out, "<div class=\"%s\">\n", drawings[i].kind);
        YK_TRY(
            yk_run_draw_ranks(report, curves, ranks, arena, yk_page_frame(drawings[i].width, out)));
        yk_text_add(out, "</div>\n");
    }
    yk_text_add(out, "</div>\n");
    if (stride > 1) {
        yk_text_addf(out,
                     "<p class=\"note\">The numbers are of every %dth step; the metrics have them "
                     "all.</p>\n",
                     (int)stride);
    }
    yk_run_csv_rank_steps(report, stride, &csv);
    yk_page_add_numbers("rank-steps", &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
    return yk_text_status(out);
}

static void add_step(const char *before, double step_s, const char *after, struct yk_text *out)
{
    char words[YK_UNITS_SIZE];
    if (isfinite(step_s)) {
        yk_label_unit(step_s, YK_UNIT_SECONDS, words);
        yk_text_addf(out, "%s%s%s", before, words, after);
    }
}

void yk_run_section_ranks(const struct yk_run_ranks *ranks, struct yk_text *out)
{
    struct yk_text csv = {0};
    yk_page_begin_section("Ranks", out);
    yk_run_table_ranks(ranks, out);
    yk_text_add(out, "<p class=\"note\">In one step a rank computes, waits while data moves to or "
                     "from it (exposed), or waits for anything else (idle). ");
    add_step("Together that is ", ranks->predicted_step_s, " as predicted. ", out);
    add_step("The measured step is the last one, ", ranks->measured_step_s, ". ", out);
    yk_text_add(out, "Memory is that of the fullest moment.</p>\n");
    yk_run_csv_ranks(ranks, &csv);
    yk_page_add_numbers("ranks", &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
}

yk_status yk_run_section_differences(const struct yk_run_report *report,
                                     const struct yk_run_ranks *ranks, struct yk_arena *arena,
                                     struct yk_text *out)
{
    struct yk_run_difference *differences = NULL;
    struct yk_text csv = {0};
    int32_t count = 0;
    YK_TRY(yk_run_differences_find(report, YK_RUN_DIFFERENCES, arena, &differences, &count));
    if (count == 0) {
        return YK_OK;
    }
    yk_page_begin_section("Ops that differ most", out);
    yk_run_table_differences(ranks, differences, count, out);
    if (ranks->count > 1) {
        yk_text_add(out, "<p class=\"note\">All ops of one name in the step, on the rank where "
                         "they differ most. Of communication, the time while data moves counts, "
                         "not the wait for other ranks.</p>\n");
    }
    yk_run_csv_differences(ranks, differences, count, &csv);
    yk_page_add_numbers("differences", &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
    return yk_text_status(out);
}
