#include "report/label.h"
#include "report/plan_draw.h"

#include <math.h>
#include <stdio.h>

enum {
    LEFT = 70,
    RIGHT_MARGIN = 20,
    AXIS_HEIGHT = 22,
    PLOT_HEIGHT = 200,
};

/* Bytes of every kind from a column of pixels on. */
struct column {
    double x;
    double bytes[YK_MEMORY_KIND_COUNT];
};

struct picture {
    struct yk_figure figure;
    const struct yk_plan_result_rank *rank;
    double limit_bytes;
    double most_bytes; /* at the top */
    double span_s;
    double right;
    double top;
    double bottom;
    struct column *columns;
    int32_t column_count;
};

static double total_of(const double *bytes)
{
    double total = 0;
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        total += bytes[k];
    }
    return total;
}

static double y_of(const struct picture *picture, double bytes)
{
    return picture->bottom - bytes / picture->most_bytes * (picture->bottom - picture->top);
}

static void put_column(struct picture *picture, double x, const struct yk_memory_point *moment)
{
    struct column *column = &picture->columns[picture->column_count++];
    column->x = x;
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        column->bytes[k] = moment->bytes[k];
    }
}

/* Of the moments that fall on one pixel, the fullest is drawn on that pixel, and the last from
 * there on: no peak is lost, however short. */
static void sample_columns(struct picture *picture)
{
    const struct yk_plan_result_rank *rank = picture->rank;
    const double pixels_per_s = (picture->right - LEFT) / picture->span_s;
    for (int32_t i = 0; i < rank->moment_count;) {
        const double pixel = floor(rank->moments[i].at_s * pixels_per_s);
        int32_t fullest = i;
        int32_t next = i;
        for (; next < rank->moment_count && floor(rank->moments[next].at_s * pixels_per_s) == pixel;
             next++) {
            if (total_of(rank->moments[next].bytes) > total_of(rank->moments[fullest].bytes)) {
                fullest = next;
            }
        }
        const double x = LEFT + rank->moments[i].at_s * pixels_per_s;
        put_column(picture, x, &rank->moments[fullest]);
        if (fullest != next - 1) {
            put_column(picture, fmin(x + 1, picture->right), &rank->moments[next - 1]);
        }
        i = next;
    }
}

static double stacked(const struct column *column, int kinds)
{
    double total = 0;
    for (int k = 0; k < kinds; k++) {
        total += column->bytes[k];
    }
    return total;
}

static bool holds(const struct yk_plan_result_rank *rank, int kind)
{
    for (int32_t i = 0; i < rank->moment_count; i++) {
        if (rank->moments[i].bytes[kind] > 0) {
            return true;
        }
    }
    return false;
}

/* The area of one kind, on top of the kinds before it: along its upper edge and back. */
static void draw_kind(const struct picture *picture, int kind)
{
    struct yk_text *out = picture->figure.out;
    yk_text_addf(out, "<path class=\"memory-%s\" d=\"M%.1f %.1f",
                 yk_memory_kind_name((enum yk_memory_kind)kind), picture->columns[0].x,
                 y_of(picture, stacked(&picture->columns[0], kind + 1)));
    for (int32_t i = 1; i < picture->column_count; i++) {
        yk_text_addf(out, "H%.1fV%.1f", picture->columns[i].x,
                     y_of(picture, stacked(&picture->columns[i], kind + 1)));
    }
    yk_text_addf(out, "H%.1f", picture->right);
    for (int32_t i = picture->column_count - 1; i >= 0; i--) {
        yk_text_addf(out, "V%.1fH%.1f", y_of(picture, stacked(&picture->columns[i], kind)),
                     picture->columns[i].x);
    }
    yk_text_add(out, "Z\"/>\n");
}

static void draw_scale(const struct picture *picture)
{
    const struct yk_axis axis = yk_axis_make(picture->most_bytes, YK_UNIT_BYTES, 4);
    for (int32_t tick = 0; tick <= yk_axis_last(&axis); tick++) {
        const double y = y_of(picture, tick * axis.step);
        char label[YK_UNITS_SIZE];
        yk_axis_label(&axis, tick, label);
        yk_figure_line(&picture->figure, "grid", LEFT, y, picture->right, y);
        yk_figure_text(&picture->figure, "small soft end", LEFT - 8, y + 4, label);
    }
}

