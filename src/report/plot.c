#include "report/plot.h"

#include "report/label.h"

#include <math.h>
#include <stdio.h>

enum {
    TICK_PIXELS = 70,  /* between ticks of x, at least */
    POINTS_A_PIXEL = 4 /* with more points, some are left out */
};

/* Larger numbers are errors; drawing them would make all other values look equal. */
static const double MAX_VALUE = 1e15;
/* Minimum width of a range, relative to its values: labels of finer ticks would be equal. */
static const double MIN_WIDTH = 1e-9;

bool yk_plot_can_show_value(double value)
{
    return fabs(value) <= MAX_VALUE;
}

struct yk_plot_range yk_plot_range_make_empty(void)
{
    return (struct yk_plot_range){HUGE_VAL, -HUGE_VAL};
}

void yk_plot_range_include_value(struct yk_plot_range *range, double value)
{
    if (yk_plot_can_show_value(value)) {
        range->low = fmin(range->low, value);
        range->high = fmax(range->high, value);
    }
}

void yk_plot_range_pad(struct yk_plot_range *range, double padding)
{
    if (range->low > range->high) {
        *range = (struct yk_plot_range){0, 1};
    }
    const double width = range->high - range->low;
    const double size = fmax(fabs(range->low), fabs(range->high));
    const bool flat = width <= MIN_WIDTH * fmax(size, MIN_WIDTH);
    const double min = flat ? fmax(size * 0.1, MIN_WIDTH) : 0;
    range->low -= width * padding + min;
    range->high += width * padding + min;
}

double yk_plot_x_pixel(const struct yk_plot *plot, double x)
{
    const struct yk_plot_range *range = &plot->x;
    return plot->left + (x - range->low) / (range->high - range->low) * (plot->right - plot->left);
}

double yk_plot_y_pixel(const struct yk_plot *plot, double y)
{
    const struct yk_plot_range *range = &plot->y;
    return plot->bottom -
           (y - range->low) / (range->high - range->low) * (plot->bottom - plot->top);
}

void yk_plot_write_tick_label(double value, char out[YK_NUMBER_BUFFER_SIZE])
{
    static const struct {
        double size;
        const char *suffix;
    } scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (fabs(value) >= scales[i].size) {
            snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.30s%s", YK_LABEL_NUMBER(value / scales[i].size),
                     scales[i].suffix);
            return;
        }
    }
    yk_label_format_number(value, out);
}

void yk_plot_draw_axes(const struct yk_plot *plot, double scale, const char *unit, int parts)
{
    const struct yk_figure *figure = &plot->figure;
    const double y_step =
        yk_label_choose_axis_step((plot->y.high - plot->y.low) / scale, parts) * scale;
    const int columns = (int)fmax(1, (plot->right - plot->left) / TICK_PIXELS);
    const double any_step = yk_label_choose_axis_step(plot->x.high - plot->x.low, columns);
    const double x_step = plot->integer_x ? fmax(1, any_step) : any_step;
    char number[YK_NUMBER_BUFFER_SIZE];
    char label[YK_NUMBER_BUFFER_SIZE + 8];
    for (int64_t k = (int64_t)ceil(plot->y.low / y_step); (double)k * y_step <= plot->y.high; k++) {
        const double y = yk_plot_y_pixel(plot, (double)k * y_step);
        yk_plot_write_tick_label((double)k * y_step / scale, number);
        snprintf(label, sizeof label, "%s%.7s", number, unit);
        yk_figure_draw_line(figure, "grid", plot->left, y, plot->right, y);
        yk_figure_draw_text(figure, "small soft end", plot->left - 8, y + 4, label);
    }
    for (int64_t k = (int64_t)ceil(plot->x.low / x_step); (double)k * x_step <= plot->x.high; k++) {
        const double x = yk_plot_x_pixel(plot, (double)k * x_step);
        yk_plot_write_tick_label((double)k * x_step, number);
        yk_figure_draw_line(figure, "axis", x, plot->bottom, x, plot->bottom + 4);
        yk_figure_draw_text(figure, "small soft middle", x, plot->bottom + 17, number);
    }
    yk_figure_draw_line(figure, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
}

/* Where the points on the column of pixels of point `first` end, and which of them are its lowest
 * and highest; a column ends where something cannot be shown. */
static int32_t column_end(const struct yk_plot *plot, const double *x, const double *y,
                          int32_t count, int32_t first, int32_t *lowest, int32_t *highest)
{
    const double column = floor(yk_plot_x_pixel(plot, x[first]));
    int32_t end = first;
    *lowest = first;
    *highest = first;
    for (; end < count && yk_plot_can_show_value(x[end]) && yk_plot_can_show_value(y[end]) &&
           floor(yk_plot_x_pixel(plot, x[end])) == column;
         end++) {
        *lowest = y[end] < y[*lowest] ? end : *lowest;
        *highest = y[end] > y[*highest] ? end : *highest;
    }
    return end;
}

void yk_plot_draw_curve(const struct yk_plot *plot, const char *kind, const double *x,
                        const double *y, int32_t count)
{
    struct yk_text *out = plot->figure.out;
    bool pen_down = false;
    yk_text_addf(out, "<path class=\"%s\" d=\"", kind);
    for (int32_t i = 0; i < count;) {
        if (!yk_plot_can_show_value(x[i]) || !yk_plot_can_show_value(y[i])) {
            pen_down = false;
            i++;
            continue;
        }
        int32_t lowest = i;
        int32_t highest = i;
        const int32_t end = column_end(plot, x, y, count, i, &lowest, &highest);
        const bool thin = end - i > POINTS_A_PIXEL;
        for (int32_t p = i; p < end; p++) {
            if (!thin || p == i || p == lowest || p == highest || p == end - 1) {
                yk_text_addf(out, "%s%.2f %.2f", pen_down ? "L" : "M", yk_plot_x_pixel(plot, x[p]),
                             yk_plot_y_pixel(plot, y[p]));
                pen_down = true;
            }
        }
        i = end;
    }
    yk_text_add(out, "\"/>\n");
}
