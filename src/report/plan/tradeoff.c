#include "report/csv.h"
#include "report/label.h"
#include "report/plan/charts.h"
#include "report/plan/report.h"
#include "report/plot.h"

#include <math.h>
#include <stdio.h>

enum {
    FILE_WIDTH = 760,
    LEFT = 62,
    RIGHT_MARGIN = 18,
    PLOT_HEIGHT = 230,
    LEGEND_HEIGHT = 20,
    STYLES = 6,     /* of curves: colours, and shapes of points */
    MAX_POINTS = 60 /* of a curve whose points are drawn */
};

/* Minimum height of the y range, relative to the step: smaller differences are noise. */
static const double MIN_RISE = 0.02;
/* Maximum distance of the bound below the curves, in heights of the curves. */
static const double MAX_DROP = 2;

struct picture {
    struct yk_plot plot;
    const struct yk_plan_tradeoff_chart *tradeoff;
};

/* A bound far below would make all curves flat: it is then a text, without a line. */
static void include_bound(struct yk_plot_range *range, double bound_s)
{
    if (range->low > range->high) {
        yk_plot_range_include_value(range, bound_s);
        return;
    }
    const double rise = fmax(range->high - range->low, MIN_RISE * fabs(range->low));
    if (range->low - bound_s <= MAX_DROP * rise) {
        yk_plot_range_include_value(range, bound_s);
    }
    range->high = fmax(range->high, range->low + rise);
}

static void find_ranges(struct picture *picture)
{
    const struct yk_plan_tradeoff_chart *tradeoff = picture->tradeoff;
    struct yk_plot_range x = yk_plot_range_make_empty();
    struct yk_plot_range y = x;
    for (int32_t c = 0; c < tradeoff->curve_count; c++) {
        const struct yk_plan_chart_curve *curve = &tradeoff->curves[c];
        for (int32_t i = 0; i < curve->count; i++) {
            yk_plot_range_include_value(&x, curve->x[i]);
            yk_plot_range_include_value(&y, curve->step_s[i]);
        }
    }
    if (isfinite(tradeoff->chosen_x)) {
        yk_plot_range_include_value(&x, tradeoff->chosen_x);
        yk_plot_range_include_value(&y, tradeoff->chosen_s);
    }
    yk_plot_range_include_value(&y, tradeoff->joint_s);
    include_bound(&y, tradeoff->bound_s);
    yk_plot_range_pad(&x, 0.03);
    yk_plot_range_pad(&y, 0.1);
    picture->plot.x = x;
    picture->plot.y = y;
}

static double x_of(const struct picture *picture, double x)
{
    return yk_plot_x_pixel(&picture->plot, x);
}

static double y_of(const struct picture *picture, double seconds)
{
    return yk_plot_y_pixel(&picture->plot, seconds);
}

static void draw_axes(const struct picture *picture)
{
    const struct yk_plot *plot = &picture->plot;
    const struct yk_figure_axis axis = yk_figure_axis_make(plot->y.high, YK_UNIT_SECONDS, 1);
    yk_plot_draw_axes(plot, axis.scale, axis.unit, 5);
    yk_figure_draw_truncated_text(&plot->figure, "middle", (plot->left + plot->right) / 2,
                                  plot->bottom + 35, picture->tradeoff->x_label,
                                  plot->right - plot->left);
}

/* A point's shape around the origin: it distinguishes curves, too. */
static void add_point(const struct picture *picture, int32_t style, double x, double y)
{
    static const char *const shapes[STYLES] = {
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
        "M-3.5-3.5h7v7h-7Z",
        "M0-4.5L4.5 3.5h-9Z",
        "M0-5L5 0L0 5L-5 0Z",
        "M0 4.5L4.5-3.5h-9Z",
        "M-4-2v4h8v-4Z",
    };
    yk_text_addf(picture->plot.figure.out,
                 "<path class=\"dot s%d\" transform=\"translate(%.2f %.2f)\" d=\"%s\"", style, x, y,
                 shapes[style]);
}

static void add_point_title(const struct picture *picture, const struct yk_plan_chart_curve *curve,
                            int32_t i)
{
    struct yk_text *out = picture->plot.figure.out;
    char x[YK_NUMBER_BUFFER_SIZE];
    yk_plot_write_tick_label(curve->x[i], x);
    yk_text_add(out, "><title>");
    yk_text_add_xml_escaped(out, curve->name);
    yk_text_addf(out, ", %s: %s</title></path>\n", x,
                 isfinite(curve->step_s[i]) ? YK_LABEL_WITH_UNIT(curve->step_s[i], YK_UNIT_SECONDS)
                                            : "nothing fits");
}

