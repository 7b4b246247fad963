#include "report/run_counters.h"

#include "report/csv.h"
#include "report/label.h"
#include "report/page.h"
#include "report/page_chart.h"

#include <math.h>
#include <stdio.h>

static bool is_of_cpu(enum yk_counter counter)
{
    return counter >= YK_COUNTER_CORES;
}

/* Both kinds of devices have these. */
static bool is_of_both(enum yk_counter counter)
{
    return counter == YK_COUNTER_MEMORY;
}

/* ---- numbers ---- */

static void add_number(double value, struct yk_text *out)
{
    char number[YK_NUMBER_SIZE];
    if (isfinite(value)) {
        yk_label_number(value, number);
        yk_text_add(out, number);
    }
}

/* "part", "Hz": what the script formats by. */
static const char *unit_name(enum yk_counter counter)
{
    static const char *const names[] = {
        [YK_COUNTER_PART] = "part",       [YK_COUNTER_PER_SECOND] = "/s",
        [YK_COUNTER_BYTES_PER_S] = "B/s", [YK_COUNTER_HERTZ] = "Hz",
        [YK_COUNTER_WATTS] = "W",         [YK_COUNTER_BYTES] = "B",
        [YK_COUNTER_NUMBER] = "",
    };
    return names[yk_counter_unit(counter)];
}

static void add_readings(const struct yk_counter_rank *rank, int32_t number, double shift_s,
                         const struct yk_run_counters_plot *plot, int32_t line, struct yk_text *out)
{
    const enum yk_counter counter = plot->counters[line];
    for (int32_t i = 0; i < rank->step.count; i++) {
        const struct yk_counter_reading *reading = &rank->step.readings[i];
        if (isfinite(reading->values[counter])) {
            yk_text_addf(out, "%d,", (int)number);
            yk_csv_add_words(out, rank->device);
            yk_text_addf(out, ",%s,%s,%s,%d,", plot->title, yk_counter_name(counter),
                         unit_name(counter), (int)line);
            yk_csv_add_seconds(out, reading->begin_s + shift_s);
            yk_text_add(out, ",");
            yk_csv_add_seconds(out, reading->end_s + shift_s);
            yk_text_add(out, ",");
            add_number(reading->values[counter], out);
            yk_text_add(out, "\n");
        }
    }
}

static void add_lines_csv(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                          struct yk_text *out)
{
    yk_text_add(out, "rank,device,plot,counter,unit,line,begin_s,end_s,value\n");
    for (int32_t r = 0; r < report->counters->count; r++) {
        const struct yk_counter_rank *rank = &report->counters->all[r];
        const struct yk_run_counters_plot *plot = NULL;
        if (!yk_run_counters_shows(lanes, r)) {
            continue;
        }
        for (int32_t p = 0; (plot = yk_run_counters_plot_at(&rank->step, p)) != NULL; p++) {
            for (int32_t c = 0; c < plot->count; c++) {
                add_readings(rank, r, lanes->shift_s, plot, c, out);
            }
        }
    }
}

static void add_rows_csv(int32_t number, const struct yk_counter_rank *rank,
                         const struct yk_counter_rows *rows, const char *sort, struct yk_text *out)
{
    for (int32_t i = 0; i < rows->count; i++) {
        yk_text_addf(out, "%d,", (int)number);
        yk_csv_add_words(out, rank->device);
        yk_text_addf(out, ",%s,", sort);
        yk_csv_add_words(out, rows->all[i].name);
        yk_text_add(out, ",");
        yk_csv_add_seconds(out, rows->all[i].seconds);
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            yk_text_add(out, ",");
            add_number(rows->all[i].values[c], out);
        }
        yk_text_add(out, "\n");
    }
}

static void add_averages_csv(const struct yk_run_report *report, struct yk_text *out)
{
    yk_text_add(out, "rank,device,sort,name,seconds");
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        yk_text_addf(out, ",%s", yk_counter_key((enum yk_counter)c));
    }
    yk_text_add(out, "\n");
    for (int32_t r = 0; r < report->counters->count; r++) {
        const struct yk_counter_rank *rank = &report->counters->all[r];
        add_rows_csv(r, rank, &rank->phases, "phase", out);
        add_rows_csv(r, rank, &rank->kinds, "kind", out);
    }
}

/* ---- tables ---- */

/* What is known, unless it is a way that nothing went. */
static bool has_column(const struct yk_counter_rank *rank, const struct yk_counter_rows *rows,
                       enum yk_counter counter)
{
    bool used = yk_counter_unit(counter) != YK_COUNTER_BYTES_PER_S;
    for (int32_t i = 0; i < rows->count; i++) {
        used = used || rows->all[i].values[counter] > 0;
    }
    return used && yk_counters_file_has(rank, counter);
}

static void add_table_rows(const struct yk_counter_rank *rank, const struct yk_counter_rows *rows,
                           double whole_s, struct yk_text *out)
{
    for (int32_t i = 0; i < rows->count; i++) {
        const struct yk_counter_row *row = &rows->all[i];
        char words[YK_NUMBER_SIZE];
        yk_text_add(out, "<tr><th scope=\"row\">");
        yk_text_add_xml(out, row->name);
        yk_text_add(out, "</th>");
        yk_label_percent(row->seconds, whole_s, words);
        yk_page_add_cell(words, out);
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            if (has_column(rank, rows, (enum yk_counter)c)) {
                char value[YK_COUNTER_TEXT_SIZE];
                yk_counter_format((enum yk_counter)c, row->values[c], value);
                yk_page_add_cell(value, out);
            }
        }
        yk_text_add(out, "</tr>\n");
    }
}

