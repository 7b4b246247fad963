#include "report/run_tables.h"

#include "report/label.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>

/* What is not known, or would be a ratio to nothing. */
static const char *const NOTHING = "\xe2\x80\x93";

static void add_seconds(double seconds, struct yk_text *out)
{
    char words[YK_UNITS_SIZE];
    yk_label_unit(seconds, YK_UNIT_SECONDS, words);
    yk_page_add_cell(isfinite(seconds) ? words : NOTHING, out);
}

static void add_ratio(double measured_s, double predicted_s, struct yk_text *out)
{
    char words[YK_NUMBER_SIZE];
    snprintf(words, sizeof words, measured_s < 100 * predicted_s ? "%.2f" : "%.0f",
             measured_s / predicted_s);
    yk_page_add_cell(predicted_s > 0 && isfinite(measured_s / predicted_s) ? words : NOTHING, out);
}

static void add_kind(int32_t number, const struct yk_run_kind *kind, bool predicted, bool measured,
                     struct yk_text *out)
{
    const double predicted_s = predicted ? kind->seconds[YK_RUN_PREDICTED] : NAN;
    const double measured_s = measured ? kind->seconds[YK_RUN_MEASURED] : NAN;
    const char *name = yk_look_op_name(number);
    char count[YK_NUMBER_SIZE];
    yk_label_count(measured ? kind->count[YK_RUN_MEASURED] : kind->count[YK_RUN_PREDICTED], count);
    yk_text_addf(out, "<tr><th scope=\"row\"><i class=\"op-%s\" aria-hidden=\"true\"></i>%s</th>",
                 name, name);
    yk_page_add_cell(count, out);
    add_seconds(predicted_s, out);
    add_seconds(measured_s, out);
    add_ratio(measured_s, predicted_s, out);
    yk_text_add(out, "</tr>\n");
}

static void add_total(const char *name, double predicted_s, double measured_s, struct yk_text *out)
{
    yk_text_addf(out, "<tr class=\"total\"><th scope=\"row\">%s</th><td></td>", name);
    add_seconds(predicted_s, out);
    add_seconds(measured_s, out);
    add_ratio(measured_s, predicted_s, out);
    yk_text_add(out, "</tr>\n");
}

void yk_run_table_kinds(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                        const struct yk_run_kind kinds[YK_LOOK_OP_COUNT], struct yk_text *out)
{
    yk_text_add(out, "<div class=\"wide kinds\">\n<table>\n<thead><tr><th scope=\"col\">kind</th>"
                     "<th scope=\"col\">ops</th><th scope=\"col\">predicted</th>"
                     "<th scope=\"col\">measured</th><th scope=\"col\">ratio</th></tr></thead>\n"
                     "<tbody>\n");
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        if (kinds[k].count[YK_RUN_PREDICTED] > 0 || kinds[k].count[YK_RUN_MEASURED] > 0) {
            add_kind(k, &kinds[k], report->predicted != NULL, report->measured != NULL, out);
        }
    }
    add_total("this step", ranks->predicted_step_s, ranks->measured_step_s, out);
    add_total("median step", report->predicted_step_s, report->measured_step_s, out);
    yk_text_add(out, "</tbody>\n</table>\n</div>\n");
}

/* "cpu1", with its number where names alone may not tell. */
static void begin_rank(const struct yk_run_ranks *ranks, int32_t rank, struct yk_text *out)
{
    yk_text_addf(out, "<tr><th scope=\"row\"><span class=\"rank\">%d</span>", (int)rank);
    yk_text_add_xml(out, ranks->ranks[rank].device);
    yk_text_add(out, "</th>");
}

static void add_bytes(double bytes, struct yk_text *out)
{
    char words[YK_UNITS_SIZE];
    yk_label_unit(bytes, YK_UNIT_BYTES, words);
    yk_page_add_cell(isfinite(bytes) ? words : NOTHING, out);
}

