#include "report/csv.h"
#include "report/label.h"
#include "report/page.h"
#include "report/run/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TOP = 26, /* texts of rebalancings go above */
    HEIGHT = 220,
    COLOURS = 5, /* those ranks have; a sixth is for all others */
    MAX_SHARES = 8,
    MAX_NUMBERS = 400000, /* written into a page */
    PARTS = 8,            /* of the run, in each of which a rank may be slow */
};

/* A rank's curve, and how slow it was at its slowest, by what it should be. */
struct curve {
    int32_t rank;
    double slowness;
};

struct picture {
    const struct yk_run_report *report;
    const struct yk_run_curves *curves;
    const struct yk_run_ranks *ranks;
    struct yk_plot plot;
    struct curve *drawn; /* (count) those in colour first */
    int32_t count;
    int32_t coloured;
    double *seconds; /* (steps) of one rank */
};

/* The most ranks that any step has. */
static int32_t max_ranks(const struct yk_run_report *report)
{
    int32_t max = 0;
    for (int32_t i = 0; i < report->step_count; i++) {
        const int32_t count = report->steps[i].rank_count;
        max = count > max ? count : max;
    }
    return max;
}

static bool applies(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return max_ranks(page->report) > 0;
}

static double seconds_of(const struct yk_run_report_step *step, int32_t rank)
{
    return rank < step->rank_count ? step->ranks_s[rank] : NAN;
}

/* What a rank was to compute from the `number`th change of shares on; of the first, number −1. */
static double predicted_of(const struct picture *picture, int32_t rank, int32_t number)
{
    if (number >= 0) {
        const struct yk_run_report_rebalancing *change = &picture->report->rebalancings[number];
        return rank < change->predicted_count ? change->predicted_s[rank] : NAN;
    }
    const struct yk_run_report *report = picture->report;
    if (report->first_ranks) {
        return rank < report->first_rank_count ? report->first_ranks[rank].predicted.compute_s
                                               : NAN;
    }
    return rank < picture->ranks->count ? picture->ranks->ranks[rank].predicted.compute_s : NAN;
}

static int compare_curves(const void *left, const void *right)
{
    const struct curve *a = left;
    const struct curve *b = right;
    return a->slowness != b->slowness ? (a->slowness > b->slowness ? -1 : 1) : a->rank - b->rank;
}

/* What a rank took in the steps from `from` to before `to`, on average; NAN: not known. */
static double mean_of(const struct yk_run_report *report, int32_t rank, int32_t from, int32_t to)
{
    double sum = 0;
    int32_t counted = 0;
    for (int32_t i = from; i < to; i++) {
        const double seconds = seconds_of(&report->steps[i], rank);
        sum += yk_plot_can_show_value(seconds) ? seconds : 0;
        counted += yk_plot_can_show_value(seconds) ? 1 : 0;
    }
    return counted > 0 ? sum / counted : NAN;
}

/* Over pieces of the run: the most that a rank took, by what was predicted of it, or else by what
 * it took at first. */
static double slowness_of(const struct picture *picture, int32_t rank)
{
    const struct yk_run_report *report = picture->report;
    const double predicted_s = predicted_of(picture, rank, -1);
    double base_s = predicted_s > 0 ? predicted_s : NAN;
    double max = 0;
    for (int32_t part = 0; part < PARTS; part++) {
        const int64_t from = (int64_t)report->step_count * part / PARTS;
        const int64_t to = (int64_t)report->step_count * (part + 1) / PARTS;
        const double mean_s = mean_of(report, rank, (int32_t)from, (int32_t)to);
        base_s = isfinite(base_s) ? base_s : mean_s;
        max = mean_s / base_s > max ? mean_s / base_s : max;
    }
    return max;
}

/* Few ranks are in colour in their order; of many, those that were slowest. */
static yk_status choose(struct picture *picture, struct yk_arena *arena)
{
    const struct yk_run_report *report = picture->report;
    picture->count = max_ranks(report);
    YK_TRY_NEW(arena, picture->drawn, (int64_t)picture->count + 1);
    YK_TRY_NEW(arena, picture->seconds, (int64_t)report->step_count + 1);
    for (int32_t r = 0; r < picture->count; r++) {
        picture->drawn[r] = (struct curve){r, slowness_of(picture, r)};
    }
    picture->coloured = picture->count < COLOURS ? picture->count : COLOURS;
    if (picture->count > COLOURS) {
        qsort(picture->drawn, (size_t)picture->count, sizeof *picture->drawn, compare_curves);
    }
    return YK_OK;
}

