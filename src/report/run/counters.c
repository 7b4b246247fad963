/* What the devices' own counters showed: lines under the measured step, on its time axis; lines
 * over the whole run; tables of phases and kinds of layers. Ranks are those that the lanes show. */
#include "report/csv.h"
#include "report/label.h"
#include "report/page.h"
#include "report/run/charts.h"
#include "trace/counters_file.h"

#include <math.h>
#include <stdio.h>

enum {
    LINES = 3 /* the most in one plot */
};

/* Counters that are drawn in one plot, on one scale from 0 up. */
struct plot {
    const char *title;
    int32_t count;
    enum yk_counter counters[LINES];
};

/* ---- the picture ---- */

enum {
    LEFT = 70, /* as in lanes.c, so that the time axes are aligned */
    RIGHT_MARGIN = 20,
    AXIS_HEIGHT = 22,
    NAME_HEIGHT = 20,
    TALL = 84,
    SMALL = 38,
    GAP = 6,
    RANK_GAP = 8,
    LEGEND_HEIGHT = 22,
};

static const struct plot plots[] = {
    {"active", 3, {YK_COUNTER_SM, YK_COUNTER_TENSOR, YK_COUNTER_DRAM}},
    {"clock", 1, {YK_COUNTER_CLOCK}},
    {"power", 1, {YK_COUNTER_POWER}},
    {"PCIe", 2, {YK_COUNTER_PCIE_IN, YK_COUNTER_PCIE_OUT}},
    {"NVLink", 2, {YK_COUNTER_NVLINK_IN, YK_COUNTER_NVLINK_OUT}},
    {"cores", 1, {YK_COUNTER_CORES}},
    {"cycles", 1, {YK_COUNTER_CYCLES}},
    {"instr.", 1, {YK_COUNTER_INSTRUCTIONS}},
    {"misses", 1, {YK_COUNTER_CACHE_MISS_BYTES}},
};

enum {
    PLOT_COUNT = sizeof plots / sizeof *plots
};

struct picture {
    struct yk_figure figure;
    double right;
    double span_s;
    double shift_s; /* of readings */
    bool whole_run;
};

static bool has_any(const struct yk_counter_series *line, const struct plot *plot)
{
    for (int32_t i = 0; i < line->count; i++) {
        for (int32_t c = 0; c < plot->count; c++) {
            if (isfinite(line->readings[i].values[plot->counters[c]])) {
                return true;
            }
        }
    }
    return false;
}

/* The plot number `number` among those that have data; NULL: there are fewer. */
static const struct plot *plot_at(const struct yk_counter_series *line, int32_t number)
{
    for (int32_t p = 0; p < PLOT_COUNT; p++) {
        if (has_any(line, &plots[p]) && number-- == 0) {
            return &plots[p];
        }
    }
    return NULL;
}

/* The value at the top of a plot. */
static double top_of(const struct yk_counter_series *line, const struct plot *plot)
{
    double max = 0;
    if (yk_counter_get_unit(plot->counters[0]) == YK_COUNTER_UNIT_FRACTION) {
        return 1;
    }
    for (int32_t i = 0; i < line->count; i++) {
        for (int32_t c = 0; c < plot->count; c++) {
            /* fmax() ignores NAN. */
            max = fmax(max, line->readings[i].values[plot->counters[c]]);
        }
    }
    return max > 0 ? max : 1;
}

/* Whether the rank is one of those that the lanes show. */
static bool is_shown(const struct yk_run_lanes *lanes, int32_t rank)
{
    for (int32_t i = 0; i < lanes->chart.group_count; i++) {
        if (lanes->all[i].rank == rank) {
            return true;
        }
    }
    return lanes->chart.group_count == 0 && rank < YK_RUN_LANES_MAX_UNMERGED_RANKS;
}

/* Whether a rank that is shown has readings of the step, and the page has the lanes of the step. */
static bool has_lines(const struct yk_run_report *report, const struct yk_run_lanes *lanes)
{
    const struct yk_counter_run_data *ranks = report->counters;
    for (int32_t r = 0; ranks && lanes->chart.group_count > 0 && r < ranks->count; r++) {
        if (is_shown(lanes, r) && plot_at(&ranks->all[r].step, 0)) {
            return true;
        }
    }
    return false;
}