static void draw_limit(const struct picture *picture)
{
    const double y = y_of(picture, picture->limit_bytes);
    char bytes[YK_UNITS_SIZE];
    char words[YK_UNITS_SIZE + 8];
    if (!isfinite(picture->limit_bytes)) {
        return;
    }
    yk_units_format(picture->limit_bytes, YK_UNIT_BYTES, bytes);
    snprintf(words, sizeof words, "limit %s", bytes);
    yk_figure_line(&picture->figure, "limit", LEFT, y, picture->right, y);
    yk_figure_text(&picture->figure, "small warn end", picture->right, y - 4, words);
}

static void draw(const struct picture *picture, const struct yk_plan_fold *fold,
                 const struct yk_legend_entry *entries, int32_t entry_count)
{
    const struct yk_axis axis =
        yk_axis_make(picture->span_s, YK_UNIT_SECONDS, (int)fmax(1, (picture->right - LEFT) / 90));
    struct yk_text title = {0};
    yk_text_addf(&title, "Memory over time: %s", fold->name);
    yk_figure_begin(&picture->figure, yk_text_chars(&title));
    picture->figure.out->failed |= title.failed;
    yk_text_free(&title);
    draw_scale(picture);
    yk_figure_time_grid(&picture->figure, &axis, LEFT, picture->right, picture->top,
                        picture->bottom);
    for (int k = 0; k < YK_MEMORY_KIND_COUNT && picture->column_count > 0; k++) {
        if (holds(picture->rank, k)) {
            draw_kind(picture, k);
        }
    }
    yk_figure_line(&picture->figure, "axis", LEFT, picture->bottom, picture->right,
                   picture->bottom);
    draw_limit(picture);
    yk_figure_legend(&picture->figure, entries, entry_count, LEFT, picture->bottom + 8,
                     picture->right);
    yk_figure_end(&picture->figure);
}

static double fullest_of(const struct yk_plan_result_rank *rank)
{
    double most = isfinite(rank->peak_bytes) ? rank->peak_bytes : 0;
    for (int32_t i = 0; i < rank->moment_count; i++) {
        most = fmax(most, total_of(rank->moments[i].bytes));
    }
    return most;
}

static yk_status draw_in(struct yk_arena *arena, const struct yk_plan_folds *folds,
                         const struct yk_plan_fold *fold, struct yk_figure frame)
{
    const struct yk_plan_result_rank *rank = &folds->result->ranks[fold->rank];
    struct picture picture = {
        .figure = frame,
        .rank = rank,
        .limit_bytes = folds->result->plan->ranks[fold->rank].limit_bytes,
        .span_s = folds->span_s > 0 ? folds->span_s : 1,
        .right = frame.width - RIGHT_MARGIN,
        .top = AXIS_HEIGHT + (frame.alone ? YK_FIGURE_HEADING : 0),
    };
    struct yk_legend_entry entries[YK_MEMORY_KIND_COUNT];
    char classes[YK_MEMORY_KIND_COUNT][32];
    int32_t count = 0;
    const double fullest = fullest_of(rank);
    picture.bottom = picture.top + PLOT_HEIGHT;
    picture.most_bytes =
        1.08 * (isfinite(picture.limit_bytes) ? fmax(picture.limit_bytes, fullest) : fullest);
    picture.most_bytes = picture.most_bytes > 0 ? picture.most_bytes : 1;
    YK_TRY_NEW(arena, picture.columns, 2 * (int64_t)rank->moment_count + 1);
    sample_columns(&picture);
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        const char *name = yk_memory_kind_name((enum yk_memory_kind)k);
        if (holds(rank, k)) {
            snprintf(classes[count], sizeof classes[count], "memory-%s", name);
            entries[count] = (struct yk_legend_entry){classes[count], name};
            count++;
        }
    }
    picture.figure.height =
        picture.bottom + 8 + yk_figure_legend(NULL, entries, count, LEFT, 0, picture.right) + 8;
    draw(&picture, fold, entries, count);
    return yk_text_status(frame.out);
}

yk_status yk_plan_draw_memory(const struct yk_plan_folds *folds, const struct yk_plan_fold *fold,
                              struct yk_figure frame)
{
    YK_TRY_IN_ARENA(arena, draw_in(arena, folds, fold, frame));
    return YK_OK;
}