static void find_range(struct picture *picture)
{
    const struct yk_run_report *report = picture->report;
    struct yk_plot_range *y = &picture->plot.y;
    for (int32_t r = 0; r < picture->count; r++) {
        for (int32_t i = 0; i < report->step_count; i++) {
            yk_plot_range_include_value(y, seconds_of(&report->steps[i], r));
        }
        for (int32_t n = -1; n < report->rebalancing_count; n++) {
            yk_plot_range_include_value(y, predicted_of(picture, r, n));
        }
    }
    y->high = y->high > 0 ? y->high * 1.06 : 1;
}

static void name_class(const char *kind, int32_t place, int32_t coloured, char out[32])
{
    snprintf(out, 32, "%s s%d", kind, place < coloured ? (int)place : COLOURS);
}

static void draw_measured(const struct picture *picture, int32_t place)
{
    const struct yk_run_report *report = picture->report;
    char kind[32];
    for (int32_t i = 0; i < report->step_count; i++) {
        picture->seconds[i] = seconds_of(&report->steps[i], picture->drawn[place].rank);
    }
    name_class("curve fine", place, picture->coloured, kind);
    yk_plot_draw_curve(&picture->plot, kind, picture->curves->step, picture->seconds,
                       report->step_count);
}

/* Of ranks without a colour, only the least and the most of every step. */
static void draw_others(const struct picture *picture, bool max)
{
    const struct yk_run_report *report = picture->report;
    char kind[32];
    for (int32_t i = 0; i < report->step_count; i++) {
        double *seconds = &picture->seconds[i];
        *seconds = NAN;
        for (int32_t place = picture->coloured; place < picture->count; place++) {
            const double own = seconds_of(&report->steps[i], picture->drawn[place].rank);
            /* Of a number and what is none, these take the number. */
            *seconds = max ? fmax(*seconds, own) : fmin(*seconds, own);
        }
    }
    name_class("curve fine", COLOURS, picture->coloured, kind);
    yk_plot_draw_curve(&picture->plot, kind, picture->curves->step, picture->seconds,
                       report->step_count);
}

/* A flat line from every change of shares to the next. */
static void draw_predicted(const struct picture *picture, int32_t place)
{
    const struct yk_run_report *report = picture->report;
    const struct yk_plot_range *x = &picture->plot.x;
    char kind[32];
    name_class("curve fine unused", place, picture->coloured, kind);
    for (int32_t n = -1; n < report->rebalancing_count; n++) {
        const double seconds = predicted_of(picture, picture->drawn[place].rank, n);
        const double from = n < 0 ? x->low : (double)report->rebalancings[n].step;
        const double to =
            n + 1 < report->rebalancing_count ? (double)report->rebalancings[n + 1].step : x->high;
        const double steps[] = {from, to};
        const double values[] = {seconds, seconds};
        yk_plot_draw_curve(&picture->plot, kind, steps, values, 2);
    }
}

static void draw_rebalancings(const struct picture *picture)
{
    const struct yk_plot *plot = &picture->plot;
    double free_from = plot->left;
    for (int32_t n = 0; n < picture->report->rebalancing_count; n++) {
        const struct yk_run_report_rebalancing *change = &picture->report->rebalancings[n];
        const double x = yk_plot_x_pixel(plot, (double)change->step);
        struct yk_text text = {0};
        yk_text_add(&text, "rebalanced");
        for (int32_t r = 0; r < change->share_count && change->share_count <= MAX_SHARES; r++) {
            yk_text_addf(&text, r > 0 ? " / %g" : " to %g", change->shares[r]);
        }
        const double half = yk_label_estimate_width_pixels(yk_text_chars(&text)) / 2;
        const double middle = fmax(plot->left + half, fmin(x, plot->right - half));
        yk_figure_draw_line(&plot->figure, "step", x, plot->top - 6, x, plot->bottom);
        if (middle - half >= free_from) {
            yk_figure_draw_text(&plot->figure, "small halo middle", middle, plot->top - 10,
                                yk_text_chars(&text));
            free_from = middle + half + 8;
        }
        plot->figure.out->failed |= text.failed;
        yk_text_free(&text);
    }
}

