#include "report/run_counters.h"

#include "report/label.h"

#include <math.h>
#include <stdio.h>

enum {
    LEFT = 70, /* as lanes, whose times these are */
    RIGHT_MARGIN = 20,
    AXIS_HEIGHT = 22,
    NAME_HEIGHT = 20,
    TALL = 84,
    SMALL = 38,
    GAP = 6,
    RANK_GAP = 8,
    LEGEND_HEIGHT = 22,
};

static const struct yk_run_counters_plot plots[] = {
    {"active", 3, {YK_COUNTER_SM, YK_COUNTER_TENSOR, YK_COUNTER_DRAM}},
    {"clock", 1, {YK_COUNTER_CLOCK}},
    {"power", 1, {YK_COUNTER_POWER}},
    {"PCIe", 2, {YK_COUNTER_PCIE_IN, YK_COUNTER_PCIE_OUT}},
    {"NVLink", 2, {YK_COUNTER_NVLINK_IN, YK_COUNTER_NVLINK_OUT}},
    {"cores", 1, {YK_COUNTER_CORES}},
    {"cycles", 1, {YK_COUNTER_CYCLES}},
    {"instr.", 1, {YK_COUNTER_INSTRUCTIONS}},
    {"misses", 1, {YK_COUNTER_MISSES_BYTES}},
};

enum {
    PLOT_COUNT = sizeof plots / sizeof *plots
};

struct picture {
    struct yk_figure figure;
    double right;
    double span_s;
    double shift_s; /* of readings */
    bool whole_run;
};

static bool has_any(const struct yk_counter_series *line, const struct yk_run_counters_plot *plot)
{
    for (int32_t i = 0; i < line->count; i++) {
        for (int32_t c = 0; c < plot->count; c++) {
            if (isfinite(line->readings[i].values[plot->counters[c]])) {
                return true;
            }
        }
    }
    return false;
}

const struct yk_run_counters_plot *yk_run_counters_plot_at(const struct yk_counter_series *line,
                                                           int32_t number)
{
    for (int32_t p = 0; p < PLOT_COUNT; p++) {
        if (has_any(line, &plots[p]) && number-- == 0) {
            return &plots[p];
        }
    }
    return NULL;
}

double yk_run_counters_most(const struct yk_counter_series *line,
                            const struct yk_run_counters_plot *plot)
{
    double most = 0;
    if (yk_counter_unit(plot->counters[0]) == YK_COUNTER_PART) {
        return 1;
    }
    for (int32_t i = 0; i < line->count; i++) {
        for (int32_t c = 0; c < plot->count; c++) {
            /* Of a number and what is none, fmax takes the number. */
            most = fmax(most, line->readings[i].values[plot->counters[c]]);
        }
    }
    return most > 0 ? most : 1;
}

bool yk_run_counters_shows(const struct yk_run_lanes *lanes, int32_t rank)
{
    for (int32_t f = 0; f < lanes->folds.count; f++) {
        if (lanes->folds.folds[f].rank == rank) {
            return true;
        }
    }
    return lanes->folds.count == 0 && rank < YK_RUN_LANES_APART;
}

bool yk_run_counters_has_lines(const struct yk_run_report *report, const struct yk_run_lanes *lanes)
{
    const struct yk_counter_ranks *ranks = report->counters;
    for (int32_t r = 0; ranks && lanes->folds.count > 0 && r < ranks->count; r++) {
        if (yk_run_counters_shows(lanes, r) && yk_run_counters_plot_at(&ranks->all[r].step, 0)) {
            return true;
        }
    }
    return false;
}

static double height_of(const struct yk_run_counters_plot *plot)
{
    return plot->count == YK_RUN_COUNTERS_LINES ? TALL : SMALL;
}

static const struct yk_counter_series *line_of(const struct picture *picture,
                                               const struct yk_counter_rank *rank)
{
    return picture->whole_run ? &rank->run : &rank->step;
}

static double x_of(const struct picture *picture, double at_s)
{
    const double within_s = fmax(0, fmin(at_s + picture->shift_s, picture->span_s));
    return LEFT + within_s / picture->span_s * (picture->right - LEFT);
}

/* A reading is level from its beginning to its end. */
static void draw_line(const struct picture *picture, const struct yk_counter_series *line,
                      const struct yk_run_counters_plot *plot, int32_t number, double most,
                      double top)
{
    struct yk_text *out = picture->figure.out;
    const double height = height_of(plot);
    bool drawn = false;
    yk_text_addf(out, "<path class=\"curve fine s%d\" d=\"", (int)number);
    for (int32_t i = 0; i < line->count; i++) {
        const struct yk_counter_reading *reading = &line->readings[i];
        const double value = reading->values[plot->counters[number]];
        const double left = x_of(picture, reading->begin_s);
        const double right = x_of(picture, reading->end_s);
        if (!isfinite(value) || right <= left) {
            drawn = drawn && isfinite(value);
            continue;
        }
        const double y = top + height - 1 - fmin(value / most, 1) * (height - 4);
        yk_text_addf(out, drawn ? "V%.1f" : "M%.1f,", drawn ? y : left);
        yk_text_addf(out, drawn ? "H%.1f" : "%.1fH", drawn ? right : y);
        if (!drawn) {
            yk_text_addf(out, "%.1f", right);
        }
        drawn = true;
    }
    yk_text_addf(out, "\"><title>%s</title></path>\n", yk_counter_name(plot->counters[number]));
}