static void draw_points(const struct picture *picture, const struct yk_plan_chart_curve *curve,
                        int32_t style)
{
    for (int32_t i = 0; i < curve->count; i++) {
        if (!isfinite(curve->x[i])) {
            continue;
        }
        if (isfinite(curve->step_s[i])) {
            add_point(picture, style, x_of(picture, curve->x[i]), y_of(picture, curve->step_s[i]));
        } else {
            yk_text_addf(picture->plot.figure.out,
                         "<path class=\"curve s%d\" transform=\"translate(%.2f %.2f)\" "
                         "d=\"M-3-3L3 3M-3 3L3-3\"",
                         style, x_of(picture, curve->x[i]), picture->plot.bottom - 8);
        }
        add_point_title(picture, curve, i);
    }
}

static void draw_curve(const struct picture *picture, const struct yk_plan_chart_curve *curve,
                       int32_t style)
{
    char kind[16];
    snprintf(kind, sizeof kind, "curve s%d", (int)style);
    yk_plot_draw_curve(&picture->plot, kind, curve->x, curve->step_s, curve->count);
    if (curve->count <= MAX_POINTS) {
        draw_points(picture, curve, style);
    }
}

/* How many points a text from `left` to `right` with the base line `y` would cover. */
static int32_t covered_points(const struct picture *picture, double left, double right, double y)
{
    const struct yk_plan_tradeoff_chart *tradeoff = picture->tradeoff;
    int32_t count = 0;
    for (int32_t c = 0; c < tradeoff->curve_count; c++) {
        const struct yk_plan_chart_curve *curve = &tradeoff->curves[c];
        for (int32_t i = 0; i < curve->count; i++) {
            if (isfinite(curve->x[i]) && isfinite(curve->step_s[i])) {
                const double point_x = x_of(picture, curve->x[i]);
                const double point_y = y_of(picture, curve->step_s[i]);
                count += point_x > left - 6 && point_x < right + 6 && point_y > y - 16 &&
                         point_y < y + 8;
            }
        }
    }
    return count;
}

/* Draws a level with its label above or below it, left or right: where the label covers fewest
 * points. */
static void draw_level(const struct picture *picture, const char *kind, const char *name,
                       double seconds, bool may_be_above, bool may_be_below)
{
    const double y = y_of(picture, seconds);
    double base = y - 5;
    bool at_left = false;
    int32_t min = INT32_MAX;
    char text[YK_UNITS_BUFFER_SIZE + 24];
    snprintf(text, sizeof text, "%s %s", name, YK_UNITS_FORMAT_TEMPORARY(seconds, YK_UNIT_SECONDS));
    const double pixels = yk_label_estimate_width_pixels(text);
    for (int place = 0; place < 4; place++) {
        const bool below = place >= 2;
        const bool left = place % 2 == 1;
        const double line = below ? y + 13 : y - 5;
        const double x = left ? LEFT : picture->plot.right - pixels;
        const int32_t count = covered_points(picture, x, x + pixels, line);
        if ((below ? may_be_below : may_be_above) && count < min) {
            min = count;
            base = line;
            at_left = left;
        }
    }
    yk_figure_draw_line(&picture->plot.figure, kind, LEFT, y, picture->plot.right, y);
    yk_figure_draw_text(&picture->plot.figure, at_left ? "small halo" : "small halo end",
                        at_left ? LEFT + 6 : picture->plot.right - 2, base, text);
}

static void draw_low_bound(const struct picture *picture)
{
    char text[YK_UNITS_BUFFER_SIZE + 32];
    snprintf(text, sizeof text, "lower bound %s, below \xe2\x86\x93",
             YK_UNITS_FORMAT_TEMPORARY(picture->tradeoff->bound_s, YK_UNIT_SECONDS));
    yk_figure_draw_text(&picture->plot.figure, "small halo end", picture->plot.right - 2,
                        picture->plot.bottom - 5, text);
}