static void add_share(double share, struct yk_text *out)
{
    char words[YK_NUMBER_SIZE] = "";
    if (isfinite(share)) {
        yk_label_number(share, words);
    }
    yk_page_add_cell(isfinite(share) ? words : NOTHING, out);
}

void yk_run_table_ranks(const struct yk_run_ranks *ranks, struct yk_text *out)
{
    static const char *const heads[] = {"compute", "exposed", "idle", "memory"};
    yk_text_add(out, "<div class=\"wide ranks\" tabindex=\"0\" role=\"group\" aria-label=\"Ranks\">"
                     "<table>\n<thead><tr><th scope=\"col\" rowspan=\"2\">device</th>"
                     "<th scope=\"col\" rowspan=\"2\">share</th>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        yk_text_addf(out, "<th scope=\"colgroup\" colspan=\"3\">%s</th>", heads[i]);
    }
    yk_text_add(out, "</tr>\n<tr>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        yk_text_add(out, "<th scope=\"col\">predicted</th><th scope=\"col\">measured</th>"
                         "<th scope=\"col\">ratio</th>");
    }
    yk_text_add(out, "</tr></thead>\n<tbody>\n");
    for (int32_t r = 0; r < ranks->count; r++) {
        const struct yk_run_rank *rank = &ranks->ranks[r];
        const double times[][2] = {
            {rank->predicted.compute_s, rank->measured.compute_s},
            {rank->predicted.exposed_s, rank->measured.exposed_s},
            {rank->predicted.idle_s, rank->measured.idle_s},
        };
        begin_rank(ranks, r, out);
        add_share(rank->share, out);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            add_seconds(times[i][0], out);
            add_seconds(times[i][1], out);
            add_ratio(times[i][1], times[i][0], out);
        }
        add_bytes(rank->predicted_bytes, out);
        add_bytes(rank->measured_bytes, out);
        add_ratio(rank->measured_bytes, rank->predicted_bytes, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_text_add(out, "</tbody>\n</table></div>\n");
}

void yk_run_table_differences(const struct yk_run_ranks *ranks,
                              const struct yk_run_difference *differences, int32_t count,
                              struct yk_text *out)
{
    yk_text_add(out, "<div class=\"wide kinds\">\n<table>\n<thead><tr><th scope=\"col\">op</th>"
                     "<th scope=\"col\" class=\"left\">on</th><th scope=\"col\">predicted</th>"
                     "<th scope=\"col\">measured</th><th scope=\"col\">ratio</th></tr></thead>\n"
                     "<tbody>\n");
    for (int32_t i = 0; i < count; i++) {
        const struct yk_run_difference *difference = &differences[i];
        yk_text_addf(out, "<tr><th scope=\"row\"><i class=\"op-%s\" aria-hidden=\"true\"></i>",
                     yk_look_op_name(yk_look_op_kind(difference->op)));
        yk_text_add_xml(out, difference->op);
        yk_text_add(out, "</th><td class=\"left\">");
        yk_text_add_xml(out, ranks->ranks[difference->rank].device);
        yk_text_add(out, "</td>");
        add_seconds(difference->predicted_s, out);
        add_seconds(difference->measured_s, out);
        add_ratio(difference->measured_s, difference->predicted_s, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_text_add(out, "</tbody>\n</table>\n</div>\n");
}

void yk_run_table_settings(const struct yk_run_report *report, struct yk_text *out)
{
    yk_text_add(out, "<div class=\"wide settings\">\n<table>\n<tbody>\n");
    for (int32_t i = 0; i < report->setting_count; i++) {
        yk_text_add(out, "<tr><th scope=\"row\">");
        yk_text_add_xml(out, report->settings[i].name);
        yk_text_add(out, "</th>");
        yk_page_add_cell(report->settings[i].value, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_text_add(out, "</tbody>\n</table>\n</div>\n");
}