static double height_of(const struct plot *plot)
{
    return plot->count == LINES ? TALL : SMALL;
}

static const struct yk_counter_series *line_of(const struct picture *picture,
                                               const struct yk_counter_rank_data *rank)
{
    return picture->whole_run ? &rank->run : &rank->step;
}

static double x_of(const struct picture *picture, double at_s)
{
    const double within_s = fmax(0, fmin(at_s + picture->shift_s, picture->span_s));
    return LEFT + within_s / picture->span_s * (picture->right - LEFT);
}

/* Draws a step function: every reading is a horizontal line from its beginning to its end. */
static void draw_line(const struct picture *picture, const struct yk_counter_series *line,
                      const struct plot *plot, int32_t number, double max, double top)
{
    struct yk_text *out = picture->figure.out;
    const double height = height_of(plot);
    bool drawn = false;
    yk_text_addf(out, "<path class=\"curve fine s%d\" d=\"", (int)number);
    for (int32_t i = 0; i < line->count; i++) {
        const struct yk_counter_reading *reading = &line->readings[i];
        const double value = reading->values[plot->counters[number]];
        const double left = x_of(picture, reading->begin_s);
        const double right = x_of(picture, reading->end_s);
        if (!isfinite(value) || right <= left) {
            drawn = drawn && isfinite(value);
            continue;
        }
        const double y = top + height - 1 - fmin(value / max, 1) * (height - 4);
        yk_text_addf(out, drawn ? "V%.1f" : "M%.1f,", drawn ? y : left);
        yk_text_addf(out, drawn ? "H%.1f" : "%.1fH", drawn ? right : y);
        if (!drawn) {
            yk_text_addf(out, "%.1f", right);
        }
        drawn = true;
    }
    yk_text_addf(out, "\"><title>%s</title></path>\n", yk_counter_name(plot->counters[number]));
}

static void draw_plot(const struct picture *picture, const struct yk_counter_series *line,
                      const struct plot *plot, double top)
{
    const double max = top_of(line, plot);
    char text[YK_COUNTER_TEXT_SIZE];
    yk_counter_format_value(plot->counters[0], max, text);
    for (int32_t c = 0; c < plot->count; c++) {
        draw_line(picture, line, plot, c, max, top);
    }
    yk_figure_draw_text(&picture->figure, "small end", LEFT - 8, top + height_of(plot) / 2 - 3,
                        plot->title);
    yk_figure_draw_text(&picture->figure, "small soft end", LEFT - 8,
                        top + height_of(plot) / 2 + 11, text);
}

/* Draws a part of one plot of a rank. */
typedef void plot_pass(const struct picture *picture, const struct yk_counter_series *line,
                       const struct plot *plot, double top);

/* Calls `pass` for every plot of a rank; NULL: nothing. Returns the height of the rank. */
static double walk_rank(const struct picture *picture, const struct yk_counter_rank_data *rank,
                        double top, plot_pass *pass)
{
    const struct yk_counter_series *line = line_of(picture, rank);
    double height = NAME_HEIGHT;
    for (int32_t p = 0; plot_at(line, p); p++) {
        const struct plot *plot = plot_at(line, p);
        if (pass) {
            pass(picture, line, plot, top + height);
        }
        height += height_of(plot) + GAP;
    }
    return height > NAME_HEIGHT ? height + RANK_GAP : 0;
}

static void draw_track(const struct picture *picture, const struct yk_counter_series *line,
                       const struct plot *plot, double top)
{
    (void)line;
    yk_figure_begin_rect_tag(&picture->figure, "track", LEFT, top, picture->right - LEFT,
                             height_of(plot));
    yk_text_add(picture->figure.out, "/>\n");
}

/* The same for all ranks that are shown, from `top` on. Returns the y of their end. */
static double walk(const struct picture *picture, const struct yk_run_report *report,
                   const struct yk_run_lanes *lanes, double top, plot_pass *pass)
{
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (is_shown(lanes, r)) {
            const struct yk_counter_rank_data *rank = &report->counters->all[r];
            const double height = walk_rank(picture, rank, top, pass);
            if (pass == draw_plot && height > 0) {
                yk_figure_draw_truncated_text(
                    &picture->figure, "strong", 14, top + 14, rank->device,
                    YK_FIGURE_BOLD_TEXT_SPACE_FRACTION * (picture->right - 28));
            }
            top += height;
        }
    }
    return top;
}

