#include "report/profile_plot.h"

#include "report/label.h"

#include <math.h>
#include <stdio.h>

/* Longer bars than that would leave the picture: of the logarithm. */
static const double most_bar = 0.5;
/* Decades that an axis shows at least; below `few` it has ticks at 2 and 5, too. */
static const double least_decades = 0.4;
static const double few_decades = 2.5;

yk_status yk_profile_series_make(int32_t most, struct yk_arena *arena,
                                 struct yk_profile_series *out)
{
    struct yk_profile_series series = {0};
    YK_TRY_NEW(arena, series.sizes, most + 1);
    YK_TRY_NEW(arena, series.values, most + 1);
    YK_TRY_NEW(arena, series.spreads, most + 1);
    *out = series;
    return YK_OK;
}

void yk_profile_series_add(struct yk_profile_series *series, double size, double value,
                           double spread)
{
    if (size > 0 && value > 0 && isfinite(size) && isfinite(value)) {
        series->sizes[series->count] = log2(size);
        series->values[series->count] = log10(value);
        series->spreads[series->count++] = spread > 0 ? spread : 0;
    }
}

/* Half the bar of point `i` above and below it. */
static double bar_above(const struct yk_profile_series *series, int32_t i)
{
    return fmin(log10(1 + series->spreads[i]), most_bar);
}

static double bar_below(const struct yk_profile_series *series, int32_t i)
{
    return series->spreads[i] < 1 ? fmin(-log10(1 - series->spreads[i]), most_bar) : most_bar;
}

void yk_profile_plot_include(struct yk_plot *plot, const struct yk_profile_series *series)
{
    for (int32_t i = 0; i < series->count; i++) {
        yk_range_include(&plot->x, series->sizes[i]);
        yk_range_include(&plot->y, series->values[i] + bar_above(series, i));
        yk_range_include(&plot->y, series->values[i] - bar_below(series, i));
    }
    const double middle = (plot->y.low + plot->y.high) / 2;
    yk_range_include(&plot->y, middle - least_decades / 2);
    yk_range_include(&plot->y, middle + least_decades / 2);
}

static void draw_grid(const struct yk_plot *plot, enum yk_unit unit)
{
    static const double steps[] = {1, 2, 5};
    const int count = plot->y.high - plot->y.low < few_decades ? 3 : 1;
    for (int decade = (int)floor(plot->y.low); decade <= (int)ceil(plot->y.high); decade++) {
        for (int s = 0; s < count; s++) {
            const double at = decade + log10(steps[s]);
            char label[YK_UNITS_SIZE];
            if (at < plot->y.low || at > plot->y.high) {
                continue;
            }
            const double y = yk_plot_y(plot, at);
            yk_units_format(pow(10, decade) * steps[s], unit, label);
            yk_figure_line(&plot->figure, "grid", plot->left, y, plot->right, y);
            yk_figure_text(&plot->figure, "small soft end", plot->left - 8, y + 4, label);
        }
    }
}

/* Every size has a tick, and a word where there is room for it. */
static void draw_sizes(const struct yk_plot *plot, const struct yk_profile_series *series,
                       bool bytes)
{
    double end = -HUGE_VAL;
    for (int32_t i = 0; i < series->count; i++) {
        const double x = yk_plot_x(plot, series->sizes[i]);
        const double size = exp2(series->sizes[i]);
        char label[YK_UNITS_SIZE];
        if (bytes) {
            yk_units_format(size, YK_UNIT_BYTES, label);
        } else {
            snprintf(label, sizeof label, "%.0f", size);
        }
        const double half = yk_label_pixels(label) / 2;
        yk_figure_line(&plot->figure, "axis", x, plot->bottom, x, plot->bottom + 4);
        if (x - half > end) {
            yk_figure_text(&plot->figure, "small soft middle", x, plot->bottom + 17, label);
            end = x + half + 4;
        }
    }
}

void yk_profile_plot_axes(const struct yk_plot *plot, const struct yk_profile_series *series,
                          enum yk_unit unit, bool bytes)
{
    draw_grid(plot, unit);
    draw_sizes(plot, series, bytes);
    yk_figure_line(&plot->figure, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
}

void yk_profile_plot_series(const struct yk_plot *plot, const struct yk_profile_series *series,
                            int look)
{
    char curve[24];
    char bar[24];
    snprintf(curve, sizeof curve, "curve s%d", look);
    snprintf(bar, sizeof bar, "curve fine s%d", look);
    yk_plot_curve(plot, curve, series->sizes, series->values, series->count);
    for (int32_t i = 0; i < series->count; i++) {
        const double x = yk_plot_x(plot, series->sizes[i]);
        const double high = yk_plot_y(plot, series->values[i] + bar_above(series, i));
        const double low = yk_plot_y(plot, series->values[i] - bar_below(series, i));
        yk_figure_line(&plot->figure, bar, x, high, x, low);
        yk_figure_line(&plot->figure, bar, x - 4, high, x + 4, high);
        yk_figure_line(&plot->figure, bar, x - 4, low, x + 4, low);
    }
    for (int32_t i = 0; i < series->count; i++) {
        yk_text_addf(plot->figure.out,
                     "<circle class=\"dot s%d\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\"/>\n", look,
                     yk_plot_x(plot, series->sizes[i]), yk_plot_y(plot, series->values[i]));
    }
}
