#include "report/plan_figure.h"

#include "report/label.h"
#include "report/plan_look.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_HEIGHT = 16,
    LEGEND_HEIGHT = 20,
    SWATCH = 12,
};

const char yk_figure_style[] =
    ".figure text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;"
    "font-variant-numeric:tabular-nums;fill:#1d2230}\n"
    ".figure .paper{fill:#fff}\n"
    ".figure .title{font-size:15px;font-weight:600}\n"
    ".figure .strong{font-weight:600}\n"
    ".figure .small{font-size:11px}\n"
    ".figure .soft{fill:#5d6678}\n"
    ".figure .ink{fill:#171b24}\n"
    ".figure .halo{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}\n"
    ".figure .middle{text-anchor:middle}\n"
    ".figure .end{text-anchor:end}\n"
    ".figure .grid{stroke:#e7e9ef}\n"
    ".figure .axis{stroke:#9aa3b2}\n"
    ".figure .track{fill:#f1f3f7}\n"
    ".figure .box{fill:#f6f7fa;stroke:#d5d9e2}\n"
    ".figure .chip{fill:#fff;stroke:#b9c0cd}\n"
    ".figure .unused{stroke-dasharray:4 3}\n"
    ".figure .wire{stroke:#8791a3;stroke-width:2}\n"
    ".figure .limit{stroke:#b5452c;stroke-width:1.5;stroke-dasharray:6 4}\n"
    ".figure .low{stroke:#5d6678;stroke-width:1.5;stroke-dasharray:2 4}\n"
    ".figure .step{stroke:#1d2230;stroke-width:1.5}\n"
    ".figure .warn{fill:#b5452c}\n"
    ".figure .curve{fill:none;stroke-width:2;stroke-linejoin:round}\n"
    ".figure .fine{stroke-width:1.25}\n"
    ".figure .thin{stroke-width:1;opacity:.4}\n"
    ".figure .catch{fill:none;pointer-events:all}\n"
    ".figure .s0{stroke:#2f6db5}.figure .s1{stroke:#b5452c}.figure .s2{stroke:#2b7d63}"
    ".figure .s3{stroke:#7a5ea8}.figure .s4{stroke:#8a6d1a}.figure .s5{stroke:#5d6678}\n"
    ".figure .dot{fill:#fff;stroke-width:1.75}\n"
    ".figure .chosen{fill:none;stroke:#1d2230;stroke-width:2.5}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".figure text{fill:#e5e8ee}\n"
    ".figure .paper{fill:#14161b}\n"
    ".figure .soft{fill:#98a1b3}\n"
    ".figure .ink{fill:#101319}\n"
    ".figure .halo{stroke:#16191f}\n"
    ".figure .grid{stroke:#2b303a}\n"
    ".figure .axis{stroke:#5a6373}\n"
    ".figure .track{fill:#1d2129}\n"
    ".figure .box{fill:#1a1e25;stroke:#353c48}\n"
    ".figure .chip{fill:#222731;stroke:#4a5364}\n"
    ".figure .wire{stroke:#7c869a}\n"
    ".figure .limit{stroke:#f0917a}\n"
    ".figure .low{stroke:#98a1b3}\n"
    ".figure .step{stroke:#e5e8ee}\n"
    ".figure .warn{fill:#f0917a}\n"
    ".figure .s0{stroke:#7db2ee}.figure .s1{stroke:#f0917a}.figure .s2{stroke:#63c3a4}"
    ".figure .s3{stroke:#b9a2e0}.figure .s4{stroke:#d4b158}.figure .s5{stroke:#98a1b3}\n"
    ".figure .dot{fill:#16191f}\n"
    ".figure .chosen{stroke:#e5e8ee}\n"
    "}\n";

void yk_figure_begin(const struct yk_figure *figure, const char *title)
{
    struct yk_text *out = figure->out;
    yk_text_addf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" width=\"%.0f\" "
                 "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"",
                 figure->width, figure->height, figure->width, figure->height);
    if (!figure->alone) {
        yk_text_add(out, " aria-label=\"");
        yk_text_add_xml(out, title);
        yk_text_add(out, "\">\n");
        return;
    }
    yk_text_add(out, ">\n<title>");
    yk_text_add_xml(out, title);
    yk_text_add(out, "</title>\n<style>\n");
    yk_text_add(out, yk_figure_style);
    yk_text_add(out, yk_look_style);
    yk_text_add(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    yk_figure_cut_text(figure, "title", 14, 24, title,
                       YK_FIGURE_STRONG * (figure->width - 28) / 1.25);
}

void yk_figure_end(const struct yk_figure *figure)
{
    yk_text_add(figure->out, "</svg>\n");
}

void yk_figure_text(const struct yk_figure *figure, const char *kind, double x, double y,
                    const char *words)
{
    yk_figure_cut_text(figure, kind, x, y, words, HUGE_VAL);
}

void yk_figure_cut_text(const struct yk_figure *figure, const char *kind, double x, double y,
                        const char *words, double pixels)
{
    yk_text_addf(figure->out, "<text class=\"%s\" x=\"%.2f\" y=\"%.1f\">", kind, x, y);
    yk_label_add_cut(figure->out, words, pixels);
    yk_text_add(figure->out, "</text>\n");
}

/* The length in bytes of as many whole words of `words` as fit, at least one character. */
static size_t line_length(const char *words, double pixels)
{
    const size_t columns = (size_t)fmax(1, pixels / yk_label_pixels("x"));
    const size_t most = yk_text_prefix(words, columns);
    if (!words[most]) {
        return most;
    }
    for (size_t length = most; length > 0; length--) {
        if (words[length] == ' ') {
            return length;
        }
    }
    return most > 0 ? most : strlen(words);
}

double yk_figure_paragraph(const struct yk_figure *figure, const char *kind, double x, double y,
                           const char *words, double pixels)
{
    double height = 0;
    while (*words) {
        const size_t length = line_length(words, pixels);
        if (figure) {
            struct yk_text line = {0};
            yk_text_add_bytes(&line, words, length);
            yk_figure_text(figure, kind, x, y + height, yk_text_chars(&line));
            figure->out->failed |= line.failed;
            yk_text_free(&line);
        }
        words += length;
        words += strspn(words, " ");
        height += LINE_HEIGHT;
    }
    return height;
}

void yk_figure_line(const struct yk_figure *figure, const char *kind, double x1, double y1,
                    double x2, double y2)
{
    yk_text_addf(figure->out,
                 "<line class=\"%s\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>\n", kind, x1,
                 y1, x2, y2);
}

void yk_figure_begin_rect(const struct yk_figure *figure, const char *kind, double x, double y,
                          double width, double height)
{
    yk_text_addf(figure->out,
                 "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", kind, x,
                 y, width, height);
}

struct yk_axis yk_axis_make(double most, enum yk_unit unit, int pieces)
{
    static const struct {
        double scale;
        const char *name;
    } units[][4] = {
        [YK_UNIT_BYTES] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {1, "B"}},
        [YK_UNIT_SECONDS] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}},
    };
    struct yk_axis axis = {.most = isfinite(most) && most > 0 ? most : 1};
    int u = 0;
    while (u < 3 && axis.most < units[unit][u].scale) {
        u++;
    }
    axis.scale = units[unit][u].scale;
    axis.unit = units[unit][u].name;
    axis.step = axis.scale * yk_label_step(axis.most / axis.scale, pieces > 1 ? pieces : 1);
    return axis;
}

