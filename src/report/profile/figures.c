#include "report/label.h"
#include "report/plot.h"
#include "report/profile/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    RIGHT_MARGIN = 20
};

/* ---- measurements over a size, both axes logarithmic ---- */

/* A plot's x is log2 of the size, its y log10 of the value. */
struct series {
    double *sizes;   /* (count), log2 */
    double *values;  /* (count), log10 */
    double *spreads; /* (count), over the value */
    int32_t count;
};

/* Maximum length of error bars, in decades. */
static const double max_bar = 0.5;
/* Minimum decades of an axis. With fewer than `few_decades`, it has ticks at 2 and 5, too. */
static const double min_decades = 0.4;
static const double few_decades = 2.5;

/* An empty series for at most `max` points. */
static yk_status make_series(int32_t max, struct yk_arena *arena, struct series *out)
{
    struct series series = {0};
    YK_TRY_NEW(arena, series.sizes, max + 1);
    YK_TRY_NEW(arena, series.values, max + 1);
    YK_TRY_NEW(arena, series.spreads, max + 1);
    *out = series;
    return YK_OK;
}

/* Adds a point; a value that is not positive has no logarithm and is ignored. */
static void add_point(struct series *series, double size, double value, double spread)
{
    if (size > 0 && value > 0 && isfinite(size) && isfinite(value)) {
        series->sizes[series->count] = log2(size);
        series->values[series->count] = log10(value);
        series->spreads[series->count++] = spread > 0 ? spread : 0;
    }
}

/* Length of the error bar above and below point `i`. */
static double bar_above(const struct series *series, int32_t i)
{
    return fmin(log10(1 + series->spreads[i]), max_bar);
}

static double bar_below(const struct series *series, int32_t i)
{
    return series->spreads[i] < 1 ? fmin(-log10(1 - series->spreads[i]), max_bar) : max_bar;
}

/* Extends the ranges of the plot to the series with its error bars. */
static void include_series(struct yk_plot *plot, const struct series *series)
{
    for (int32_t i = 0; i < series->count; i++) {
        yk_plot_range_include_value(&plot->x, series->sizes[i]);
        yk_plot_range_include_value(&plot->y, series->values[i] + bar_above(series, i));
        yk_plot_range_include_value(&plot->y, series->values[i] - bar_below(series, i));
    }
    const double middle = (plot->y.low + plot->y.high) / 2;
    yk_plot_range_include_value(&plot->y, middle - min_decades / 2);
    yk_plot_range_include_value(&plot->y, middle + min_decades / 2);
}

static void draw_grid(const struct yk_plot *plot, enum yk_unit unit)
{
    static const double steps[] = {1, 2, 5};
    const int count = plot->y.high - plot->y.low < few_decades ? 3 : 1;
    for (int decade = (int)floor(plot->y.low); decade <= (int)ceil(plot->y.high); decade++) {
        for (int s = 0; s < count; s++) {
            const double at = decade + log10(steps[s]);
            if (at < plot->y.low || at > plot->y.high) {
                continue;
            }
            const double y = yk_plot_y_pixel(plot, at);
            yk_figure_draw_line(&plot->figure, "grid", plot->left, y, plot->right, y);
            yk_figure_draw_text(&plot->figure, "small soft end", plot->left - 8, y + 4,
                                YK_UNITS_FORMAT_TEMPORARY(pow(10, decade) * steps[s], unit));
        }
    }
}

/* Every size has a tick; a label that would overlap another is left out. */
static void draw_sizes(const struct yk_plot *plot, const struct series *series, bool bytes)
{
    double end = -HUGE_VAL;
    for (int32_t i = 0; i < series->count; i++) {
        const double x = yk_plot_x_pixel(plot, series->sizes[i]);
        const double size = exp2(series->sizes[i]);
        char label[YK_UNITS_BUFFER_SIZE];
        if (bytes) {
            yk_units_format(size, YK_UNIT_BYTES, label);
        } else {
            snprintf(label, sizeof label, "%.0f", size);
        }
        const double half = yk_label_estimate_width_pixels(label) / 2;
        yk_figure_draw_line(&plot->figure, "axis", x, plot->bottom, x, plot->bottom + 4);
        if (x - half > end) {
            yk_figure_draw_text(&plot->figure, "small soft middle", x, plot->bottom + 17, label);
            end = x + half + 4;
        }
    }
}