/* Returns the height it takes; writes nothing without `figure`. */
static double draw_legend(const struct picture *picture, const struct yk_figure *figure, double top)
{
    struct yk_figure_legend_entry entries[COLOURS + 2] = {0};
    const int32_t count = picture->coloured + (picture->count > picture->coloured ? 2 : 1);
    for (int32_t i = 0; i < count; i++) {
        const bool last = i == count - 1;
        const int32_t rank = i < picture->coloured ? picture->drawn[i].rank : 0;
        const char *device = rank < picture->ranks->count ? picture->ranks->ranks[rank].device : "";
        if (i < picture->coloured) {
            snprintf(entries[i].name, sizeof entries[i].name, "%.*s (rank %d)",
                     (int)yk_text_fitting_prefix_length(device, 20), device, (int)rank);
        } else {
            snprintf(entries[i].name, sizeof entries[i].name, "%s",
                     last ? "predicted" : "least and most of the others");
        }
        name_class(last ? "curve fine unused" : "curve fine", last ? COLOURS : i, picture->coloured,
                   entries[i].kind);
        entries[i].is_line = true;
    }
    return yk_figure_draw_legend(figure, entries, count, picture->plot.left, top,
                                 picture->plot.right);
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_curves *curves = &page->curves;
    struct picture picture = {
        .report = page->report,
        .curves = curves,
        .ranks = &page->ranks,
        .plot = yk_run_curves_make_plot(curves, frame, TOP, HEIGHT),
    };
    struct yk_plot *plot = &picture.plot;
    YK_TRY(choose(&picture, page->arena));
    find_range(&picture);
    plot->figure.height = plot->bottom + 38 + draw_legend(&picture, NULL, 0) + 4;
    yk_figure_begin(&plot->figure, "Computation of every rank by step");
    const struct yk_figure_axis axis = yk_figure_axis_make(plot->y.high, YK_UNIT_SECONDS, 1);
    yk_plot_draw_axes(plot, axis.scale, axis.unit, 5);
    yk_figure_draw_text(&plot->figure, "small soft end", plot->right, plot->bottom + 33, "step");
    if (picture.count > picture.coloured) {
        draw_others(&picture, false);
        draw_others(&picture, true);
    }
    for (int32_t place = picture.coloured - 1; place >= 0; place--) {
        draw_measured(&picture, place);
    }
    for (int32_t place = picture.coloured - 1; place >= 0; place--) {
        draw_predicted(&picture, place);
    }
    draw_rebalancings(&picture);
    yk_run_curves_add_hover_area(plot, "Computation of every rank by step");
    draw_legend(&picture, &plot->figure, plot->bottom + 38);
    yk_figure_end(&plot->figure);
    return yk_text_status(frame.out);
}

/* The page's CSV has every stride-th step. */
static int32_t stride_of(const struct yk_run_report *report)
{
    const int64_t numbers = (int64_t)report->step_count * max_ranks(report);
    return (int32_t)(1 + (numbers - 1) / MAX_NUMBERS);
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    const int32_t stride = stride_of(report);
    const int32_t columns = max_ranks(report);
    yk_text_add(out, "step");
    for (int32_t r = 0; r < columns; r++) {
        yk_text_addf(out, ",rank_%d_s", (int)r);
    }
    yk_text_add(out, "\n");
    for (int32_t i = 0; i < report->step_count; i += stride) {
        const struct yk_run_report_step *step = &report->steps[i];
        if (step->rank_count == 0) {
            continue;
        }
        yk_csv_add_integer(out, step->step);
        for (int32_t r = 0; r < columns; r++) {
            yk_csv_add_seconds(out, seconds_of(step, r));
        }
        yk_csv_end_row(out);
    }
    return YK_OK;
}

static yk_status add(const void *subject, struct yk_text *out)
{
    static const struct {
        const char *kind;
        double width;
    } pictures[] = {
        {"at-wide full", 1240}, {"at-middle full", 720}, {"at-narrow", YK_PAGE_NARROW_WIDTH}};
    const struct yk_run_page_data *page = subject;
    yk_text_add(out, "<div class=\"widths\">\n");
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        yk_text_addf(out, "<div class=\"%s\">\n", pictures[i].kind);
        YK_TRY(draw(subject, yk_page_make_figure(pictures[i].width, out)));
        yk_text_add(out, "</div>\n");
    }
    yk_text_add(out, "</div>\n");
    yk_run_curves_add_csv_stride_note(stride_of(page->report), out);
    return YK_OK;
}

const struct yk_chart yk_run_chart_rank_curves = {
    .name = "ranks",
    .title = "Computation of every rank",
    .applies = applies,
    .draw = draw,
    .file_width = YK_FIGURE_FULL_WIDTH,
    .add_html = add,
    .csv_name = "rank-steps",
    .write_csv = write_csv,
};
