#include "report/csv.h"
#include "report/label.h"
#include "report/run/charts.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 14,
    NAME_HEIGHT = 20,
    BAR_HEIGHT = 28,
    MARK_HEIGHT = 18, /* above and below a bar, for its marks */
    DEVICE_HEIGHT = NAME_HEIGHT + MARK_HEIGHT + BAR_HEIGHT + MARK_HEIGHT + 6,
    AXIS_HEIGHT = 22,
};

/* A limit of more than this many times the largest bar is a text, without a line. */
static const double MAX_LIMIT = 2;

struct picture {
    struct yk_figure figure;
    double right;
    double max_bytes;
};

/* Predicted peak memory of a device, all kinds together. */
static double predicted_of(const struct yk_run_report_memory *memory)
{
    double total = 0;
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        total += memory->predicted_by_kind[k];
    }
    return total;
}

static double x_of(const struct picture *picture, double bytes)
{
    return MARGIN + bytes / picture->max_bytes * (picture->right - MARGIN);
}

/* Draws a line at `bytes` and its label, centred on the line if that stays inside the picture. */
static void add_mark(const struct picture *picture, const char *kind, const char *name,
                     double bytes, double top, double bottom, double base)
{
    const double x = x_of(picture, bytes);
    char text[YK_UNITS_BUFFER_SIZE + 24];
    snprintf(text, sizeof text, "%s %s", name, YK_LABEL_WITH_UNIT(bytes, YK_UNIT_BYTES));
    const double half = yk_label_estimate_width_pixels(text) / 2;
    yk_figure_draw_line(&picture->figure, kind, x, top, x, bottom);
    yk_figure_draw_text(&picture->figure, "small halo middle",
                        fmax(MARGIN + half, fmin(x, picture->right - half)), base, text);
}

static void draw_stack(const struct picture *picture, const struct yk_run_report_memory *memory,
                       double y)
{
    struct yk_text *out = picture->figure.out;
    double before = 0;
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        const double bytes = memory->predicted_by_kind[k];
        const char *name = yk_memory_kind_name((enum yk_memory_kind)k);
        const double x = x_of(picture, before);
        const double pixels = x_of(picture, before + bytes) - x;
        const char *text = YK_LABEL_WITH_UNIT(bytes, YK_UNIT_BYTES);
        char kind[32];
        if (!(bytes > 0)) {
            continue;
        }
        snprintf(kind, sizeof kind, "memory-%s", name);
        yk_figure_begin_rect_tag(&picture->figure, kind, x, y, fmax(pixels - 1, 0.75), BAR_HEIGHT);
        yk_text_addf(out, " rx=\"2\"><title>%s: %s predicted</title></rect>\n", name, text);
        if (yk_label_estimate_width_pixels(text) + 6 <= pixels) {
            yk_figure_draw_text(&picture->figure, "small ink middle", x + pixels / 2,
                                y + BAR_HEIGHT / 2.0 + 4, text);
        }
        before += bytes;
    }
}

static void draw_device(const struct picture *picture, const struct yk_run_report_memory *memory,
                        double y)
{
    const double top = y + NAME_HEIGHT + MARK_HEIGHT;
    const double bottom = top + BAR_HEIGHT;
    char text[YK_UNITS_BUFFER_SIZE + 16];
    yk_figure_draw_truncated_text(&picture->figure, "strong", MARGIN, y + 14, memory->device,
                                  YK_FIGURE_BOLD_TEXT_SPACE_FRACTION * (picture->right - MARGIN) *
                                      0.6);
    yk_figure_begin_rect_tag(&picture->figure, "track", MARGIN, top, picture->right - MARGIN,
                             BAR_HEIGHT);
    yk_text_add(picture->figure.out, "/>\n");
    draw_stack(picture, memory, top);
    if (isfinite(memory->limit_bytes) && memory->limit_bytes <= picture->max_bytes) {
        add_mark(picture, "limit", "limit", memory->limit_bytes, top - 4, bottom + 4, bottom + 16);
    } else if (isfinite(memory->limit_bytes)) {
        snprintf(text, sizeof text, "limit %s",
                 YK_LABEL_WITH_UNIT(memory->limit_bytes, YK_UNIT_BYTES));
        yk_figure_draw_text(&picture->figure, "small soft end", picture->right, y + 14, text);
    }
    if (isfinite(memory->measured_bytes)) {
        add_mark(picture, "step", "measured", memory->measured_bytes, top - 5, bottom + 5, top - 8);
    }
}

