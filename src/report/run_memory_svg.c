#include "report/run_draw.h"

#include "report/label.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 14,
    NAME_HEIGHT = 20,
    BAR_HEIGHT = 28,
    WORDS_HEIGHT = 18, /* above and below a bar, for its marks */
    AXIS_HEIGHT = 22,
};

/* A limit further out would make all bars short: then it is told, not drawn. */
static const double MOST_LIMIT = 2;

struct picture {
    struct yk_figure figure;
    double right;
    double most_bytes;
};

double yk_run_memory_predicted(const struct yk_run_report_memory *memory)
{
    double total = 0;
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        total += memory->predicted_by_kind[k];
    }
    return total;
}

static double x_of(const struct picture *picture, double bytes)
{
    return MARGIN + bytes / picture->most_bytes * (picture->right - MARGIN);
}

/* Words about the place `x`, beside or under it and inside the picture. */
static void add_mark(const struct picture *picture, const char *kind, const char *name,
                     double bytes, double top, double bottom, double base)
{
    const double x = x_of(picture, bytes);
    char number[YK_UNITS_SIZE];
    char words[YK_UNITS_SIZE + 24];
    yk_label_unit(bytes, YK_UNIT_BYTES, number);
    snprintf(words, sizeof words, "%s %s", name, number);
    const double half = yk_label_pixels(words) / 2;
    yk_figure_line(&picture->figure, kind, x, top, x, bottom);
    yk_figure_text(&picture->figure, "small halo middle",
                   fmax(MARGIN + half, fmin(x, picture->right - half)), base, words);
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
        char kind[32];
        char words[YK_UNITS_SIZE];
        if (!(bytes > 0)) {
            continue;
        }
        snprintf(kind, sizeof kind, "memory-%s", name);
        yk_label_unit(bytes, YK_UNIT_BYTES, words);
        yk_figure_begin_rect(&picture->figure, kind, x, y, fmax(pixels - 1, 0.75), BAR_HEIGHT);
        yk_text_addf(out, " rx=\"2\"><title>%s: %s predicted</title></rect>\n", name, words);
        if (yk_label_pixels(words) + 6 <= pixels) {
            yk_figure_text(&picture->figure, "small ink middle", x + pixels / 2,
                           y + BAR_HEIGHT / 2.0 + 4, words);
        }
        before += bytes;
    }
}

/* Returns the height it takes. */
static double draw_device(const struct picture *picture, const struct yk_run_report_memory *memory,
                          double y)
{
    const double top = y + NAME_HEIGHT + WORDS_HEIGHT;
    const double bottom = top + BAR_HEIGHT;
    char limit[YK_UNITS_SIZE];
    char words[YK_UNITS_SIZE + 16];
    yk_figure_cut_text(&picture->figure, "strong", MARGIN, y + 14, memory->device,
                       YK_FIGURE_STRONG * (picture->right - MARGIN) * 0.6);
    yk_figure_begin_rect(&picture->figure, "track", MARGIN, top, picture->right - MARGIN,
                         BAR_HEIGHT);
    yk_text_add(picture->figure.out, "/>\n");
    draw_stack(picture, memory, top);
    if (isfinite(memory->limit_bytes) && memory->limit_bytes <= picture->most_bytes) {
        add_mark(picture, "limit", "limit", memory->limit_bytes, top - 4, bottom + 4, bottom + 16);
    } else if (isfinite(memory->limit_bytes)) {
        yk_label_unit(memory->limit_bytes, YK_UNIT_BYTES, limit);
        snprintf(words, sizeof words, "limit %s", limit);
        yk_figure_text(&picture->figure, "small soft end", picture->right, y + 14, words);
    }
    if (isfinite(memory->measured_bytes)) {
        add_mark(picture, "step", "measured", memory->measured_bytes, top - 5, bottom + 5, top - 8);
    }
    return NAME_HEIGHT + WORDS_HEIGHT + BAR_HEIGHT + WORDS_HEIGHT + 6;
}

static double most_of(const struct yk_run_report *report)
{
    double most = 0;
    double limit = 0;
    for (int32_t i = 0; i < report->memory_count; i++) {
        const struct yk_run_report_memory *memory = &report->memory[i];
        most = fmax(most, yk_run_memory_predicted(memory));
        most = isfinite(memory->measured_bytes) ? fmax(most, memory->measured_bytes) : most;
    }
    for (int32_t i = 0; i < report->memory_count; i++) {
        const double bytes = report->memory[i].limit_bytes;
        limit = isfinite(bytes) && bytes <= MOST_LIMIT * most ? fmax(limit, bytes) : limit;
    }
    most = 1.04 * fmax(most, limit);
    return most > 0 ? most : 1;
}

static int32_t list_kinds(const struct yk_run_report *report, char classes[][32],
                          struct yk_legend_entry *entries)
{
    int32_t count = 0;
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        bool held = false;
        for (int32_t i = 0; i < report->memory_count; i++) {
            held |= report->memory[i].predicted_by_kind[k] > 0;
        }
        if (held) {
            const char *name = yk_memory_kind_name((enum yk_memory_kind)k);
            snprintf(classes[count], 32, "memory-%s", name);
            entries[count] = (struct yk_legend_entry){classes[count], name};
            count++;
        }
    }
    return count;
}

void yk_run_draw_memory(const struct yk_run_report *report, struct yk_figure frame)
{
    struct picture picture = {
        .figure = frame,
        .right = frame.width - MARGIN,
        .most_bytes = most_of(report),
    };
    struct yk_legend_entry entries[YK_MEMORY_KIND_COUNT];
    char classes[YK_MEMORY_KIND_COUNT][32];
    const int32_t kinds = list_kinds(report, classes, entries);
    const double device = NAME_HEIGHT + WORDS_HEIGHT + BAR_HEIGHT + WORDS_HEIGHT + 6;
    const double top = AXIS_HEIGHT + (frame.alone ? YK_FIGURE_HEADING : 0);
    const double bottom = top + device * report->memory_count;
    const int pieces = (int)fmax(1, (picture.right - MARGIN) / 90);
    const struct yk_axis axis = yk_axis_make(picture.most_bytes, YK_UNIT_BYTES, pieces);
    double y = top;
    picture.figure.height =
        bottom + yk_figure_legend(NULL, entries, kinds, MARGIN, 0, picture.right) + 8;
    yk_figure_begin(&picture.figure, "Memory, as predicted and as measured");
    yk_figure_time_grid(&picture.figure, &axis, MARGIN, picture.right, top, bottom);
    for (int32_t i = 0; i < report->memory_count; i++) {
        y += draw_device(&picture, &report->memory[i], y);
    }
    yk_figure_legend(&picture.figure, entries, kinds, MARGIN, bottom + 2, picture.right);
    yk_figure_end(&picture.figure);
}
