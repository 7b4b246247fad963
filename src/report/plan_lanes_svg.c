#include "report/label.h"
#include "report/plan_draw.h"
#include "report/plan_look.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_BARS = 6000,
    LEFT = 70,
    RIGHT_MARGIN = 20,
    AXIS_HEIGHT = 22,
    NAME_HEIGHT = 20,
    FOLD_GAP = 8,
    MARKS_HEIGHT = 20,
    RUN_PIXELS = 4, /* the most that ops too short to be drawn are drawn as one */
};

struct picture {
    const struct yk_plan_folds *folds;
    struct yk_figure figure;
    double right;
    double top;    /* of the first fold */
    double bottom; /* of the last */
    double lane;   /* height of a lane, with the gap under it */
    double least;  /* pixels: shorter ops are merged with their neighbours */
    bool uses[YK_LOOK_OP_COUNT];
};

/* One op, or several that follow each other and are too short to be told apart. */
struct run {
    const struct yk_trace_event *first;
    double start_s;
    double end_s;
    double busy_s;
    double by_kind_s[YK_LOOK_OP_COUNT];
    int32_t count;
};

static double x_of(const struct picture *picture, double at_s)
{
    const double span_s = picture->folds->span_s;
    return LEFT + (span_s > 0 ? at_s / span_s : 0) * (picture->right - LEFT);
}

static double pixels_of(const struct picture *picture, double seconds)
{
    return x_of(picture, seconds) - LEFT;
}

static bool joins(const struct picture *picture, const struct run *run,
                  const struct yk_trace_event *event)
{
    const double least = picture->least;
    const bool both_short = pixels_of(picture, event->end_s - event->start_s) < least &&
                            (run->count > 1 || pixels_of(picture, run->busy_s) < least);
    return both_short && pixels_of(picture, event->start_s - run->end_s) < least &&
           pixels_of(picture, event->end_s - run->start_s) <= RUN_PIXELS * least;
}

static void extend(struct run *run, const struct yk_trace_event *event)
{
    const double busy_s = event->end_s - event->start_s;
    run->end_s = fmax(run->end_s, event->end_s);
    run->busy_s += busy_s;
    run->by_kind_s[yk_look_op_kind(event->op)] += busy_s;
    run->count++;
}

/* Makes the next run of a lane out of its events from `*at` on. */
static struct run next_run(const struct picture *picture, const struct yk_plan_lane *lane,
                           int32_t *at)
{
    const struct yk_trace_event *first = lane->events[(*at)++];
    struct run run = {.first = first, .start_s = first->start_s, .end_s = first->end_s};
    extend(&run, first);
    while (*at < lane->count && joins(picture, &run, lane->events[*at])) {
        extend(&run, lane->events[(*at)++]);
    }
    return run;
}

static int64_t count_runs(const struct picture *picture)
{
    int64_t count = 0;
    for (int32_t f = 0; f < picture->folds->count; f++) {
        for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
            int32_t at = 0;
            while (at < picture->folds->folds[f].lanes[l].count) {
                next_run(picture, &picture->folds->folds[f].lanes[l], &at);
                count++;
            }
        }
    }
    return count;
}

static int32_t main_kind(const struct run *run)
{
    int32_t best = yk_look_op_kind(run->first->op);
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        best = run->by_kind_s[k] > run->by_kind_s[best] ? k : best;
    }
    return best;
}

static void add_title(const struct picture *picture, const struct yk_plan_fold *fold,
                      const struct run *run)
{
    struct yk_text *out = picture->figure.out;
    char words[YK_UNITS_SIZE];
    char number[YK_NUMBER_SIZE];
    yk_text_add(out, "<title>");
    if (run->count > 1) {
        yk_text_addf(out, "%d ops, mostly %s", run->count, yk_look_op_name(main_kind(run)));
    } else {
        yk_text_add_xml(out, run->first->op);
    }
    yk_text_add(out, " on ");
    yk_text_add_xml(out, fold->name);
    yk_label_number(run->start_s, number);
    yk_units_format(run->end_s - run->start_s, YK_UNIT_SECONDS, words);
    yk_text_addf(out, ": at %ss, takes %s", number, words);
    if (run->count == 1 && run->first->bytes > 0) {
        yk_units_format(run->first->bytes, YK_UNIT_BYTES, words);
        yk_text_addf(out, ", %s", words);
    }
    yk_text_add(out, "</title>");
}