static void draw_legend(const struct picture *picture, double y)
{
    struct yk_figure_legend_entry entries[LINES] = {0};
    for (int c = 0; c < LINES; c++) {
        entries[c].is_line = true;
        snprintf(entries[c].kind, sizeof entries[c].kind, "curve s%d", c);
        snprintf(entries[c].name, sizeof entries[c].name, "%s",
                 yk_counter_name(plots[0].counters[c]));
    }
    yk_figure_draw_legend(&picture->figure, entries, LINES, LEFT, y, picture->right);
}

static double end_of_run(const struct yk_run_report *report)
{
    double end_s = 0;
    for (int32_t r = 0; r < report->counters->count; r++) {
        const struct yk_counter_series *line = &report->counters->all[r].run;
        end_s = line->count > 0 ? fmax(end_s, line->readings[line->count - 1].end_s) : end_s;
    }
    return end_s > 0 ? end_s : 1;
}

static bool has_parts(const struct picture *picture, const struct yk_run_report *report)
{
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (has_any(line_of(picture, &report->counters->all[r]), &plots[0])) {
            return true;
        }
    }
    return false;
}

/* Draws the counters of the measured step, or of the whole run. */
static void draw_counters(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                          bool whole_run, struct yk_figure frame)
{
    struct picture picture = {
        .figure = frame,
        .right = frame.width - RIGHT_MARGIN,
        .span_s = whole_run ? end_of_run(report) : fmax(lanes->chart.span, 1e-9),
        .shift_s = whole_run ? 0 : lanes->shift_s,
        .whole_run = whole_run,
    };
    const double top = AXIS_HEIGHT + (frame.standalone ? YK_FIGURE_HEADING_HEIGHT : 0);
    const double bottom = walk(&picture, report, lanes, top, NULL);
    const bool legend = has_parts(&picture, report);
    picture.figure.height = bottom + (legend ? LEGEND_HEIGHT : 4);
    yk_figure_begin(&picture.figure,
                    whole_run ? "Counters over the whole run" : "Counters in the measured step");
    const int parts = (int)fmax(1, (picture.right - LEFT) / 90);
    const struct yk_figure_axis axis = yk_figure_axis_make(picture.span_s, YK_UNIT_SECONDS, parts);
    (void)walk(&picture, report, lanes, top, draw_track);
    yk_figure_draw_vertical_grid(&picture.figure, &axis, LEFT, picture.right, top, bottom);
    (void)walk(&picture, report, lanes, top, draw_plot);
    if (legend) {
        draw_legend(&picture, bottom - 2);
    }
    yk_figure_end(&picture.figure);
}

/* ---- numbers ---- */

/* "part", "Hz": what the script formats by. */
static const char *unit_name(enum yk_counter counter)
{
    static const char *const names[] = {
        [YK_COUNTER_UNIT_FRACTION] = "part",   [YK_COUNTER_UNIT_PER_SECOND] = "/s",
        [YK_COUNTER_UNIT_BYTES_PER_S] = "B/s", [YK_COUNTER_UNIT_HERTZ] = "Hz",
        [YK_COUNTER_UNIT_WATTS] = "W",         [YK_COUNTER_UNIT_BYTES] = "B",
        [YK_COUNTER_UNIT_NUMBER] = "",
    };
    return names[yk_counter_get_unit(counter)];
}

static void add_readings(const struct yk_counter_rank_data *rank, int32_t number, double shift_s,
                         const struct plot *plot, int32_t line, struct yk_text *out)
{
    const enum yk_counter counter = plot->counters[line];
    for (int32_t i = 0; i < rank->step.count; i++) {
        const struct yk_counter_reading *reading = &rank->step.readings[i];
        if (isfinite(reading->values[counter])) {
            yk_csv_add_integer(out, number);
            yk_csv_add_text(out, rank->device);
            yk_csv_add_text(out, plot->title);
            yk_csv_add_text(out, yk_counter_name(counter));
            yk_csv_add_text(out, unit_name(counter));
            yk_csv_add_integer(out, line);
            yk_csv_add_seconds(out, reading->begin_s + shift_s);
            yk_csv_add_seconds(out, reading->end_s + shift_s);
            yk_csv_add_rounded_number(out, reading->values[counter]);
            yk_csv_end_row(out);
        }
    }
}