static void draw_levels(const struct picture *picture)
{
    const double joint_s = picture->tradeoff->joint_s;
    const double bound_s = picture->tradeoff->bound_s;
    const bool joint = isfinite(joint_s);
    const bool bound = isfinite(bound_s) && bound_s >= picture->plot.y.low;
    const bool near = joint && bound && fabs(y_of(picture, joint_s) - y_of(picture, bound_s)) < 32;
    if (joint) {
        draw_level(picture, "limit", "joint optimum", joint_s, !near || joint_s >= bound_s,
                   !near || joint_s < bound_s);
    }
    if (bound) {
        draw_level(picture, "low", "lower bound", bound_s, !near || bound_s > joint_s,
                   !near || bound_s <= joint_s);
    } else if (isfinite(bound_s)) {
        draw_low_bound(picture);
    }
}

/* Like covered_points(), but levels count, too, and a text outside of the plot counts 100. */
static int32_t covered(const struct picture *picture, double left, double right, double y)
{
    const double levels[] = {picture->tradeoff->joint_s, picture->tradeoff->bound_s};
    int32_t count = covered_points(picture, left, right, y);
    for (int i = 0; i < 2; i++) {
        const double level = isfinite(levels[i]) ? y_of(picture, levels[i]) : -HUGE_VAL;
        count += level > y - 14 && level < y + 6;
    }
    return y > picture->plot.bottom - 4 || y < picture->plot.top + 10 ? count + 100 : count;
}

/* The baseline near the chosen point at which a text covers fewest points. */
static double place_text(const struct picture *picture, double left, double right, double y)
{
    static const double offsets[] = {24, -16, 36, -32, 52};
    double best = y + offsets[0];
    int32_t min = covered(picture, left, right, best);
    for (size_t i = 1; i < sizeof offsets / sizeof *offsets; i++) {
        const int32_t count = covered(picture, left, right, y + offsets[i]);
        if (count < min) {
            min = count;
            best = y + offsets[i];
        }
    }
    return best;
}

static void draw_chosen(const struct picture *picture)
{
    const struct yk_plan_tradeoff_chart *tradeoff = picture->tradeoff;
    if (!isfinite(tradeoff->chosen_x) || !isfinite(tradeoff->chosen_s)) {
        return;
    }
    const double x = x_of(picture, tradeoff->chosen_x);
    const double y = y_of(picture, tradeoff->chosen_s);
    char text[YK_UNITS_BUFFER_SIZE + 8];
    snprintf(text, sizeof text, "chosen %s",
             YK_UNITS_FORMAT_TEMPORARY(tradeoff->chosen_s, YK_UNIT_SECONDS));
    const double half =
        yk_label_estimate_width_pixels(text) / 2 / YK_FIGURE_BOLD_TEXT_SPACE_FRACTION;
    const double middle = fmax(LEFT + half, fmin(x, picture->plot.right - half));
    yk_text_addf(picture->plot.figure.out,
                 "<circle class=\"chosen\" cx=\"%.2f\" cy=\"%.2f\" r=\"8\"/>\n", x, y);
    yk_figure_draw_text(&picture->plot.figure, "strong halo middle", middle,
                        place_text(picture, middle - half, middle + half, y), text);
}

/* Returns the height. With `measures` it draws nothing. */
static double draw_legend(const struct picture *picture, double top, bool measures)
{
    const struct yk_plan_tradeoff_chart *tradeoff = picture->tradeoff;
    double x = LEFT;
    double y = top;
    for (int32_t c = 0; c < tradeoff->curve_count; c++) {
        const double room = fmin(yk_label_estimate_width_pixels(tradeoff->curves[c].name),
                                 picture->plot.right - LEFT - 30);
        if (x > LEFT && x + room + 30 > picture->plot.right) {
            x = LEFT;
            y += LEGEND_HEIGHT;
        }
        if (!measures) {
            char kind[16];
            snprintf(kind, sizeof kind, "curve s%d", (int)(c % STYLES));
            yk_figure_draw_line(&picture->plot.figure, kind, x, y + 9, x + 20, y + 9);
            add_point(picture, c % STYLES, x + 10, y + 9);
            yk_text_add(picture->plot.figure.out, "/>");
            yk_figure_draw_truncated_text(&picture->plot.figure, "soft", x + 26, y + 13,
                                          tradeoff->curves[c].name, room);
        }
        x += room + 44;
    }
    return tradeoff->curve_count > 0 ? y + LEGEND_HEIGHT - top : 0;
}