/* A frame, grid lines at round values of `unit`, and ticks at the sizes: bytes, or plain numbers.
 */
static void draw_axes(const struct yk_plot *plot, const struct series *series, enum yk_unit unit,
                      bool bytes)
{
    draw_grid(plot, unit);
    draw_sizes(plot, series, bytes);
    yk_figure_draw_line(&plot->figure, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
}

/* Curve, bars and points in colour number `colour`. */
static void draw_series(const struct yk_plot *plot, const struct series *series, int colour)
{
    char curve[24];
    char bar[24];
    snprintf(curve, sizeof curve, "curve s%d", colour);
    snprintf(bar, sizeof bar, "curve fine s%d", colour);
    yk_plot_draw_curve(plot, curve, series->sizes, series->values, series->count);
    for (int32_t i = 0; i < series->count; i++) {
        const double x = yk_plot_x_pixel(plot, series->sizes[i]);
        const double high = yk_plot_y_pixel(plot, series->values[i] + bar_above(series, i));
        const double low = yk_plot_y_pixel(plot, series->values[i] - bar_below(series, i));
        yk_figure_draw_line(&plot->figure, bar, x, high, x, low);
        yk_figure_draw_line(&plot->figure, bar, x - 4, high, x + 4, high);
        yk_figure_draw_line(&plot->figure, bar, x - 4, low, x + 4, low);
    }
    for (int32_t i = 0; i < series->count; i++) {
        yk_text_addf(plot->figure.out,
                     "<circle class=\"dot s%d\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\"/>\n", colour,
                     yk_plot_x_pixel(plot, series->sizes[i]),
                     yk_plot_y_pixel(plot, series->values[i]));
    }
}

/* ---- a sort of layer on a device: how long its passes take over samples ---- */

enum {
    LAYER_WIDTH = 760,
    LAYER_LEFT = 64,
    LAYER_HEIGHT = 280,
    FOOT = 68, /* samples, the axis' name, the legend */
    PASSES = 3,
};

static const char *const passes[PASSES] = {"forward", "backward", "update"};

/* One series for each pass, over the batch size. */
static yk_status collect(const struct yk_profile_report_layer_group *layer, struct yk_arena *arena,
                         struct series series[PASSES])
{
    for (int p = 0; p < PASSES; p++) {
        YK_TRY(make_series(layer->count, arena, &series[p]));
        for (int32_t i = 0; i < layer->count; i++) {
            const struct yk_profile_layer_row *row = &layer->rows[i];
            if (strcmp(row->layer.pass, passes[p]) == 0) {
                add_point(&series[p], (double)row->batch, row->measurement.value,
                          row->measurement.spread);
            }
        }
    }
    return YK_OK;
}

static void draw_update(const struct yk_plot *plot, const struct series *series)
{
    if (series->count > 0) {
        const double y = yk_plot_y_pixel(plot, series->values[0]);
        char text[YK_UNITS_BUFFER_SIZE + 12];
        snprintf(text, sizeof text, "update %s",
                 YK_UNITS_FORMAT_TEMPORARY(pow(10, series->values[0]), YK_UNIT_SECONDS));
        yk_figure_draw_line(&plot->figure, "low", plot->left, y, plot->right, y);
        yk_figure_draw_text(&plot->figure, "small halo end", plot->right - 4, y - 5, text);
    }
}

static void draw_layer(const struct yk_plot *plot, const struct series series[PASSES])
{
    static const struct yk_figure_legend_entry legend[] = {{"curve s0", "forward", true},
                                                           {"curve s1", "backward", true}};
    const bool longer = series[1].count > series[0].count;
    draw_axes(plot, &series[longer ? 1 : 0], YK_UNIT_SECONDS, false);
    yk_figure_draw_text(&plot->figure, "small soft end", plot->right, plot->bottom + 33, "samples");
    draw_update(plot, &series[2]);
    for (int p = 0; p < 2; p++) {
        draw_series(plot, &series[p], p);
    }
    yk_figure_draw_legend(&plot->figure, legend, 2, plot->left, plot->bottom + 37, plot->right);
}

yk_status yk_profile_figures_draw_layer_times(const struct yk_profile_report_layer_group *layer,
                                              struct yk_arena *arena, struct yk_text *out)
{
    const struct yk_profile_layer_key *what = &layer->rows[0].layer;
    struct series series[PASSES];
    struct yk_text title = {0};
    struct yk_plot plot = {
        .figure = {.width = LAYER_WIDTH,
                   .height = YK_FIGURE_HEADING_HEIGHT + LAYER_HEIGHT + FOOT,
                   .standalone = true,
                   .out = out},
        .left = LAYER_LEFT,
        .right = LAYER_WIDTH - RIGHT_MARGIN,
        .top = YK_FIGURE_HEADING_HEIGHT,
        .bottom = YK_FIGURE_HEADING_HEIGHT + LAYER_HEIGHT,
        .x = yk_plot_range_make_empty(),
        .y = yk_plot_range_make_empty(),
    };
    YK_TRY(collect(layer, arena, series));
    for (int p = 0; p < PASSES; p++) {
        include_series(&plot, &series[p]);
    }
    yk_plot_range_pad(&plot.x, 0.03);
    yk_plot_range_pad(&plot.y, 0.06);
    yk_text_addf(&title, "%s on ", what->shape);
    yk_profile_describe_device(what, &title);
    yk_text_addf(&title, ", samples of %" PRId64 " tokens", what->sequence);
    yk_figure_begin(&plot.figure, yk_text_chars(&title));
    draw_layer(&plot, series);
    yk_figure_end(&plot.figure);
    out->failed |= title.failed;
    yk_text_free(&title);
    return yk_text_status(out);
}

/* ---- a link: each collective in a row of two charts, bandwidth and time over bytes ---- */

enum {
    LEFT = 74,
    GAP = 92,     /* between the two charts, with the labels of the second */
    HEADING = 58, /* of a row: its name, its knee, and the names of the charts */
    CHART_HEIGHT = 190,
    ROW_HEIGHT = HEADING + CHART_HEIGHT + 44,
    FAR_OCTAVES = 6, /* a knee further beyond the last size is not shown */
};

struct row {
    const struct yk_profile_report_link_curve *link;
    struct yk_figure figure;
    double top;
    struct series rates;
    struct series times;
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
        .x = yk_plot_range_make_empty(),
        .y = yk_plot_range_make_empty(),
    };
    include_series(&plot, second ? &row->times : &row->rates);
    if (row->link->has_knee) {
        const struct yk_saturation_size *saturation = &row->link->saturation;
        yk_plot_range_include_value(&plot.x,
                                    fmin(log2(saturation->bytes), plot.x.high + FAR_OCTAVES));
        if (!second || saturation->latency_s > 0) {
            yk_plot_range_include_value(
                &plot.y, log10(second ? saturation->latency_s : saturation->plateau_bytes_per_s));
        }
    }
    yk_plot_range_pad(&plot.x, 0.03);
    yk_plot_range_pad(&plot.y, second ? 0.12 : 0.06);
    return plot;
}