static void draw_plot(const struct picture *picture, const struct yk_counter_series *line,
                      const struct yk_run_counters_plot *plot, double top)
{
    const double most = yk_run_counters_most(line, plot);
    char words[YK_COUNTER_TEXT_SIZE];
    yk_counter_format(plot->counters[0], most, words);
    for (int32_t c = 0; c < plot->count; c++) {
        draw_line(picture, line, plot, c, most, top);
    }
    yk_figure_text(&picture->figure, "small end", LEFT - 8, top + height_of(plot) / 2 - 3,
                   plot->title);
    yk_figure_text(&picture->figure, "small soft end", LEFT - 8, top + height_of(plot) / 2 + 11,
                   words);
}

/* Returns the height that a rank takes; draws nothing where `pass` is none. */
static double
walk_rank(const struct picture *picture, const struct yk_counter_rank *rank, double top,
          void (*pass)(const struct picture *picture, const struct yk_counter_series *line,
                       const struct yk_run_counters_plot *plot, double top))
{
    const struct yk_counter_series *line = line_of(picture, rank);
    double height = NAME_HEIGHT;
    for (int32_t p = 0; yk_run_counters_plot_at(line, p); p++) {
        const struct yk_run_counters_plot *plot = yk_run_counters_plot_at(line, p);
        if (pass) {
            pass(picture, line, plot, top + height);
        }
        height += height_of(plot) + GAP;
    }
    return height > NAME_HEIGHT ? height + RANK_GAP : 0;
}

static void draw_track(const struct picture *picture, const struct yk_counter_series *line,
                       const struct yk_run_counters_plot *plot, double top)
{
    (void)line;
    yk_figure_begin_rect(&picture->figure, "track", LEFT, top, picture->right - LEFT,
                         height_of(plot));
    yk_text_add(picture->figure.out, "/>\n");
}

/* All ranks that are shown, from `top` on; returns where they end. */
static double walk(const struct picture *picture, const struct yk_run_report *report,
                   const struct yk_run_lanes *lanes, double top,
                   void (*pass)(const struct picture *picture, const struct yk_counter_series *line,
                                const struct yk_run_counters_plot *plot, double top))
{
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (yk_run_counters_shows(lanes, r)) {
            const struct yk_counter_rank *rank = &report->counters->all[r];
            const double height = walk_rank(picture, rank, top, pass);
            if (pass == draw_plot && height > 0) {
                yk_figure_cut_text(&picture->figure, "strong", 14, top + 14, rank->device,
                                   YK_FIGURE_STRONG * (picture->right - 28));
            }
            top += height;
        }
    }
    return top;
}

static void draw_legend(const struct picture *picture, double y)
{
    double x = LEFT;
    for (int32_t c = 0; c < plots[0].count; c++) {
        const char *name = yk_counter_name(plots[0].counters[c]);
        char kind[24];
        snprintf(kind, sizeof kind, "curve s%d", (int)c);
        yk_figure_line(&picture->figure, kind, x, y + 9, x + 20, y + 9);
        yk_figure_text(&picture->figure, "soft", x + 26, y + 13, name);
        x += 26 + yk_label_pixels(name) + 14;
    }
}

static double end_of_run(const struct yk_run_report *report)
{
    double end_s = 0;
    for (int32_t r = 0; r < report->counters->count; r++) {
        const struct yk_counter_series *line = &report->counters->all[r].run;
        end_s = line->count > 0 ? fmax(end_s, line->readings[line->count - 1].end_s) : end_s;
    }
    return end_s > 0 ? end_s : 1;
}

static bool has_parts(const struct picture *picture, const struct yk_run_report *report)
{
    for (int32_t r = 0; r < report->counters->count; r++) {
        if (has_any(line_of(picture, &report->counters->all[r]), &plots[0])) {
            return true;
        }
    }
    return false;
}

void yk_run_draw_counters(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                          bool whole_run, struct yk_figure frame)
{
    struct picture picture = {
        .figure = frame,
        .right = frame.width - RIGHT_MARGIN,
        .span_s = whole_run ? end_of_run(report) : fmax(lanes->folds.span_s, 1e-9),
        .shift_s = whole_run ? 0 : lanes->shift_s,
        .whole_run = whole_run,
    };
    const double top = AXIS_HEIGHT + (frame.alone ? YK_FIGURE_HEADING : 0);
    const double bottom = walk(&picture, report, lanes, top, NULL);
    const bool legend = has_parts(&picture, report);
    picture.figure.height = bottom + (legend ? LEGEND_HEIGHT : 4);
    yk_figure_begin(&picture.figure,
                    whole_run ? "Counters over the whole run" : "Counters in the measured step");
    const int pieces = (int)fmax(1, (picture.right - LEFT) / 90);
    const struct yk_axis axis = yk_axis_make(picture.span_s, YK_UNIT_SECONDS, pieces);
    (void)walk(&picture, report, lanes, top, draw_track);
    yk_figure_time_grid(&picture.figure, &axis, LEFT, picture.right, top, bottom);
    (void)walk(&picture, report, lanes, top, draw_plot);
    if (legend) {
        draw_legend(&picture, bottom - 2);
    }
    yk_figure_end(&picture.figure);
}