static void add_lines_csv(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                          struct yk_text *out)
{
    yk_text_add(out, "rank,device,plot,counter,unit,line,begin_s,end_s,value\n");
    for (int32_t r = 0; r < report->counters->count; r++) {
        const struct yk_counter_rank_data *rank = &report->counters->all[r];
        const struct plot *plot = NULL;
        if (!is_shown(lanes, r)) {
            continue;
        }
        for (int32_t p = 0; (plot = plot_at(&rank->step, p)) != NULL; p++) {
            for (int32_t c = 0; c < plot->count; c++) {
                add_readings(rank, r, lanes->shift_s, plot, c, out);
            }
        }
    }
}

static void add_rows_csv(int32_t number, const struct yk_counter_rank_data *rank,
                         const struct yk_counter_averages *rows, const char *sort,
                         struct yk_text *out)
{
    for (int32_t i = 0; i < rows->count; i++) {
        yk_csv_add_integer(out, number);
        yk_csv_add_text(out, rank->device);
        yk_csv_add_text(out, sort);
        yk_csv_add_text(out, rows->all[i].name);
        yk_csv_add_seconds(out, rows->all[i].seconds);
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            yk_csv_add_rounded_number(out, rows->all[i].values[c]);
        }
        yk_csv_end_row(out);
    }
}

static void add_averages_csv(const struct yk_run_report *report, struct yk_text *out)
{
    yk_text_add(out, "rank,device,sort,name,seconds");
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        yk_text_addf(out, ",%s", yk_counter_json_key((enum yk_counter)c));
    }
    yk_text_add(out, "\n");
    for (int32_t r = 0; r < report->counters->count; r++) {
        const struct yk_counter_rank_data *rank = &report->counters->all[r];
        add_rows_csv(r, rank, &rank->phases, "phase", out);
        add_rows_csv(r, rank, &rank->kinds, "kind", out);
    }
}

/* ---- tables ---- */

/* Whether the table has a column for the counter: it has values, and a bandwidth is not always 0.
 */
static bool has_column(const struct yk_counter_rank_data *rank,
                       const struct yk_counter_averages *rows, enum yk_counter counter)
{
    bool used = yk_counter_get_unit(counter) != YK_COUNTER_UNIT_BYTES_PER_S;
    for (int32_t i = 0; i < rows->count; i++) {
        used = used || rows->all[i].values[counter] > 0;
    }
    return used && yk_counters_file_rank_has_counter(rank, counter);
}

static void add_table_rows(const struct yk_counter_rank_data *rank,
                           const struct yk_counter_averages *rows, double whole_s,
                           struct yk_text *out)
{
    for (int32_t i = 0; i < rows->count; i++) {
        const struct yk_counter_average *row = &rows->all[i];
        yk_page_begin_named_row(row->name, out);
        yk_page_add_cell(YK_LABEL_PERCENT(row->seconds, whole_s), out);
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            if (has_column(rank, rows, (enum yk_counter)c)) {
                char value[YK_COUNTER_TEXT_SIZE];
                yk_counter_format_value((enum yk_counter)c, row->values[c], value);
                yk_page_add_cell(value, out);
            }
        }
        yk_text_add(out, "</tr>\n");
    }
}

static void add_table(const struct yk_counter_rank_data *rank,
                      const struct yk_counter_averages *rows, const char *head, double whole_s,
                      struct yk_text *out)
{
    struct yk_page_column columns[YK_COUNTER_COUNT + 3] = {{head, false}, {"of time", false}};
    int32_t count = 2;
    char label[64];
    if (rows->count == 0) {
        return;
    }
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        if (has_column(rank, rows, (enum yk_counter)c)) {
            columns[count++].name = yk_counter_name((enum yk_counter)c);
        }
    }
    snprintf(label, sizeof label, "Counters by %s", head);
    yk_page_begin_table(label, columns, out);
    add_table_rows(rank, rows, whole_s, out);
    yk_page_end_table(out);
}

