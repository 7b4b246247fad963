#include "report/label.h"
#include "report/plan_draw.h"

#include <math.h>
#include <stdio.h>

enum {
    TIMES = 3,
    MARGIN = 14,
    MOST_NAME = 170,
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
    double most_s;
};

static void times_of(const struct yk_plan_folds *folds, const struct yk_plan_fold *fold,
                     double out[TIMES])
{
    const struct yk_plan_result_rank *rank = &folds->result->ranks[fold->rank];
    const double times[TIMES] = {rank->compute_s, rank->exposed_s, rank->idle_s};
    for (int i = 0; i < TIMES; i++) {
        out[i] = isfinite(times[i]) ? fmax(times[i], 0) : 0;
    }
}

static struct picture lay_out(const struct yk_plan_folds *folds, const struct yk_figure *frame)
{
    const bool narrow = frame->width < YK_DRAW_NARROW;
    const bool dense = folds->count > 16;
    struct picture picture = {
        .figure = *frame,
        .right = frame->width - MARGIN,
        .bar = dense ? 16 : 24,
        .above = narrow ? LINE_HEIGHT : 0,
    };
    double widest = 0;
    for (int32_t f = 0; f < folds->count; f++) {
        double times[TIMES];
        times_of(folds, &folds->folds[f], times);
        picture.most_s = fmax(picture.most_s, times[0] + times[1] + times[2]);
        widest = fmax(widest, yk_label_pixels(folds->folds[f].name));
    }
    picture.left = narrow ? MARGIN : MARGIN + fmin(widest, MOST_NAME) + 12;
    picture.row = picture.above + picture.bar + (dense ? 6 : 10);
    return picture;
}

static void draw_times(const struct picture *picture, const struct yk_plan_fold *fold,
                       const double times[TIMES], double y)
{
    struct yk_text *out = picture->figure.out;
    double x = picture->left;
    for (int i = 0; i < TIMES; i++) {
        const double pixels =
            picture->most_s > 0 ? times[i] / picture->most_s * (picture->right - picture->left) : 0;
        char kind[24];
        char words[YK_UNITS_SIZE];
        if (times[i] <= 0) {
            continue;
        }
        snprintf(kind, sizeof kind, "time-%s", time_names[i]);
        yk_units_format(times[i], YK_UNIT_SECONDS, words);
        yk_figure_begin_rect(&picture->figure, kind, x, y, fmax(pixels - 1, 0.75), picture->bar);
        yk_text_add(out, " rx=\"2\"><title>");
        yk_text_add_xml(out, fold->name);
        yk_text_addf(out, ": %s %s</title></rect>\n", time_names[i], words);
        if (yk_label_pixels(words) + 6 <= pixels) {
            yk_figure_text(&picture->figure, i < 2 ? "small ink middle" : "small middle",
                           x + pixels / 2, y + picture->bar / 2 + 4, words);
        }
        x += pixels;
    }
}

void yk_plan_draw_bars(const struct yk_plan_folds *folds, struct yk_figure frame)
{
    static const struct yk_legend_entry entries[TIMES] = {
        {"time-compute", "compute"},
        {"time-exposed", "exposed communication"},
        {"time-idle", "idle"},
    };
    struct picture picture = lay_out(folds, &frame);
    double y = frame.alone ? YK_FIGURE_HEADING : 0;
    const double legend = y + picture.row * folds->count + 4;
    picture.figure.height =
        legend + yk_figure_legend(NULL, entries, TIMES, picture.left, 0, picture.right) + 6;
    yk_figure_begin(&picture.figure, "Compute, exposed communication and idle time by device");
    for (int32_t f = 0; f < folds->count; f++) {
        double times[TIMES];
        times_of(folds, &folds->folds[f], times);
        if (picture.above > 0) {
            yk_figure_cut_text(&picture.figure, "strong", picture.left, y + 13,
                               folds->folds[f].name,
                               YK_FIGURE_STRONG * (picture.right - picture.left));
        } else {
            yk_figure_cut_text(&picture.figure, "end", picture.left - 10, y + picture.bar / 2 + 4,
                               folds->folds[f].name, MOST_NAME);
        }
        draw_times(&picture, &folds->folds[f], times, y + picture.above);
        y += picture.row;
    }
    yk_figure_legend(&picture.figure, entries, TIMES, picture.left, legend, picture.right);
    yk_figure_end(&picture.figure);
}
