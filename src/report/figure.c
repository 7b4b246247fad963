#include "report/figure.h"

#include "report/label.h"
#include "report/web_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_HEIGHT = 16,
    LEGEND_HEIGHT = 20,
    SQUARE = 12,
    LINE = 20,
};

void yk_figure_begin(const struct yk_figure *figure, const char *title)
{
    struct yk_text *out = figure->out;
    yk_text_addf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" width=\"%.0f\" "
                 "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"",
                 figure->width, figure->height, figure->width, figure->height);
    if (!figure->standalone) {
        yk_text_add(out, " aria-label=\"");
        yk_text_add_xml_escaped(out, title);
        yk_text_add(out, "\">\n");
        return;
    }
    yk_text_add(out, ">\n<title>");
    yk_text_add_xml_escaped(out, title);
    yk_text_add(out, "</title>\n<style>\n");
    yk_text_add(out, yk_web_figure_css);
    yk_text_add(out, yk_web_palette_css);
    yk_text_add(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    yk_figure_draw_truncated_text(figure, "title", 14, 24, title,
                                  YK_FIGURE_BOLD_TEXT_SPACE_FRACTION * (figure->width - 28) / 1.25);
}

void yk_figure_end(const struct yk_figure *figure)
{
    yk_text_add(figure->out, "</svg>\n");
}

void yk_figure_draw_text(const struct yk_figure *figure, const char *kind, double x, double y,
                         const char *text)
{
    yk_figure_draw_truncated_text(figure, kind, x, y, text, HUGE_VAL);
}

void yk_figure_draw_truncated_text(const struct yk_figure *figure, const char *kind, double x,
                                   double y, const char *text, double pixels)
{
    yk_text_addf(figure->out, "<text class=\"%s\" x=\"%.2f\" y=\"%.1f\">", kind, x, y);
    yk_label_add_truncated_xml(figure->out, text, pixels);
    yk_text_add(figure->out, "</text>\n");
}

/* The length in bytes of the longest run of whole words that fits; if no word fits, of characters.
 */
static size_t line_length(const char *text, double pixels)
{
    const size_t columns = (size_t)fmax(1, pixels / yk_label_estimate_width_pixels("x"));
    const size_t max = yk_text_fitting_prefix_length(text, columns);
    if (!text[max]) {
        return max;
    }
    for (size_t length = max; length > 0; length--) {
        if (text[length] == ' ') {
            return length;
        }
    }
    return max > 0 ? max : strlen(text);
}

double yk_figure_draw_paragraph(const struct yk_figure *figure, const char *kind, double x,
                                double y, const char *text, double pixels)
{
    double height = 0;
    while (*text) {
        const size_t length = line_length(text, pixels);
        if (figure) {
            struct yk_text line = {0};
            yk_text_add_bytes(&line, text, length);
            yk_figure_draw_text(figure, kind, x, y + height, yk_text_chars(&line));
            figure->out->failed |= line.failed;
            yk_text_free(&line);
        }
        text += length;
        text += strspn(text, " ");
        height += LINE_HEIGHT;
    }
    return height;
}

void yk_figure_draw_line(const struct yk_figure *figure, const char *kind, double x1, double y1,
                         double x2, double y2)
{
    yk_text_addf(figure->out,
                 "<line class=\"%s\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>\n", kind, x1,
                 y1, x2, y2);
}

void yk_figure_begin_rect_tag(const struct yk_figure *figure, const char *kind, double x, double y,
                              double width, double height)
{
    yk_text_addf(figure->out,
                 "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", kind, x,
                 y, width, height);
}

struct yk_figure_axis yk_figure_axis_make(double max, enum yk_unit unit, int parts)
{
    static const struct {
        double scale;
        const char *name;
    } units[][4] = {
        [YK_UNIT_BYTES] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {1, "B"}},
        [YK_UNIT_SECONDS] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}},
    };
    struct yk_figure_axis axis = {.max = isfinite(max) && max > 0 ? max : 1};
    int u = 0;
    while (u < 3 && axis.max < units[unit][u].scale) {
        u++;
    }
    axis.scale = units[unit][u].scale;
    axis.unit = units[unit][u].name;
    axis.step =
        axis.scale * yk_label_choose_axis_step(axis.max / axis.scale, parts > 1 ? parts : 1);
    return axis;
}

int32_t yk_figure_axis_last_tick(const struct yk_figure_axis *axis)
{
    return (int32_t)floor(axis->max / axis->step + 1e-9);
}

void yk_figure_axis_write_tick_label(const struct yk_figure_axis *axis, int32_t tick,
                                     char out[YK_UNITS_BUFFER_SIZE])
{
    snprintf(out, YK_UNITS_BUFFER_SIZE, "%.20s%s", YK_LABEL_NUMBER(tick * axis->step / axis->scale),
             tick > 0 ? axis->unit : "");
}

void yk_figure_draw_vertical_grid(const struct yk_figure *figure, const struct yk_figure_axis *axis,
                                  double left, double right, double top, double bottom)
{
    for (int32_t tick = 0; tick <= yk_figure_axis_last_tick(axis); tick++) {
        const double x = left + tick * axis->step / axis->max * (right - left);
        char label[YK_UNITS_BUFFER_SIZE];
        yk_figure_axis_write_tick_label(axis, tick, label);
        yk_figure_draw_line(figure, "grid", x, top, x, bottom);
        yk_figure_draw_text(figure, "small soft middle", x, top - 5, label);
    }
}

double yk_figure_draw_legend(const struct yk_figure *figure,
                             const struct yk_figure_legend_entry *entries, int32_t count,
                             double left, double top, double right)
{
    double x = left;
    double y = top;
    for (int32_t i = 0; i < count; i++) {
        const double sample = entries[i].is_line ? LINE : SQUARE;
        const double width = sample + 6 + yk_label_estimate_width_pixels(entries[i].name) + 14;
        if (x > left && x + width > right) {
            x = left;
            y += LEGEND_HEIGHT;
        }
        if (figure && entries[i].is_line) {
            yk_figure_draw_line(figure, entries[i].kind, x, y + 9, x + LINE, y + 9);
        } else if (figure) {
            yk_figure_begin_rect_tag(figure, entries[i].kind, x, y + 3, SQUARE, SQUARE);
            yk_text_add(figure->out, " rx=\"2\"/>");
        }
        if (figure) {
            yk_figure_draw_text(figure, "soft", x + sample + 6, y + 13, entries[i].name);
        }
        x += width;
    }
    return count > 0 ? y + LEGEND_HEIGHT - top : 0;
}