int32_t yk_axis_last(const struct yk_axis *axis)
{
    return (int32_t)floor(axis->most / axis->step + 1e-9);
}

void yk_axis_label(const struct yk_axis *axis, int32_t tick, char out[YK_UNITS_SIZE])
{
    char number[YK_NUMBER_SIZE];
    yk_label_number(tick * axis->step / axis->scale, number);
    snprintf(out, YK_UNITS_SIZE, "%.20s%s", number, tick > 0 ? axis->unit : "");
}

void yk_figure_time_grid(const struct yk_figure *figure, const struct yk_axis *axis, double left,
                         double right, double top, double bottom)
{
    for (int32_t tick = 0; tick <= yk_axis_last(axis); tick++) {
        const double x = left + tick * axis->step / axis->most * (right - left);
        char label[YK_UNITS_SIZE];
        yk_axis_label(axis, tick, label);
        yk_figure_line(figure, "grid", x, top, x, bottom);
        yk_figure_text(figure, "small soft middle", x, top - 5, label);
    }
}

double yk_figure_legend(const struct yk_figure *figure, const struct yk_legend_entry *entries,
                        int32_t count, double left, double top, double right)
{
    double x = left;
    double y = top;
    for (int32_t i = 0; i < count; i++) {
        const double width = SWATCH + 6 + yk_label_pixels(entries[i].name) + 14;
        if (x > left && x + width > right) {
            x = left;
            y += LEGEND_HEIGHT;
        }
        if (figure) {
            yk_figure_begin_rect(figure, entries[i].kind, x, y + 3, SWATCH, SWATCH);
            yk_text_add(figure->out, " rx=\"2\"/>");
            yk_figure_text(figure, "soft", x + SWATCH + 6, y + 13, entries[i].name);
        }
        x += width;
    }
    return count > 0 ? y + LEGEND_HEIGHT - top : 0;
}
