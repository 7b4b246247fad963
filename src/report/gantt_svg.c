#include "report/gantt_svg.h"

#include "report/gantt_style.h"
#include "report/label.h"

#include <math.h>
#include <stdio.h>

enum {
    LEAST_WIDTH = 320,
    MOST_BARS = 12000,
    MOST_MOVES = 1500,
    MANY_MOVES = 80, /* drawn fainter */
    RIGHT_MARGIN = 28,
    MARK_HEIGHT = 22,
    TITLE_HEIGHT = 34,
    AXIS_HEIGHT = 30,
    TICK_PIXELS = 90,
};

struct picture {
    const struct yk_schedule *schedule;
    const struct yk_graph *graph;
    const struct yk_gantt_svg_options *options;
    struct yk_gantt_bars bars;
    double width;
    double height;
    double left;  /* of the plot */
    double right; /* of the plot */
    double top;   /* of the first row */
    double row;   /* height of a row */
    double bar;   /* height of a bar */
    double span;  /* time across the plot, in the graph's unit */
    struct yk_text *out;
};

static double most_label_pixels(double width)
{
    return fmin(150, width / 4);
}

static struct picture lay_out(const struct yk_schedule *schedule,
                              const struct yk_gantt_svg_options *options)
{
    const struct yk_graph *graph = schedule->graph;
    struct picture picture = {.schedule = schedule, .graph = graph, .options = options};
    const int32_t devices = graph->device_count;
    double widest = 0;
    for (int32_t p = 0; p < devices; p++) {
        widest = fmax(widest, yk_label_pixels(graph->devices[p].name));
    }
    picture.width = options->width > LEAST_WIDTH ? options->width : LEAST_WIDTH;
    picture.left = 24 + fmin(widest, most_label_pixels(picture.width));
    picture.right = picture.width - RIGHT_MARGIN;
    picture.top = MARK_HEIGHT + (options->title ? TITLE_HEIGHT : 0);
    picture.row = devices <= 12 ? 46 : devices <= 40 ? 30 : 14;
    picture.bar = devices <= 12 ? 28 : devices <= 40 ? 20 : 11;
    picture.height = picture.top + picture.row * devices + AXIS_HEIGHT;
    picture.span = fmax(yk_graph_time(graph, schedule->makespan), options->span);
    return picture;
}

static double x_of(const struct picture *picture, int64_t ticks)
{
    const double time = yk_graph_time(picture->graph, ticks);
    const double part = picture->span > 0 ? time / picture->span : 0;
    return picture->left + part * (picture->right - picture->left);
}

static double row_top(const struct picture *picture, int32_t device)
{
    return picture->top + picture->row * device + (picture->row - picture->bar) / 2;
}

yk_status yk_gantt_svg_bars(struct yk_schedule *schedule,
                            const struct yk_gantt_svg_options *options, struct yk_arena *arena,
                            struct yk_gantt_bars *out)
{
    const struct picture picture = lay_out(schedule, options);
    const double pixel_ticks =
        picture.span * schedule->graph->ticks_per_unit / (picture.right - picture.left);
    const struct yk_gantt_bars_limits limits = {
        .least_ticks = options->apart ? 0 : pixel_ticks,
        .longest = options->apart ? 4 : 120, /* room for a label */
        .most = MOST_BARS,
    };
    return yk_gantt_bars_make(schedule, &limits, arena, out);
}

static void draw_head(const struct picture *picture)
{
    struct yk_text *out = picture->out;
    const char *title = picture->options->title;
    yk_text_addf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gantt%s\" width=\"%.0f\" "
                 "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" data-left=\"%.2f\" "
                 "data-top=\"%.0f\" data-row=\"%.0f\" data-bar=\"%.0f\">\n",
                 picture->bar < 16 ? " dense" : "", picture->width, picture->height, picture->width,
                 picture->height, picture->left, picture->top, picture->row, picture->bar);
    yk_text_add(out, "<title>");
    yk_text_add_xml(out, title ? title : "Gantt chart");
    yk_text_add(out, "</title>\n<style>\n");
    yk_text_add(out, yk_gantt_style);
    yk_text_add(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    if (title) {
        yk_text_add(out, "<text class=\"title\" x=\"14\" y=\"26\">");
        yk_text_add_xml(out, title);
        yk_text_add(out, "</text>\n");
    }
}

static void draw_rows(const struct picture *picture)
{
    struct yk_text *out = picture->out;
    yk_text_add(out, "<g class=\"rows\">\n");
    for (int32_t p = 0; p < picture->graph->device_count; p++) {
        const double y = row_top(picture, p);
        yk_text_addf(out,
                     "<rect class=\"track\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" "
                     "rx=\"4\"/><text class=\"device\" x=\"%.2f\" y=\"%.1f\">",
                     picture->left, y, picture->right - picture->left, picture->bar,
                     picture->left - 10, y + picture->bar / 2 + (picture->bar < 16 ? 3 : 4));
        yk_label_add_cut(out, picture->graph->devices[p].name, most_label_pixels(picture->width));
        yk_text_add(out, "</text>\n");
    }
    yk_text_add(out, "</g>\n");
}