static double max_of(const struct yk_run_report *report)
{
    double max = 0;
    double limit = 0;
    for (int32_t i = 0; i < report->memory_count; i++) {
        const struct yk_run_report_memory *memory = &report->memory[i];
        max = fmax(max, predicted_of(memory));
        max = isfinite(memory->measured_bytes) ? fmax(max, memory->measured_bytes) : max;
    }
    for (int32_t i = 0; i < report->memory_count; i++) {
        const double bytes = report->memory[i].limit_bytes;
        limit = isfinite(bytes) && bytes <= MAX_LIMIT * max ? fmax(limit, bytes) : limit;
    }
    max = 1.04 * fmax(max, limit);
    return max > 0 ? max : 1;
}

static int32_t list_kinds(const struct yk_run_report *report,
                          struct yk_figure_legend_entry *entries)
{
    int32_t count = 0;
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        bool used = false;
        for (int32_t i = 0; i < report->memory_count; i++) {
            used |= report->memory[i].predicted_by_kind[k] > 0;
        }
        if (used) {
            const char *name = yk_memory_kind_name((enum yk_memory_kind)k);
            snprintf(entries[count].kind, sizeof entries->kind, "memory-%s", name);
            snprintf(entries[count++].name, sizeof entries->name, "%s", name);
        }
    }
    return count;
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    struct picture picture = {
        .figure = frame,
        .right = frame.width - MARGIN,
        .max_bytes = max_of(report),
    };
    struct yk_figure_legend_entry entries[YK_MEMORY_KIND_COUNT] = {0};
    const int32_t kinds = list_kinds(report, entries);
    const double top = AXIS_HEIGHT + (frame.standalone ? YK_FIGURE_HEADING_HEIGHT : 0);
    const double bottom = top + DEVICE_HEIGHT * report->memory_count;
    const int parts = (int)fmax(1, (picture.right - MARGIN) / 90);
    const struct yk_figure_axis axis = yk_figure_axis_make(picture.max_bytes, YK_UNIT_BYTES, parts);
    picture.figure.height =
        bottom + yk_figure_draw_legend(NULL, entries, kinds, MARGIN, 0, picture.right) + 8;
    yk_figure_begin(&picture.figure, "Memory, as predicted and as measured");
    yk_figure_draw_vertical_grid(&picture.figure, &axis, MARGIN, picture.right, top, bottom);
    for (int32_t i = 0; i < report->memory_count; i++) {
        draw_device(&picture, &report->memory[i], top + DEVICE_HEIGHT * i);
    }
    yk_figure_draw_legend(&picture.figure, entries, kinds, MARGIN, bottom + 2, picture.right);
    yk_figure_end(&picture.figure);
    return YK_OK;
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    yk_text_add(out, "device,limit_bytes,measured_bytes");
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        yk_text_addf(out, ",%s_bytes", yk_memory_kind_name((enum yk_memory_kind)k));
    }
    yk_text_add(out, "\n");
    for (int32_t i = 0; i < report->memory_count; i++) {
        const struct yk_run_report_memory *memory = &report->memory[i];
        yk_csv_add_text(out, memory->device);
        yk_csv_add_bytes(out, memory->limit_bytes);
        yk_csv_add_bytes(out, memory->measured_bytes);
        for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
            yk_csv_add_bytes(out, memory->predicted_by_kind[k]);
        }
        yk_csv_end_row(out);
    }
    return YK_OK;
}

static bool applies(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->report->memory_count > 0;
}

const struct yk_chart yk_run_chart_memory = {
    .name = "memory",
    .title = "Memory",
    .row_class = "pair",
    .applies = applies,
    .draw = draw,
    .width = YK_CHART_HALF_WIDTH,
    .file_width = 760,
    .css_class = "scrolled",
    .note = "The bar is the most that any way of running the plan can hold, by kind; what was "
            "measured is the whole process at its fullest, of a GPU all that was in use there.",
    .csv_name = "memory",
    .write_csv = write_csv,
};
