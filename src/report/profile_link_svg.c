/* A link: each collective in a row of two charts, bandwidth and time over bytes. */
#include "report/label.h"
#include "report/profile_plot.h"
#include "report/profile_report.h"
#include "report/profile_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LEFT = 74,
    GAP = 92, /* between the two charts, with the words of the second */
    RIGHT_MARGIN = 20,
    HEADING = 58, /* of a row: its name, its knee, and the names of the charts */
    CHART_HEIGHT = 190,
    ROW_HEIGHT = HEADING + CHART_HEIGHT + 44,
    FAR_OCTAVES = 6, /* as far behind the last size a knee is shown */
};

struct row {
    const struct yk_profile_report_link *link;
    struct yk_figure figure;
    double top;
    struct yk_profile_series rates;
    struct yk_profile_series times;
};

static struct yk_plot chart_of(const struct row *row, bool second)
{
    const double width = (row->figure.width - LEFT - GAP - RIGHT_MARGIN) / 2;
    const double left = second ? LEFT + width + GAP : LEFT;
    struct yk_plot plot = {
        .figure = row->figure,
        .left = left,
        .right = left + width,
        .top = row->top + HEADING,
        .bottom = row->top + HEADING + CHART_HEIGHT,
        .x = yk_range_empty(),
        .y = yk_range_empty(),
    };
    yk_profile_plot_include(&plot, second ? &row->times : &row->rates);
    if (row->link->has_knee) {
        const struct yk_knee *knee = &row->link->knee;
        yk_range_include(&plot.x, fmin(log2(knee->bytes), plot.x.high + FAR_OCTAVES));
        if (!second || knee->latency_s > 0) {
            yk_range_include(&plot.y, log10(second ? knee->latency_s : knee->plateau_bytes_per_s));
        }
    }
    yk_range_widen(&plot.x, 0.03);
    yk_range_widen(&plot.y, second ? 0.12 : 0.06);
    return plot;
}

/* A level, its words under its left end, where bandwidth is far below and time above. */
static void draw_level(const struct yk_plot *plot, double value, const char *words)
{
    const double y = yk_plot_y(plot, log10(value));
    yk_figure_line(&plot->figure, "low", plot->left, y, plot->right, y);
    yk_figure_text(&plot->figure, "small halo", plot->left + 6, y + 14, words);
}

static void draw_knee_line(const struct yk_plot *plot, double bytes)
{
    const double x = yk_plot_x(plot, log2(bytes));
    yk_figure_line(&plot->figure, "limit", x, plot->top, x, plot->bottom);
}

/* Its name goes to the right, where bandwidth is high, as long as there is room. */
static void draw_knee(const struct yk_plot *plot, const struct yk_knee *knee)
{
    const double x = yk_plot_x(plot, log2(knee->bytes));
    const double y = yk_plot_y(plot, log10(YK_KNEE_BANDWIDTH_FRACTION * knee->plateau_bytes_per_s));
    char size[YK_UNITS_SIZE];
    char words[YK_UNITS_SIZE + 8];
    yk_units_format(knee->bytes, YK_UNIT_BYTES, size);
    snprintf(words, sizeof words, "knee %s", size);
    const bool fits = x + 6 + yk_label_pixels(words) < plot->right;
    yk_figure_text(&plot->figure, fits ? "small strong halo" : "small strong halo end",
                   fits ? x + 6 : x - 6, plot->bottom - 8, words);
    yk_text_addf(plot->figure.out, "<circle class=\"chosen\" cx=\"%.2f\" cy=\"%.2f\" r=\"7\"/>\n",
                 x, y);
}