static void draw_grid(const struct picture *picture)
{
    struct yk_text *out = picture->out;
    const double span = picture->span;
    const double pixels = picture->right - picture->left;
    const double bottom = picture->height - AXIS_HEIGHT;
    const double step = span > 0 ? yk_label_step(span, (int)fmax(1, pixels / TICK_PIXELS)) : 1;
    const int last = (int)floor(span / step + 1e-9);
    yk_text_add(out, "<g class=\"grid\">\n");
    for (int tick = 0; tick <= last; tick++) {
        const double x = picture->left + (span > 0 ? tick * step / span * pixels : 0);
        char label[YK_NUMBER_SIZE];
        yk_label_number(tick * step, label);
        yk_text_addf(out,
                     "<line x1=\"%.2f\" x2=\"%.2f\" y1=\"%.0f\" y2=\"%.0f\"/>"
                     "<text class=\"tick\" x=\"%.2f\" y=\"%.0f\">%s</text>\n",
                     x, x, picture->top, bottom + 4, x, bottom + 19, label);
    }
    yk_text_add(out, "</g>\n");
}

/* Data on its way: from the end of the task that sends it to its arrival on the other device. */
static void draw_move(const struct picture *picture, const struct yk_graph_edge *edge)
{
    const struct yk_schedule *schedule = picture->schedule;
    const int32_t from = schedule->devices[edge->from];
    const int32_t to = schedule->devices[edge->to];
    const int64_t sent = schedule->finishes[edge->from];
    const double x1 = x_of(picture, sent);
    const double x2 = x_of(picture, sent + yk_graph_delay(picture->graph, edge, from, to));
    const double y1 = row_top(picture, from) + (from < to ? picture->bar : 0);
    const double y2 = row_top(picture, to) + (from < to ? 0 : picture->bar);
    const double middle = (y1 + y2) / 2;
    yk_text_addf(picture->out, "<path d=\"M%.2f %.1fC%.2f %.1f %.2f %.1f %.2f %.1f\"/>\n", x1, y1,
                 x1, middle, x2, middle, x2, y2);
}

static void draw_moves(const struct picture *picture)
{
    const struct yk_graph *graph = picture->graph;
    const int32_t *devices = picture->schedule->devices;
    int32_t count = 0;
    for (int32_t e = 0; e < graph->edge_count; e++) {
        count += devices[graph->edges[e].from] != devices[graph->edges[e].to];
    }
    yk_text_addf(picture->out, "<g class=\"moves%s\">\n", count > MANY_MOVES ? " many" : "");
    yk_text_add(picture->out, "<marker id=\"arrival\" viewBox=\"0 0 4 4\" "
                              "refX=\"2\" refY=\"2\" markerWidth=\"4\" markerHeight=\"4\">"
                              "<circle cx=\"2\" cy=\"2\" r=\"1.8\"/></marker>\n");
    for (int32_t e = 0; e < graph->edge_count && count <= MOST_MOVES; e++) {
        if (devices[graph->edges[e].from] != devices[graph->edges[e].to]) {
            draw_move(picture, &graph->edges[e]);
        }
    }
    yk_text_add(picture->out, "</g>\n");
}

static void add_bar_title(const struct picture *picture, const struct yk_gantt_bar *bar)
{
    struct yk_text *out = picture->out;
    const struct yk_graph *graph = picture->graph;
    if (bar->count > 1) {
        char count[YK_NUMBER_SIZE];
        yk_label_count(bar->count, count);
        yk_text_addf(out, "%s tasks", count);
    } else {
        yk_text_add_xml(out, graph->tasks[bar->task].name);
    }
    yk_text_add(out, " on ");
    yk_text_add_xml(out, graph->devices[picture->schedule->devices[bar->task]].name);
    yk_text_add(out, ", ");
    yk_label_add_time(out, graph, bar->start);
    yk_text_add(out, " to ");
    yk_label_add_time(out, graph, bar->finish);
    if (bar->count > 1) {
        char share[YK_NUMBER_SIZE];
        yk_label_percent((double)bar->busy, (double)(bar->finish - bar->start), share);
        yk_text_addf(out, ", busy %s of it", share);
    }
}

static int32_t kind_of(const struct picture *picture, int32_t task)
{
    const int32_t group = picture->graph->tasks[task].group;
    if (picture->options->kinds) {
        return picture->options->kinds[task];
    }
    return group == YK_GRAPH_NO_GROUP ? task : group;
}