/* A horizontal line at `value`, with its name and value below its left end, where no curve is. */
static void draw_level(const struct yk_plot *plot, double value, enum yk_unit unit,
                       const char *name)
{
    const double y = yk_plot_y_pixel(plot, log10(value));
    char text[YK_UNITS_BUFFER_SIZE + 12];
    snprintf(text, sizeof text, "%s %s", name, YK_UNITS_FORMAT_TEMPORARY(value, unit));
    yk_figure_draw_line(&plot->figure, "low", plot->left, y, plot->right, y);
    yk_figure_draw_text(&plot->figure, "small halo", plot->left + 6, y + 14, text);
}

static void draw_knee_line(const struct yk_plot *plot, double bytes)
{
    const double x = yk_plot_x_pixel(plot, log2(bytes));
    yk_figure_draw_line(&plot->figure, "limit", x, plot->top, x, plot->bottom);
}

/* The name stands right of the knee, or left of it if it does not fit. */
static void draw_knee(const struct yk_plot *plot, const struct yk_saturation_size *saturation)
{
    const double x = yk_plot_x_pixel(plot, log2(saturation->bytes));
    const double y = yk_plot_y_pixel(
        plot, log10(YK_SATURATION_SIZE_BANDWIDTH_FRACTION * saturation->plateau_bytes_per_s));
    char text[YK_UNITS_BUFFER_SIZE + 8];
    snprintf(text, sizeof text, "knee %s",
             YK_UNITS_FORMAT_TEMPORARY(saturation->bytes, YK_UNIT_BYTES));
    const bool fits = x + 6 + yk_label_estimate_width_pixels(text) < plot->right;
    yk_figure_draw_text(&plot->figure, fits ? "small strong halo" : "small strong halo end",
                        fits ? x + 6 : x - 6, plot->bottom - 8, text);
    yk_text_addf(plot->figure.out, "<circle class=\"chosen\" cx=\"%.2f\" cy=\"%.2f\" r=\"7\"/>\n",
                 x, y);
}