static void draw(const struct yk_plan_tradeoff_chart *tradeoff, struct yk_figure frame)
{
    struct picture picture = {
        .plot = {.figure = frame,
                 .left = LEFT,
                 .right = frame.width - RIGHT_MARGIN,
                 .top = 8 + (frame.standalone ? YK_FIGURE_HEADING_HEIGHT : 0)},
        .tradeoff = tradeoff,
    };
    const double room = picture.plot.right - 14;
    picture.plot.bottom = picture.plot.top + PLOT_HEIGHT;
    find_ranges(&picture);
    const double legend = picture.plot.bottom + 44;
    const double text = legend + draw_legend(&picture, legend, true) + 18;
    picture.plot.figure.height =
        text + yk_figure_draw_paragraph(NULL, "soft", 14, text, tradeoff->definition, room) - 4;
    yk_figure_begin(&picture.plot.figure, tradeoff->title);
    draw_axes(&picture);
    draw_levels(&picture);
    for (int32_t c = 0; c < tradeoff->curve_count; c++) {
        draw_curve(&picture, &tradeoff->curves[c], c % STYLES);
    }
    draw_chosen(&picture);
    draw_legend(&picture, legend, false);
    yk_figure_draw_paragraph(&picture.plot.figure, "soft", 14, text, tradeoff->definition, room);
    yk_figure_end(&picture.plot.figure);
}

yk_status yk_plan_tradeoff_write_picture(const struct yk_plan_tradeoff_chart *tradeoff,
                                         struct yk_text *out)
{
    draw(tradeoff, (struct yk_figure){.width = FILE_WIDTH, .standalone = true, .out = out});
    return yk_text_status(out);
}

/* ---- numbers ---- */

static void add_line(struct yk_text *out, const char *mark, const char *name, double x,
                     double step_s)
{
    yk_csv_add_text(out, mark);
    yk_csv_add_text(out, name);
    yk_csv_add_number(out, x);
    yk_csv_add_number(out, step_s);
    yk_csv_end_row(out);
}

static void add_csv(const struct yk_plan_tradeoff_chart *tradeoff, struct yk_text *out)
{
    yk_text_add(out, "mark,name,x,step_s\n");
    for (int32_t c = 0; c < tradeoff->curve_count; c++) {
        const struct yk_plan_chart_curve *curve = &tradeoff->curves[c];
        for (int32_t i = 0; i < curve->count; i++) {
            add_line(out, "curve", curve->name, curve->x[i], curve->step_s[i]);
        }
    }
    if (isfinite(tradeoff->chosen_x)) {
        add_line(out, "chosen", "", tradeoff->chosen_x, tradeoff->chosen_s);
    }
    if (isfinite(tradeoff->joint_s)) {
        add_line(out, "joint optimum", "", NAN, tradeoff->joint_s);
    }
    if (isfinite(tradeoff->bound_s)) {
        add_line(out, "lower bound", "", NAN, tradeoff->bound_s);
    }
}

/* ---- the charts: a result has up to two trade-offs ---- */

static const struct yk_plan_tradeoff_chart *tradeoff_of(const void *subject, int32_t number)
{
    const struct yk_equal_ranks_sets *sets = subject;
    return &sets->result->tradeoffs[number];
}

#define TRADEOFF(number, chart, svg_file, csv_file)                                                \
    static bool chart##_applies(const void *subject)                                               \
    {                                                                                              \
        return ((const struct yk_equal_ranks_sets *)subject)->result->tradeoff_count > (number);   \
    }                                                                                              \
    static const char *chart##_heading(const void *subject)                                        \
    {                                                                                              \
        return tradeoff_of(subject, number)->title;                                                \
    }                                                                                              \
    static yk_status chart##_draw(const void *subject, struct yk_figure frame)                     \
    {                                                                                              \
        draw(tradeoff_of(subject, number), frame);                                                 \
        return YK_OK;                                                                              \
    }                                                                                              \
    static yk_status chart##_csv(const void *subject, struct yk_text *out)                         \
    {                                                                                              \
        add_csv(tradeoff_of(subject, number), out);                                                \
        return YK_OK;                                                                              \
    }                                                                                              \
    const struct yk_chart yk_plan_chart_##chart = {                                                \
        .name = (svg_file),                                                                        \
        .heading = chart##_heading,                                                                \
        .row_class = "pair",                                                                       \
        .applies = chart##_applies,                                                                \
        .draw = chart##_draw,                                                                      \
        .width = YK_CHART_HALF_WIDTH,                                                              \
        .file_width = FILE_WIDTH,                                                                  \
        .csv_name = (csv_file),                                                                    \
        .write_csv = chart##_csv,                                                                  \
    };

TRADEOFF(0, split, "split", "trade-off-1")
TRADEOFF(1, memory_of_devices, "memory-of-devices", "trade-off-2")