static void draw_bar(const struct picture *picture, const struct yk_gantt_bar *bar)
{
    struct yk_text *out = picture->out;
    double x = x_of(picture, bar->start);
    double width = x_of(picture, bar->finish) - x;
    const double corner = fmin(4, width / 3);
    /* A hair of paper between neighbours; what is too narrow for that is at least seen. */
    if (width > 4) {
        x += 0.5;
        width -= 1;
    }
    if (bar->count > 1) {
        const double length = (double)(bar->finish - bar->start);
        const double share = length > 0 ? (double)bar->busy / length : 0;
        yk_text_addf(out, "<rect class=\"bar merged\" fill-opacity=\"%.2f\"", 0.25 + 0.75 * share);
    } else {
        yk_text_addf(out, "<rect class=\"bar c%d\"",
                     kind_of(picture, bar->task) % YK_GANTT_COLOURS);
    }
    yk_text_addf(out, " x=\"%.2f\" width=\"%.2f\" height=\"%.0f\"", x, fmax(width, 0.75),
                 picture->bar);
    if (corner >= 1) {
        yk_text_addf(out, " rx=\"%.1f\"", corner);
    }
    yk_text_add(out, "><title>");
    add_bar_title(picture, bar);
    yk_text_add(out, "</title></rect>\n");
}

static void draw_bars(const struct picture *picture)
{
    yk_text_add(picture->out, "<g class=\"bars\">\n");
    for (int32_t p = 0; p < picture->graph->device_count; p++) {
        yk_text_addf(picture->out, "<g transform=\"translate(0 %.1f)\">\n", row_top(picture, p));
        for (int32_t k = picture->bars.first[p]; k < picture->bars.first[p + 1]; k++) {
            draw_bar(picture, &picture->bars.bars[k]);
        }
        yk_text_add(picture->out, "</g>\n");
    }
    yk_text_add(picture->out, "</g>\n");
}

static void draw_name(const struct picture *picture, int32_t device, const struct yk_gantt_bar *bar)
{
    char count[YK_NUMBER_SIZE];
    char merged[YK_NUMBER_SIZE + sizeof " tasks"];
    const char *name = picture->graph->tasks[bar->task].name;
    if (bar->count > 1) {
        yk_label_count(bar->count, count);
        snprintf(merged, sizeof merged, "%s tasks", count);
        name = merged;
    }
    const double width = x_of(picture, bar->finish) - x_of(picture, bar->start);
    if (yk_label_pixels(name) + 8 > width) {
        return;
    }
    yk_text_addf(picture->out, "<text x=\"%.2f\" y=\"%.1f\">", x_of(picture, bar->start) + 6,
                 row_top(picture, device) + picture->bar / 2 + (picture->bar < 16 ? 3 : 4));
    yk_text_add_xml(picture->out, name);
    yk_text_add(picture->out, "</text>\n");
}

static void draw_names(const struct picture *picture)
{
    yk_text_add(picture->out, "<g class=\"names\">\n");
    for (int32_t p = 0; p < picture->graph->device_count; p++) {
        for (int32_t k = picture->bars.first[p]; k < picture->bars.first[p + 1]; k++) {
            draw_name(picture, p, &picture->bars.bars[k]);
        }
    }
    yk_text_add(picture->out, "</g>\n");
}

static void draw_line(const struct picture *picture, const char *kind, double x)
{
    yk_text_addf(picture->out,
                 "<line class=\"%s\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%.0f\" y2=\"%.0f\"/>\n", kind, x,
                 x, picture->top - 4, picture->height - AXIS_HEIGHT + 4);
}

static void draw_marks(const struct picture *picture)
{
    const int64_t bound = picture->options->lower_bound;
    const int64_t makespan = picture->schedule->makespan;
    const double y = picture->top - 9;
    char label[YK_NUMBER_SIZE];
    yk_label_time(picture->graph, makespan, label);
    const double end_label = yk_label_pixels(label) + yk_label_pixels("makespan ") + 14;
    const double end = picture->span > 0 ? x_of(picture, makespan) : picture->right;
    yk_text_add(picture->out, "<g class=\"marks\">\n");
    draw_line(picture, "end", end);
    yk_text_addf(picture->out, "<text class=\"mark\" x=\"%.2f\" y=\"%.0f\">makespan %s%s</text>\n",
                 fmax(end, picture->left + end_label), y, label,
                 bound == makespan && picture->width >= 560 ? ", which no schedule beats" : "");
    if (bound > 0 && bound < makespan) {
        const double x = x_of(picture, bound);
        yk_label_time(picture->graph, bound, label);
        const double least =
            picture->left + yk_label_pixels(label) + yk_label_pixels("lower bound ");
        draw_line(picture, "bound", x);
        yk_text_addf(picture->out,
                     "<text class=\"mark low\" x=\"%.2f\" y=\"%.0f\">lower bound %s</text>\n",
                     fmax(fmin(x, end - end_label), least), y, label);
    }
    yk_text_add(picture->out, "</g>\n");
}

yk_status yk_gantt_svg_write(struct yk_schedule *schedule,
                             const struct yk_gantt_svg_options *options, struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    struct picture picture = lay_out(schedule, options);
    picture.out = out;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = yk_gantt_svg_bars(schedule, options, arena, &picture.bars);
    if (status == YK_OK) {
        draw_head(&picture);
        draw_rows(&picture);
        draw_grid(&picture);
        draw_moves(&picture);
        draw_bars(&picture);
        draw_names(&picture);
        draw_marks(&picture);
        yk_text_add(out, "</svg>\n");
    }
    yk_arena_destroy(arena);
    return status == YK_OK ? yk_text_status(out) : status;
}
