#include "report/csv.h"
#include "report/label.h"
#include "report/plan/charts.h"

#include <math.h>
#include <stdio.h>

enum {
    TIMES = 3,
    MARGIN = 14,
    MAX_NAME = 170,
    LINE_HEIGHT = 18,
};

static const char *const time_names[TIMES] = {"compute", "exposed", "idle"};

struct picture {
    struct yk_figure figure;
    double left;
    double right;
    double row;   /* height of a row, its name above the bar included where that is its place */
    double bar;   /* height of a bar */
    double above; /* from the top of a row to its bar */
    double max_s;
};

static void times_of(const struct yk_equal_ranks_sets *sets, const struct yk_equal_ranks_set *set,
                     double out[TIMES])
{
    const struct yk_plan_result_rank *rank = &sets->result->ranks[set->rank];
    const double times[TIMES] = {rank->compute_s, rank->exposed_s, rank->idle_s};
    for (int i = 0; i < TIMES; i++) {
        out[i] = isfinite(times[i]) ? fmax(times[i], 0) : 0;
    }
}

static struct picture lay_out(const struct yk_equal_ranks_sets *sets, const struct yk_figure *frame)
{
    const bool narrow = frame->width < YK_PLAN_CHARTS_NARROW_WIDTH;
    const bool dense = sets->count > 16;
    struct picture picture = {
        .figure = *frame,
        .right = frame->width - MARGIN,
        .bar = dense ? 16 : 24,
        .above = narrow ? LINE_HEIGHT : 0,
    };
    double widest = 0;
    for (int32_t f = 0; f < sets->count; f++) {
        double times[TIMES];
        times_of(sets, &sets->all[f], times);
        picture.max_s = fmax(picture.max_s, times[0] + times[1] + times[2]);
        widest = fmax(widest, yk_label_estimate_width_pixels(sets->all[f].name));
    }
    picture.left = narrow ? MARGIN : MARGIN + fmin(widest, MAX_NAME) + 12;
    picture.row = picture.above + picture.bar + (dense ? 6 : 10);
    return picture;
}

static void draw_times(const struct picture *picture, const struct yk_equal_ranks_set *set,
                       const double times[TIMES], double y)
{
    struct yk_text *out = picture->figure.out;
    double x = picture->left;
    for (int i = 0; i < TIMES; i++) {
        const double pixels =
            picture->max_s > 0 ? times[i] / picture->max_s * (picture->right - picture->left) : 0;
        const char *text = YK_UNITS_FORMAT_TEMPORARY(times[i], YK_UNIT_SECONDS);
        char kind[24];
        if (times[i] <= 0) {
            continue;
        }
        snprintf(kind, sizeof kind, "time-%s", time_names[i]);
        yk_figure_begin_rect_tag(&picture->figure, kind, x, y, fmax(pixels - 1, 0.75),
                                 picture->bar);
        yk_text_add(out, " rx=\"2\"><title>");
        yk_text_add_xml_escaped(out, set->name);
        yk_text_addf(out, ": %s %s</title></rect>\n", time_names[i], text);
        if (yk_label_estimate_width_pixels(text) + 6 <= pixels) {
            yk_figure_draw_text(&picture->figure, i < 2 ? "small ink middle" : "small middle",
                                x + pixels / 2, y + picture->bar / 2 + 4, text);
        }
        x += pixels;
    }
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    const struct yk_equal_ranks_sets *sets = subject;
    static const struct yk_figure_legend_entry entries[TIMES] = {
        {"time-compute", "compute", false},
        {"time-exposed", "exposed communication", false},
        {"time-idle", "idle", false},
    };
    struct picture picture = lay_out(sets, &frame);
    double y = frame.standalone ? YK_FIGURE_HEADING_HEIGHT : 0;
    const double legend = y + picture.row * sets->count + 4;
    picture.figure.height =
        legend + yk_figure_draw_legend(NULL, entries, TIMES, picture.left, 0, picture.right) + 6;
    yk_figure_begin(&picture.figure, "Compute, exposed communication and idle time by device");
    for (int32_t f = 0; f < sets->count; f++) {
        double times[TIMES];
        times_of(sets, &sets->all[f], times);
        if (picture.above > 0) {
            yk_figure_draw_truncated_text(
                &picture.figure, "strong", picture.left, y + 13, sets->all[f].name,
                YK_FIGURE_BOLD_TEXT_SPACE_FRACTION * (picture.right - picture.left));
        } else {
            yk_figure_draw_truncated_text(&picture.figure, "end", picture.left - 10,
                                          y + picture.bar / 2 + 4, sets->all[f].name, MAX_NAME);
        }
        draw_times(&picture, &sets->all[f], times, y + picture.above);
        y += picture.row;
    }
    yk_figure_draw_legend(&picture.figure, entries, TIMES, picture.left, legend, picture.right);
    yk_figure_end(&picture.figure);
    return YK_OK;
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    yk_text_add(out, "ranks,device,compute_s,exposed_s,idle_s,peak_bytes\n");
    for (int32_t f = 0; f < sets->count; f++) {
        const struct yk_equal_ranks_set *set = &sets->all[f];
        const struct yk_plan_result_rank *rank = &sets->result->ranks[set->rank];
        double times[TIMES];
        times_of(sets, set, times);
        yk_csv_add_text(out, set->numbers);
        yk_csv_add_text(out, set->name);
        for (int i = 0; i < TIMES; i++) {
            yk_csv_add_seconds(out, times[i]);
        }
        yk_csv_add_bytes(out, rank->peak_bytes);
        yk_csv_end_row(out);
    }
    return YK_OK;
}

const struct yk_chart yk_plan_chart_bars = {
    .name = "bars",
    .title = "Compute, exposed, idle",
    .row_class = "pair",
    .draw = draw,
    .width = YK_CHART_HALF_WIDTH,
    .file_width = 760,
    .csv_name = "times",
    .write_csv = write_csv,
};