static void draw_run(const struct picture *picture, const struct yk_plan_fold *fold,
                     const struct run *run, double y)
{
    struct yk_text *out = picture->figure.out;
    const double height = picture->lane - 3;
    const double x = fmax(x_of(picture, run->start_s), LEFT); /* what was before is not shown */
    const double pixels = x_of(picture, run->end_s) - x;
    const double gap = pixels > 4 ? 0.5 : 0; /* a hair of paper between neighbours */
    const int32_t kind = main_kind(run);
    char class_name[32];
    if (pixels <= 0 && run->start_s < 0) {
        return;
    }
    snprintf(class_name, sizeof class_name, "bar op-%s", yk_look_op_name(kind));
    yk_figure_begin_rect(&picture->figure, class_name, x + gap, y, fmax(pixels - 2 * gap, 0.75),
                         height);
    if (run->count > 1) {
        const double share =
            run->end_s > run->start_s ? run->busy_s / (run->end_s - run->start_s) : 0;
        yk_text_addf(out, " fill-opacity=\"%.2f\"", 0.4 + 0.6 * fmin(share, 1));
    } else if (pixels > 6) {
        yk_text_add(out, " rx=\"2\"");
    }
    yk_text_add(out, ">");
    add_title(picture, fold, run);
    yk_text_add(out, "</rect>\n");
    if (run->count == 1 && height >= 11 && pixels >= 14) {
        const bool room = yk_label_pixels(run->first->op) + 6 <= pixels;
        yk_figure_text(&picture->figure, "small ink middle", x + pixels / 2, y + height / 2 + 4,
                       room ? run->first->op : yk_look_op_code(kind));
    }
}

static void draw_track(const struct picture *picture, const struct yk_plan_fold *fold, int32_t lane,
                       double y)
{
    const double height = picture->lane - 3;
    yk_figure_begin_rect(&picture->figure, "track", LEFT, y, picture->right - LEFT, height);
    yk_text_add(picture->figure.out, "/>\n");
    yk_figure_text(&picture->figure, "small soft end", LEFT - 8, y + height / 2 + 4,
                   fold->lanes[lane].name);
}

static void draw_ops(const struct picture *picture, const struct yk_plan_fold *fold, int32_t lane,
                     double y)
{
    for (int32_t at = 0; at < fold->lanes[lane].count;) {
        const struct run run = next_run(picture, &fold->lanes[lane], &at);
        draw_run(picture, fold, &run, y);
    }
}

/* Lanes in which nothing happens are left out. */
static double fold_height(const struct picture *picture, const struct yk_plan_fold *fold)
{
    double height = NAME_HEIGHT + FOLD_GAP;
    for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
        height += fold->lanes[l].count > 0 ? picture->lane : 0;
    }
    return height;
}

static void draw_names(const struct picture *picture)
{
    double y = picture->top;
    for (int32_t f = 0; f < picture->folds->count; f++) {
        yk_figure_cut_text(&picture->figure, "strong halo", 14, y + 14,
                           picture->folds->folds[f].name, YK_FIGURE_STRONG * (picture->right - 28));
        y += fold_height(picture, &picture->folds->folds[f]);
    }
}

static void draw_lanes(const struct picture *picture,
                       void (*draw)(const struct picture *picture, const struct yk_plan_fold *fold,
                                    int32_t lane, double y))
{
    double y = picture->top;
    for (int32_t f = 0; f < picture->folds->count; f++) {
        const struct yk_plan_fold *fold = &picture->folds->folds[f];
        y += NAME_HEIGHT;
        for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
            if (fold->lanes[l].count > 0) {
                draw(picture, fold, l, y);
                y += picture->lane;
            }
        }
        y += FOLD_GAP;
    }
}

