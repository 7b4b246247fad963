/* A sort of layer on a device: how long its passes take over samples. */
#include "report/label.h"
#include "report/profile_plot.h"
#include "report/profile_report.h"
#include "report/profile_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 760,
    LEFT = 64,
    RIGHT_MARGIN = 20,
    CHART_HEIGHT = 280,
    FOOT = 68, /* samples, the axis' name, the legend */
    PASSES = 3,
};

static const char *const passes[PASSES] = {"forward", "backward", "update"};

/* Forward and backward of every number of samples; the update, whatever the samples, once. */
static yk_status collect(const struct yk_profile_report_layer *layer, struct yk_arena *arena,
                         struct yk_profile_series series[PASSES])
{
    for (int p = 0; p < PASSES; p++) {
        YK_TRY(yk_profile_series_make(layer->count, arena, &series[p]));
        for (int32_t i = 0; i < layer->count; i++) {
            const struct yk_profile_layer_row *row = &layer->rows[i];
            if (strcmp(row->layer.pass, passes[p]) == 0) {
                yk_profile_series_add(&series[p], (double)row->batch, row->measurement.value,
                                      row->measurement.spread);
            }
        }
    }
    return YK_OK;
}

static void draw_update(const struct yk_plot *plot, const struct yk_profile_series *series)
{
    if (series->count > 0) {
        const double y = yk_plot_y(plot, series->values[0]);
        char time[YK_UNITS_SIZE];
        char words[YK_UNITS_SIZE + 12];
        yk_units_format(pow(10, series->values[0]), YK_UNIT_SECONDS, time);
        snprintf(words, sizeof words, "update %s", time);
        yk_figure_line(&plot->figure, "low", plot->left, y, plot->right, y);
        yk_figure_text(&plot->figure, "small halo end", plot->right - 4, y - 5, words);
    }
}

static void draw_legend(const struct yk_plot *plot)
{
    double x = plot->left;
    const double y = plot->bottom + 50;
    for (int p = 0; p < 2; p++) {
        char kind[24];
        snprintf(kind, sizeof kind, "curve s%d", p);
        yk_figure_line(&plot->figure, kind, x, y - 4, x + 20, y - 4);
        yk_figure_text(&plot->figure, "soft", x + 26, y, passes[p]);
        x += 26 + yk_label_pixels(passes[p]) + 14;
    }
}

static void draw(const struct yk_plot *plot, const struct yk_profile_series series[PASSES])
{
    const bool longer = series[1].count > series[0].count;
    yk_profile_plot_axes(plot, &series[longer ? 1 : 0], YK_UNIT_SECONDS, false);
    yk_figure_text(&plot->figure, "small soft end", plot->right, plot->bottom + 33, "samples");
    draw_update(plot, &series[2]);
    for (int p = 0; p < 2; p++) {
        yk_profile_plot_series(plot, &series[p], p);
    }
    draw_legend(plot);
}

yk_status yk_profile_figure_layer(const struct yk_profile_report_layer *layer,
                                  struct yk_arena *arena, struct yk_text *out)
{
    const struct yk_profile_layer *what = &layer->rows[0].layer;
    struct yk_profile_series series[PASSES];
    struct yk_text title = {0};
    struct yk_plot plot = {
        .figure = {.width = WIDTH,
                   .height = YK_FIGURE_HEADING + CHART_HEIGHT + FOOT,
                   .alone = true,
                   .out = out},
        .left = LEFT,
        .right = WIDTH - RIGHT_MARGIN,
        .top = YK_FIGURE_HEADING,
        .bottom = YK_FIGURE_HEADING + CHART_HEIGHT,
        .x = yk_range_empty(),
        .y = yk_range_empty(),
    };
    YK_TRY(collect(layer, arena, series));
    for (int p = 0; p < PASSES; p++) {
        yk_profile_plot_include(&plot, &series[p]);
    }
    yk_range_widen(&plot.x, 0.03);
    yk_range_widen(&plot.y, 0.06);
    yk_text_addf(&title, "%s on ", what->shape);
    yk_profile_say_device(what, &title);
    yk_text_addf(&title, ", samples of %" PRId64 " tokens", what->sequence);
    yk_figure_begin(&plot.figure, yk_text_chars(&title));
    draw(&plot, series);
    yk_figure_end(&plot.figure);
    out->failed |= title.failed;
    yk_text_free(&title);
    return yk_text_status(out);
}