static void draw_rates(const struct row *row)
{
    const struct yk_plot plot = chart_of(row, false);
    const struct yk_knee *knee = &row->link->knee;
    const bool shows_knee = row->link->has_knee && log2(knee->bytes) <= plot.x.high;
    yk_figure_text(&plot.figure, "small soft", plot.left, plot.top - 6, "bandwidth over each link");
    yk_profile_plot_axes(&plot, &row->rates, YK_UNIT_BYTES_PER_S, true);
    if (row->link->has_knee) {
        char rate[YK_UNITS_SIZE];
        char words[YK_UNITS_SIZE + 12];
        yk_units_format(knee->plateau_bytes_per_s, YK_UNIT_BYTES_PER_S, rate);
        snprintf(words, sizeof words, "plateau %s", rate);
        draw_level(&plot, knee->plateau_bytes_per_s, words);
    }
    if (shows_knee) {
        draw_knee_line(&plot, knee->bytes);
    }
    yk_profile_plot_series(&plot, &row->rates, 0);
    if (shows_knee) {
        draw_knee(&plot, knee);
    }
}

static void draw_times(const struct row *row)
{
    const struct yk_plot plot = chart_of(row, true);
    const struct yk_knee *knee = &row->link->knee;
    yk_figure_text(&plot.figure, "small soft", plot.left, plot.top - 6, "time");
    yk_profile_plot_axes(&plot, &row->times, YK_UNIT_SECONDS, true);
    if (row->link->has_knee && knee->latency_s > 0) {
        char time[YK_UNITS_SIZE];
        char words[YK_UNITS_SIZE + 12];
        yk_units_format(knee->latency_s, YK_UNIT_SECONDS, time);
        snprintf(words, sizeof words, "latency %s", time);
        draw_level(&plot, knee->latency_s, words);
    }
    if (row->link->has_knee && log2(knee->bytes) <= plot.x.high) {
        draw_knee_line(&plot, knee->bytes);
    }
    yk_profile_plot_series(&plot, &row->times, 0);
}

static yk_status draw_row(struct row *row, struct yk_arena *arena)
{
    const struct yk_profile_report_link *link = row->link;
    struct yk_text words = {0};
    YK_TRY(yk_profile_series_make(link->count, arena, &row->rates));
    YK_TRY(yk_profile_series_make(link->count, arena, &row->times));
    for (int32_t i = 0; i < link->count; i++) {
        const double bytes = (double)link->rows[i].bytes;
        const struct yk_profile_measurement *measurement = &link->rows[i].measurement;
        yk_profile_series_add(&row->rates, bytes, yk_profile_rate(link, i), measurement->spread);
        yk_profile_series_add(&row->times, bytes, measurement->value, measurement->spread);
    }
    yk_profile_say_collective(&link->rows[0].link, &words);
    yk_figure_text(&row->figure, "strong", 14, row->top + 16, yk_text_chars(&words));
    yk_text_free(&words);
    words = (struct yk_text){0};
    yk_profile_say_knee(link, &words);
    yk_figure_cut_text(&row->figure, "soft", LEFT + 130, row->top + 16, yk_text_chars(&words),
                       row->figure.width - LEFT - 130 - RIGHT_MARGIN);
    row->figure.out->failed |= words.failed;
    yk_text_free(&words);
    draw_rates(row);
    draw_times(row);
    return YK_OK;
}

yk_status yk_profile_figure_link(const struct yk_profile_report *report, int32_t first,
                                 struct yk_arena *arena, struct yk_text *out, int32_t *next)
{
    const char *name = report->links[first].rows[0].link.link;
    int32_t end = first;
    while (end < report->link_count && strcmp(report->links[end].rows[0].link.link, name) == 0) {
        end++;
    }
    const struct yk_figure figure = {
        .width = YK_FIGURE_ALONE_WIDTH,
        .height = YK_FIGURE_HEADING + (end - first) * ROW_HEIGHT,
        .alone = true,
        .out = out,
    };
    yk_figure_begin(&figure, name);
    for (int32_t i = first; i < end; i++) {
        struct row row = {.link = &report->links[i],
                          .figure = figure,
                          .top = YK_FIGURE_HEADING + (i - first) * ROW_HEIGHT};
        YK_TRY(draw_row(&row, arena));
    }
    yk_figure_end(&figure);
    *next = end;
    return yk_text_status(out);
}