static void draw_marks(const struct picture *picture)
{
    const struct yk_plan_result *result = picture->folds->result;
    const double top = picture->top - 4;
    const double bottom = picture->bottom + 2;
    double room = picture->right;
    char words[YK_UNITS_SIZE + 16];
    char time[YK_UNITS_SIZE];
    if (isfinite(result->step_s)) {
        yk_units_format(result->step_s, YK_UNIT_SECONDS, time);
        snprintf(words, sizeof words, "step %s", time);
        yk_figure_line(&picture->figure, "step", x_of(picture, result->step_s), top,
                       x_of(picture, result->step_s), bottom);
        yk_figure_text(&picture->figure, "small end", picture->right, bottom + 13, words);
        room -= yk_label_pixels(words) + 10;
    }
    if (isfinite(result->bound_s) && result->bound_s > 0 &&
        result->bound_s <= picture->folds->span_s) {
        const double x = x_of(picture, result->bound_s);
        yk_units_format(result->bound_s, YK_UNIT_SECONDS, time);
        snprintf(words, sizeof words, "lower bound %s", time);
        yk_figure_line(&picture->figure, "low", x, top, x, bottom);
        yk_figure_text(&picture->figure, "small soft end",
                       fmax(fmin(x, room), LEFT + yk_label_pixels(words)), bottom + 13, words);
    }
}

static int32_t list_legend(const struct picture *picture, char names[][32],
                           struct yk_legend_entry entries[YK_LOOK_OP_COUNT], char classes[][32])
{
    int32_t count = 0;
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        if (picture->uses[k]) {
            snprintf(names[count], 32, "%s %s", yk_look_op_code(k), yk_look_op_name(k));
            snprintf(classes[count], 32, "op-%s", yk_look_op_name(k));
            entries[count] = (struct yk_legend_entry){classes[count], names[count]};
            count++;
        }
    }
    return count;
}

static struct picture lay_out(const struct yk_plan_folds *folds, const struct yk_figure *frame)
{
    struct picture picture = {
        .folds = folds,
        .figure = *frame,
        .right = frame->width - RIGHT_MARGIN,
        .top = AXIS_HEIGHT + (frame->alone ? YK_FIGURE_HEADING : 0),
        .lane = folds->count <= 12   ? 23
                : folds->count <= 40 ? 16
                                     : 11,
        .least = 1,
    };
    picture.bottom = picture.top;
    for (int32_t f = 0; f < folds->count; f++) {
        const struct yk_plan_fold *fold = &folds->folds[f];
        picture.bottom += fold_height(&picture, fold);
        for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
            for (int32_t i = 0; i < fold->lanes[l].count; i++) {
                picture.uses[yk_look_op_kind(fold->lanes[l].events[i]->op)] = true;
            }
        }
    }
    while (count_runs(&picture) > MOST_BARS && picture.least < frame->width) {
        picture.least *= 2;
    }
    return picture;
}

void yk_plan_draw_lanes(const struct yk_plan_folds *folds, struct yk_figure frame)
{
    struct picture picture = lay_out(folds, &frame);
    struct yk_legend_entry entries[YK_LOOK_OP_COUNT];
    char names[YK_LOOK_OP_COUNT][32];
    char classes[YK_LOOK_OP_COUNT][32];
    const int32_t count = list_legend(&picture, names, entries, classes);
    const double legend = picture.bottom + MARKS_HEIGHT;
    const double width = picture.right - LEFT;
    picture.figure.height =
        legend + yk_figure_legend(NULL, entries, count, LEFT, legend, picture.right) + 10;
    struct yk_text title = {0};
    yk_text_addf(&title, "Ops over time: %s", folds->result->title);
    yk_figure_begin(&picture.figure, yk_text_chars(&title));
    frame.out->failed |= title.failed;
    yk_text_free(&title);
    const struct yk_axis axis =
        yk_axis_make(folds->span_s, YK_UNIT_SECONDS, (int)fmax(1, width / 90));
    draw_lanes(&picture, draw_track);
    yk_figure_time_grid(&picture.figure, &axis, LEFT, picture.right, picture.top, picture.bottom);
    draw_lanes(&picture, draw_ops);
    draw_names(&picture);
    draw_marks(&picture);
    yk_figure_legend(&picture.figure, entries, count, LEFT, legend, picture.right);
    yk_figure_end(&picture.figure);
}