/* Lists the counters that such devices have, but that could not be read. */
static void add_missing(const struct yk_counter_rank_data *rank, struct yk_text *out)
{
    const bool cpu = yk_counters_file_rank_has_counter(rank, YK_COUNTER_CORES);
    int32_t count = 0;
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        const enum yk_counter counter = (enum yk_counter)c;
        const bool possible = (counter >= YK_COUNTER_CORES) == cpu || counter == YK_COUNTER_MEMORY;
        if (possible && !yk_counters_file_rank_has_counter(rank, counter)) {
            yk_text_addf(out, "%s%s", count++ == 0 ? " Without a meter here: " : ", ",
                         yk_counter_name(counter));
        }
    }
    yk_text_add(out, count > 0 ? "." : "");
}

static void add_rank(const struct yk_counter_rank_data *rank, struct yk_text *out)
{
    double whole_s = 0;
    for (int32_t i = 0; i < rank->phases.count; i++) {
        whole_s = fmax(whole_s, rank->phases.all[i].seconds);
    }
    yk_page_add_escaped_text_between("<h3>", rank->device, "</h3>\n", out);
    add_table(rank, &rank->phases, "phase", whole_s, out);
    add_table(rank, &rank->kinds, "kind of layer", whole_s, out);
    yk_text_add(out, "<p class=\"note\">");
    yk_text_add_xml_escaped(out, rank->source);
    yk_text_add(out, rank->source[0] != '\0' ? "." : "");
    add_missing(rank, out);
    yk_text_add(out, "</p>\n");
}

/* ---- the section ---- */

static void add_legend(const struct yk_run_report *report, struct yk_text *out)
{
    bool known = false;
    for (int32_t r = 0; r < report->counters->count; r++) {
        known |= yk_counters_file_rank_has_counter(&report->counters->all[r], YK_COUNTER_SM);
    }
    /* The script takes its colours from here, also where one line needs no legend. */
    yk_text_addf(out, "<ul class=\"legend%s\" hidden>\n", known ? " live" : "");
    for (int i = 0; i < LINES; i++) {
        yk_text_addf(out, "<li><i class=\"line-%d\" aria-hidden=\"true\"></i>%s</li>\n", i,
                     yk_counter_name(plots[0].counters[i]));
    }
    yk_text_add(out, "</ul>\n");
}

static void add_lines(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                      struct yk_text *out)
{
    struct yk_text csv = {0};
    add_legend(report, out);
    yk_page_add_canvas("counters", "What the meters of every device showed in the measured step",
                       out);
    yk_text_add(out, "<div class=\"still chart\">\n");
    draw_counters(report, lanes, false, yk_page_make_figure(YK_FIGURE_FULL_WIDTH, out));
    yk_text_add(out, "</div>\n<p class=\"note\">Readings around the measured step, on its time "
                     "axis: each is level for as long as it is an average of. What stands under a "
                     "name is the top of its lines; of PCIe and NVLink the first is to the device, "
                     "the second from it.</p>\n");
    add_lines_csv(report, lanes, &csv);
    yk_page_add_csv_table("counters", &csv, out);
    yk_text_free(&csv);
}

static bool has_run_lines(const struct yk_run_report *report)
{
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (plot_at(&report->counters->all[r].run, 0)) {
            return true;
        }
    }
    return false;
}

static yk_status add(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    const struct yk_run_lanes *lanes = &page->lanes;
    struct yk_text csv = {0};
    if (has_lines(report, lanes)) {
        add_lines(report, lanes, out);
    }
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (is_shown(lanes, r)) {
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
    yk_page_add_csv_table("counter-averages", &csv, out);
    yk_text_free(&csv);
    if (has_run_lines(report)) {
        yk_text_add(out, "<h3>Over the whole run</h3>\n<div class=\"chart\">\n");
        draw_counters(report, lanes, true, yk_page_make_figure(YK_FIGURE_FULL_WIDTH, out));
        yk_text_add(out, "</div>\n");
    }
    return YK_OK;
}

static bool applies(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->report->counters && page->report->counters->count > 0;
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    const struct yk_run_page_data *page = subject;
    draw_counters(page->report, &page->lanes, !has_lines(page->report, &page->lanes), frame);
    return YK_OK;
}

const struct yk_chart yk_run_chart_counters = {
    .name = "counters",
    .title = "Counters",
    .applies = applies,
    .draw = draw,
    .file_width = YK_FIGURE_FULL_WIDTH,
    .add_html = add,
};