static void add_table(const struct yk_counter_rank *rank, const struct yk_counter_rows *rows,
                      const char *head, double whole_s, struct yk_text *out)
{
    if (rows->count == 0) {
        return;
    }
    yk_text_addf(out,
                 "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Counters by "
                 "%s\"><table>\n<thead><tr><th scope=\"col\">%s</th><th scope=\"col\">of time</th>",
                 head, head);
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        if (has_column(rank, rows, (enum yk_counter)c)) {
            yk_text_addf(out, "<th scope=\"col\">%s</th>", yk_counter_name((enum yk_counter)c));
        }
    }
    yk_text_add(out, "</tr></thead>\n<tbody>\n");
    add_table_rows(rank, rows, whole_s, out);
    yk_text_add(out, "</tbody>\n</table></div>\n");
}

/* What a device of this sort could have shown, and did not. */
static void add_missing(const struct yk_counter_rank *rank, struct yk_text *out)
{
    const bool cpu = yk_counters_file_has(rank, YK_COUNTER_CORES);
    int32_t count = 0;
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        const enum yk_counter counter = (enum yk_counter)c;
        if (!yk_counters_file_has(rank, counter) &&
            (is_of_cpu(counter) == cpu || is_of_both(counter))) {
            yk_text_addf(out, "%s%s", count++ == 0 ? " Without a meter here: " : ", ",
                         yk_counter_name(counter));
        }
    }
    yk_text_add(out, count > 0 ? "." : "");
}

static void add_rank(const struct yk_counter_rank *rank, struct yk_text *out)
{
    double whole_s = 0;
    for (int32_t i = 0; i < rank->phases.count; i++) {
        whole_s = fmax(whole_s, rank->phases.all[i].seconds);
    }
    yk_text_add(out, "<h3>");
    yk_text_add_xml(out, rank->device);
    yk_text_add(out, "</h3>\n");
    add_table(rank, &rank->phases, "phase", whole_s, out);
    add_table(rank, &rank->kinds, "kind of layer", whole_s, out);
    yk_text_add(out, "<p class=\"note\">");
    yk_text_add_xml(out, rank->source);
    yk_text_add(out, rank->source[0] != '\0' ? "." : "");
    add_missing(rank, out);
    yk_text_add(out, "</p>\n");
}

/* ---- the section ---- */

static void add_legend(const struct yk_run_report *report, struct yk_text *out)
{
    static const enum yk_counter lines[] = {YK_COUNTER_SM, YK_COUNTER_TENSOR, YK_COUNTER_DRAM};
    bool known = false;
    for (int32_t r = 0; r < report->counters->count; r++) {
        known |= yk_counters_file_has(&report->counters->all[r], YK_COUNTER_SM);
    }
    /* The script takes its colours from here, also where one line needs no legend. */
    yk_text_addf(out, "<ul class=\"legend%s\" hidden>\n", known ? " live" : "");
    for (int i = 0; i < YK_RUN_COUNTERS_LINES; i++) {
        yk_text_addf(out, "<li><i class=\"line-%d\" aria-hidden=\"true\"></i>%s</li>\n", i,
                     yk_counter_name(lines[i]));
    }
    yk_text_add(out, "</ul>\n");
}

static void add_lines(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                      struct yk_text *out)
{
    struct yk_text csv = {0};
    add_legend(report, out);
    yk_page_add_chart("counters", "What the meters of every device showed in the measured step",
                      out);
    yk_text_add(out, "<div class=\"still chart\">\n");
    yk_run_draw_counters(report, lanes, false, yk_page_frame(YK_FIGURE_ALONE_WIDTH, out));
    yk_text_add(out, "</div>\n<p class=\"note\">Readings around the measured step, on its time "
                     "axis: each is level for as long as it is an average of. What stands under a "
                     "name is the top of its lines; of PCIe and NVLink the first is to the device, "
                     "the second from it.</p>\n");
    add_lines_csv(report, lanes, &csv);
    yk_page_add_numbers("counters", &csv, out);
    yk_text_free(&csv);
}

static bool has_run_lines(const struct yk_run_report *report)
{
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (yk_run_counters_plot_at(&report->counters->all[r].run, 0)) {
            return true;
        }
    }
    return false;
}

void yk_run_section_counters(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                             struct yk_text *out)
{
    struct yk_text csv = {0};
    if (!report->counters || report->counters->count == 0) {
        return;
    }
    yk_page_begin_section("Counters", out);
    if (yk_run_counters_has_lines(report, lanes)) {
        add_lines(report, lanes, out);
    }
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (yk_run_counters_shows(lanes, r)) {
            add_rank(&report->counters->all[r], out);
        }
    }
    yk_text_add(out,
                "<p class=\"note\">Averages over all steps that were read. Communication is "
                "that which nothing computes beside; kinds of layers count forward and "
                "backward together. Readings are longer than most ops: what of them belongs "
                "to which is what explains all of them best; n/a in a row: they cannot tell it "
                "from others.</p>\n");
    add_averages_csv(report, &csv);
    yk_page_add_numbers("counter-averages", &csv, out);
    yk_text_free(&csv);
    if (has_run_lines(report)) {
        yk_text_add(out, "<h3>Over the whole run</h3>\n<div class=\"chart\">\n");
        yk_run_draw_counters(report, lanes, true, yk_page_frame(YK_FIGURE_ALONE_WIDTH, out));
        yk_text_add(out, "</div>\n");
    }
    yk_page_end_section(out);
}