static void draw_rates(const struct row *row)
{
    const struct yk_plot plot = chart_of(row, false);
    const struct yk_saturation_size *saturation = &row->link->saturation;
    const bool shows_knee = row->link->has_knee && log2(saturation->bytes) <= plot.x.high;
    yk_figure_draw_text(&plot.figure, "small soft", plot.left, plot.top - 6,
                        "bandwidth over each link");
    draw_axes(&plot, &row->rates, YK_UNIT_BYTES_PER_S, true);
    if (row->link->has_knee) {
        draw_level(&plot, saturation->plateau_bytes_per_s, YK_UNIT_BYTES_PER_S, "plateau");
    }
    if (shows_knee) {
        draw_knee_line(&plot, saturation->bytes);
    }
    draw_series(&plot, &row->rates, 0);
    if (shows_knee) {
        draw_knee(&plot, saturation);
    }
}

static void draw_times(const struct row *row)
{
    const struct yk_plot plot = chart_of(row, true);
    const struct yk_saturation_size *saturation = &row->link->saturation;
    yk_figure_draw_text(&plot.figure, "small soft", plot.left, plot.top - 6, "time");
    draw_axes(&plot, &row->times, YK_UNIT_SECONDS, true);
    if (row->link->has_knee && saturation->latency_s > 0) {
        draw_level(&plot, saturation->latency_s, YK_UNIT_SECONDS, "latency");
    }
    if (row->link->has_knee && log2(saturation->bytes) <= plot.x.high) {
        draw_knee_line(&plot, saturation->bytes);
    }
    draw_series(&plot, &row->times, 0);
}

static yk_status draw_row(struct row *row, struct yk_arena *arena)
{
    const struct yk_profile_report_link_curve *link = row->link;
    struct yk_text text = {0};
    YK_TRY(make_series(link->count, arena, &row->rates));
    YK_TRY(make_series(link->count, arena, &row->times));
    for (int32_t i = 0; i < link->count; i++) {
        const double bytes = (double)link->rows[i].bytes;
        const struct yk_profile_measurement *measurement = &link->rows[i].measurement;
        add_point(&row->rates, bytes, yk_profile_report_curve_row_bandwidth(link, i),
                  measurement->spread);
        add_point(&row->times, bytes, measurement->value, measurement->spread);
    }
    yk_profile_describe_collective(&link->rows[0].link, &text);
    yk_figure_draw_text(&row->figure, "strong", 14, row->top + 16, yk_text_chars(&text));
    yk_text_free(&text);
    text = (struct yk_text){0};
    yk_profile_describe_curve_knee(link, &text);
    yk_figure_draw_truncated_text(&row->figure, "soft", LEFT + 130, row->top + 16,
                                  yk_text_chars(&text),
                                  row->figure.width - LEFT - 130 - RIGHT_MARGIN);
    row->figure.out->failed |= text.failed;
    yk_text_free(&text);
    draw_rates(row);
    draw_times(row);
    return YK_OK;
}

yk_status yk_profile_figures_draw_link_curves(const struct yk_profile_report *report, int32_t first,
                                              struct yk_arena *arena, struct yk_text *out,
                                              int32_t *next)
{
    const char *name = report->links[first].rows[0].link.link;
    int32_t end = first;
    while (end < report->link_count && strcmp(report->links[end].rows[0].link.link, name) == 0) {
        end++;
    }
    const struct yk_figure figure = {
        .width = YK_FIGURE_FULL_WIDTH,
        .height = YK_FIGURE_HEADING_HEIGHT + (end - first) * ROW_HEIGHT,
        .standalone = true,
        .out = out,
    };
    yk_figure_begin(&figure, name);
    for (int32_t i = first; i < end; i++) {
        struct row row = {.link = &report->links[i],
                          .figure = figure,
                          .top = YK_FIGURE_HEADING_HEIGHT + (i - first) * ROW_HEIGHT};
        YK_TRY(draw_row(&row, arena));
    }
    yk_figure_end(&figure);
    *next = end;
    return yk_text_status(out);
}
