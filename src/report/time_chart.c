#include "report/time_chart.h"

#include "report/csv.h"
#include "report/label.h"
#include "report/page.h"
#include "report/web_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_DRAWN = 6000,     /* bars in a picture */
    MAX_WRITTEN = 300000, /* bars in a page's CSV */
    MAX_LINKS = 1500,
    MANY_LINKS = 80, /* more links are drawn fainter */
    LEFT = 70,       /* where rows begin, if groups have names */
    RIGHT_MARGIN = 20,
    AXIS_HEIGHT = 22,
    NAME_HEIGHT = 20,
    GROUP_GAP = 8,
    MARKS_HEIGHT = 20,
    WIDE = 560, /* minimum width for remarks of marks */
};

struct picture {
    const struct yk_time_chart *chart;
    struct yk_figure figure;
    struct yk_time_chart_merge_rule merge;
    double left;
    double right;
    double top; /* of the first group */
    double bottom;
    double row; /* height of a row */
    double bar; /* height of a bar in it */
    bool uses[YK_OP_STYLE_COUNT];
};

/* ---- from a trace ---- */

struct numbered {
    const struct yk_trace_event *event;
    int32_t number;
};

static int compare_doubles(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_events(const void *left, const void *right)
{
    const struct numbered *a = left;
    const struct numbered *b = right;
    const int by_rank = yk_number_compare(a->event->rank, b->event->rank);
    const int by_lane = yk_number_compare(a->event->lane, b->event->lane);
    const int by_start = compare_doubles(a->event->start_s, b->event->start_s);
    const int by_end = compare_doubles(a->event->end_s, b->event->end_s);
    return by_rank    ? by_rank
           : by_lane  ? by_lane
           : by_start ? by_start
           : by_end   ? by_end
                      : yk_number_compare(a->number, b->number);
}

/* Events of the first ranks, by rank, lane and time; `first` (ranks × lanes + 1) says where the
 * lanes begin. */
static yk_status sort_events(const struct yk_trace *trace, int32_t rank_count,
                             struct yk_arena *arena, int32_t *first, struct numbered **out)
{
    const int32_t count = yk_trace_event_count(trace);
    struct numbered *sorted = NULL;
    int32_t kept = 0;
    YK_TRY_NEW(arena, sorted, count > 0 ? count : 1);
    for (int32_t i = 0; i < count; i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        if (event->rank < rank_count) {
            sorted[kept++] = (struct numbered){.event = event, .number = i};
            first[event->rank * YK_LANE_COUNT + (int32_t)event->lane + 1]++;
        }
    }
    qsort(sorted, (size_t)kept, sizeof *sorted, compare_events);
    for (int32_t i = 0; i < rank_count * YK_LANE_COUNT; i++) {
        first[i + 1] += first[i];
    }
    *out = sorted;
    return YK_OK;
}

yk_status yk_time_chart_make_rows_from_trace(const struct yk_trace *trace, int32_t rank_count,
                                             double shift_s, struct yk_arena *arena,
                                             const struct yk_time_chart_row **out,
                                             double *out_end_s)
{
    const int32_t row_count = rank_count * YK_LANE_COUNT;
    struct numbered *sorted = NULL;
    struct yk_time_chart_bar *bars = NULL;
    struct yk_time_chart_row *rows = NULL;
    int32_t *first = NULL;
    double end_s = 0;
    YK_TRY_NEW(arena, first, (int64_t)row_count + 1);
    YK_TRY_NEW(arena, rows, row_count);
    YK_TRY(sort_events(trace, rank_count, arena, first, &sorted));
    YK_TRY_NEW(arena, bars, (int64_t)first[row_count] + 1);
    for (int32_t i = 0; i < first[row_count]; i++) {
        const struct yk_trace_event *event = sorted[i].event;
        bars[i] = (struct yk_time_chart_bar){
            .start = event->start_s + shift_s,
            .end = event->end_s + shift_s,
            .bytes = event->bytes,
            .label = event->op,
            .kind = yk_op_style_find_by_op_name(event->op),
            .number = sorted[i].number,
        };
        end_s = fmax(end_s, bars[i].end);
    }
    for (int32_t i = 0; i < row_count; i++) {
        rows[i] = (struct yk_time_chart_row){
            .name = yk_trace_lane_name((enum yk_lane)(i % YK_LANE_COUNT)),
            .bars = bars + first[i],
            .count = first[i + 1] - first[i],
        };
    }
    *out = rows;
    *out_end_s = end_s;
    return YK_OK;
}

/* ---- merging ---- */

static bool joins(const struct yk_time_chart_merge_rule *merge,
                  const struct yk_time_chart_merged_bar *run, const struct yk_time_chart_bar *bar)
{
    const bool both_short = bar->end - bar->start < merge->min_length &&
                            (run->count > 1 || run->busy < merge->min_length);
    return both_short && bar->start - run->end < merge->min_length &&
           bar->end - run->start <= merge->max_length;
}

static void extend(struct yk_time_chart_merged_bar *run, const struct yk_time_chart_bar *bar)
{
    run->end = fmax(run->end, bar->end);
    run->busy += bar->end - bar->start;
    run->by_kind[bar->kind] += bar->end - bar->start;
    run->count++;
}

struct yk_time_chart_merged_bar
yk_time_chart_next_merged_bar(const struct yk_time_chart_row *row,
                              const struct yk_time_chart_merge_rule *merge, int32_t *at)
{
    const struct yk_time_chart_bar *first = &row->bars[(*at)++];
    struct yk_time_chart_merged_bar bar = {
        .first = first, .start = first->start, .end = first->end};
    extend(&bar, first);
    while (*at < row->count && joins(merge, &bar, &row->bars[*at])) {
        extend(&bar, &row->bars[(*at)++]);
    }
    return bar;
}

static int64_t count_runs(const struct yk_time_chart *chart,
                          const struct yk_time_chart_merge_rule *merge)
{
    int64_t count = 0;
    for (int32_t g = 0; g < chart->group_count; g++) {
        for (int32_t r = 0; r < chart->groups[g].row_count; r++) {
            for (int32_t at = 0; at < chart->groups[g].rows[r].count; count++) {
                (void)yk_time_chart_next_merged_bar(&chart->groups[g].rows[r], merge, &at);
            }
        }
    }
    return count;
}

struct yk_time_chart_merge_rule yk_time_chart_choose_merge_rule(const struct yk_time_chart *chart,
                                                                double min_length, double factor,
                                                                int64_t max)
{
    struct yk_time_chart_merge_rule merge = {min_length, factor * min_length};
    while (merge.min_length < 2 * chart->span && count_runs(chart, &merge) > max) {
        merge.min_length = merge.min_length > 0 ? 2 * merge.min_length : chart->span / 1e6;
        merge.max_length = factor * merge.min_length;
    }
    return merge;
}

static int32_t main_kind(const struct yk_time_chart_merged_bar *bar)
{
    int32_t best = bar->first->kind;
    for (int32_t k = 0; k < YK_OP_STYLE_COUNT; k++) {
        best = bar->by_kind[k] > bar->by_kind[best] ? k : best;
    }
    return best;
}

/* ---- layout ---- */

static double x_of(const struct picture *picture, double time)
{
    const double span = picture->chart->span;
    return picture->left + (span > 0 ? time / span : 0) * (picture->right - picture->left);
}

static double max_name_pixels(double width)
{
    return fmin(150, width / 4);
}

static bool is_shown(const struct yk_time_chart_group *group, int32_t row)
{
    return !group->name || group->rows[row].count > 0;
}

static double group_height(const struct picture *picture, const struct yk_time_chart_group *group)
{
    double height = group->name ? NAME_HEIGHT + GROUP_GAP : 0;
    for (int32_t r = 0; r < group->row_count; r++) {
        height += is_shown(group, r) ? picture->row : 0;
    }
    return height;
}

/* The distance from the top of the group to its first bar. */
static double first_bar(const struct picture *picture, const struct yk_time_chart_group *group)
{
    return group->name ? NAME_HEIGHT : (picture->row - picture->bar) / 2;
}

static void choose_heights(struct picture *picture)
{
    const struct yk_time_chart *chart = picture->chart;
    const bool named = chart->group_count > 0 && chart->groups[0].name;
    if (named) {
        const int32_t count = chart->group_count;
        picture->row = count <= 12 ? 23 : count <= 40 ? 16 : 11;
        picture->bar = picture->row - 3;
    } else {
        const int32_t count = chart->group_count > 0 ? chart->groups[0].row_count : 0;
        picture->row = count <= 12 ? 46 : count <= 40 ? 30 : 14;
        picture->bar = count <= 12 ? 28 : count <= 40 ? 20 : 11;
        for (int32_t r = 0; r < count; r++) {
            const double pixels = yk_label_estimate_width_pixels(chart->groups[0].rows[r].name);
            const double max = max_name_pixels(picture->figure.width);
            picture->left = fmax(picture->left, 24 + fmin(pixels, max));
        }
    }
}

static struct picture lay_out(const struct yk_time_chart *chart, const struct yk_figure *frame)
{
    const bool named = chart->group_count > 0 && chart->groups[0].name;
    struct picture picture = {
        .chart = chart,
        .figure = *frame,
        .left = named ? LEFT : 24,
        .right = frame->width - RIGHT_MARGIN,
        .top = AXIS_HEIGHT + (frame->standalone ? YK_FIGURE_HEADING_HEIGHT : 0),
    };
    choose_heights(&picture);
    picture.bottom = picture.top;
    for (int32_t g = 0; g < chart->group_count; g++) {
        picture.bottom += group_height(&picture, &chart->groups[g]);
        for (int32_t r = 0; r < chart->groups[g].row_count; r++) {
            const struct yk_time_chart_row *row = &chart->groups[g].rows[r];
            for (int32_t i = 0; i < row->count && !chart->tasks; i++) {
                picture.uses[row->bars[i].kind] = true;
            }
        }
    }
    /* Merged tasks show how many they are, which needs space; merged ops show their main kind. */
    picture.merge = yk_time_chart_choose_merge_rule(
        chart, chart->span / (picture.right - picture.left), chart->tasks ? 120 : 4, MAX_DRAWN);
    return picture;
}

/* ---- drawing ---- */

_Static_assert((int)YK_NUMBER_BUFFER_SIZE >= (int)YK_UNITS_BUFFER_SIZE, "units have room");

/* Returns `out`. */
static const char *format_length(const struct yk_time_chart *chart, double length,
                                 char out[YK_NUMBER_BUFFER_SIZE])
{
    return chart->tasks ? yk_label_format_number(length, out)
                        : yk_units_format(length, YK_UNIT_SECONDS, out);
}

static void add_title(const struct picture *picture, const char *place,
                      const struct yk_time_chart_merged_bar *bar)
{
    struct yk_text *out = picture->figure.out;
    char length[YK_NUMBER_BUFFER_SIZE];
    yk_text_add(out, "<title>");
    if (bar->count > 1) {
        yk_text_addf(out, "%s %s", YK_LABEL_COUNT(bar->count),
                     picture->chart->tasks ? "tasks" : "ops, mostly ");
        yk_text_add(out, picture->chart->tasks ? "" : yk_op_style_name(main_kind(bar)));
    } else {
        yk_text_add_xml_escaped(out, bar->first->label);
    }
    yk_text_add(out, " on ");
    yk_text_add_xml_escaped(out, place);
    yk_text_addf(out, ": at %s%s, takes %s", YK_LABEL_NUMBER(bar->start),
                 picture->chart->tasks ? "" : "s",
                 format_length(picture->chart, bar->end - bar->start, length));
    if (bar->count > 1) {
        yk_text_addf(out, ", busy %s of it", YK_LABEL_PERCENT(bar->busy, bar->end - bar->start));
    } else if (bar->first->bytes > 0) {
        yk_text_addf(out, ", %s", YK_UNITS_FORMAT_TEMPORARY(bar->first->bytes, YK_UNIT_BYTES));
    }
    yk_text_add(out, "</title>");
}

static void add_label(const struct picture *picture, const struct yk_time_chart_merged_bar *bar,
                      double x, double pixels, double y)
{
    const bool ops = !picture->chart->tasks;
    char merged[YK_NUMBER_BUFFER_SIZE + sizeof " tasks"];
    const char *label = bar->first->label;
    if (bar->count > 1) {
        snprintf(merged, sizeof merged, "%s %s", YK_LABEL_COUNT(bar->count), ops ? "ops" : "tasks");
        label = merged;
    }
    const bool room = yk_label_estimate_width_pixels(label) + 6 <= pixels;
    if (picture->bar >= 11 && pixels >= 14 && (room || (ops && bar->count == 1))) {
        yk_figure_draw_text(&picture->figure,
                            picture->bar < 13 ? "tiny ink middle" : "small ink middle",
                            x + pixels / 2, y + picture->bar / 2 + (picture->bar < 13 ? 3 : 4),
                            room ? label : yk_op_style_symbol(bar->first->kind));
    }
}

static void draw_run(const struct picture *picture, const char *place,
                     const struct yk_time_chart_merged_bar *bar, double y)
{
    struct yk_text *out = picture->figure.out;
    const double x = fmax(x_of(picture, bar->start), picture->left); /* from 0 on */
    const double pixels = x_of(picture, bar->end) - x;
    const double gap = pixels > 4 ? 0.5 : 0; /* a hair of paper between neighbours */
    char class_name[32];
    if (pixels <= 0 && bar->start < 0) {
        return;
    }
    if (!picture->chart->tasks) {
        snprintf(class_name, sizeof class_name, "bar op-%s", yk_op_style_name(main_kind(bar)));
    } else if (bar->count > 1) {
        snprintf(class_name, sizeof class_name, "bar task-merged");
    } else {
        snprintf(class_name, sizeof class_name, "bar task-%d", (int)bar->first->kind);
    }
    yk_figure_begin_rect_tag(&picture->figure, class_name, x + gap, y, fmax(pixels - 2 * gap, 0.75),
                             picture->bar);
    if (bar->count > 1) {
        const double share = bar->end > bar->start ? bar->busy / (bar->end - bar->start) : 0;
        yk_text_addf(out, " fill-opacity=\"%.2f\"", 0.4 + 0.6 * fmin(share, 1));
    } else if (pixels > 6) {
        yk_text_addf(out, " rx=\"%d\"", picture->bar >= 24 ? 4 : 2);
    }
    yk_text_add(out, ">");
    add_title(picture, place, bar);
    yk_text_add(out, "</rect>\n");
    add_label(picture, bar, x, pixels, y);
}

static void draw_track(const struct picture *picture, const struct yk_time_chart_group *group,
                       const struct yk_time_chart_row *row, double y)
{
    yk_figure_begin_rect_tag(&picture->figure, "track", picture->left, y,
                             picture->right - picture->left, picture->bar);
    yk_text_add(picture->figure.out, "/>\n");
    yk_figure_draw_truncated_text(&picture->figure,
                                  group->name         ? "small soft end"
                                  : picture->bar < 13 ? "tiny end"
                                                      : "end",
                                  picture->left - 8, y + picture->bar / 2 + 4, row->name,
                                  group->name ? HUGE_VAL : max_name_pixels(picture->figure.width));
}

static void draw_bars(const struct picture *picture, const struct yk_time_chart_group *group,
                      const struct yk_time_chart_row *row, double y)
{
    for (int32_t at = 0; at < row->count;) {
        const struct yk_time_chart_merged_bar bar =
            yk_time_chart_next_merged_bar(row, &picture->merge, &at);
        draw_run(picture, group->name ? group->name : row->name, &bar, y);
    }
}

static void draw_rows(const struct picture *picture,
                      void (*draw)(const struct picture *picture,
                                   const struct yk_time_chart_group *group,
                                   const struct yk_time_chart_row *row, double y))
{
    double top = picture->top;
    for (int32_t g = 0; g < picture->chart->group_count; g++) {
        const struct yk_time_chart_group *group = &picture->chart->groups[g];
        double y = top + first_bar(picture, group);
        for (int32_t r = 0; r < group->row_count; r++) {
            if (is_shown(group, r)) {
                draw(picture, group, &group->rows[r], y);
                y += picture->row;
            }
        }
        top += group_height(picture, group);
    }
}

static void draw_names(const struct picture *picture)
{
    double y = picture->top;
    for (int32_t g = 0; g < picture->chart->group_count; g++) {
        const struct yk_time_chart_group *group = &picture->chart->groups[g];
        if (group->name) {
            yk_figure_draw_truncated_text(&picture->figure, "strong halo", 14, y + 14, group->name,
                                          YK_FIGURE_BOLD_TEXT_SPACE_FRACTION *
                                              (picture->right - 28));
        }
        y += group_height(picture, group);
    }
}

static void draw_link(const struct picture *picture, const struct yk_time_chart_arrow *link)
{
    const double first = picture->top + first_bar(picture, &picture->chart->groups[0]);
    const bool down = link->from < link->to;
    const double x1 = x_of(picture, link->start);
    const double x2 = x_of(picture, link->end);
    const double y1 = first + picture->row * link->from + (down ? picture->bar : 0);
    const double y2 = first + picture->row * link->to + (down ? 0 : picture->bar);
    const double middle = (y1 + y2) / 2;
    yk_text_addf(picture->figure.out,
                 "<path class=\"link\" d=\"M%.2f %.1fC%.2f %.1f %.2f %.1f %.2f %.1f\"/>\n", x1, y1,
                 x1, middle, x2, middle, x2, y2);
}

/* Too many lines show nothing: then none is drawn. */
static void draw_links(const struct picture *picture)
{
    const int32_t count = picture->chart->link_count;
    if (count == 0 || count > MAX_LINKS) {
        return;
    }
    yk_text_add(picture->figure.out,
                count > MANY_LINKS
                    ? "<g class=\"links many\">\n"
                    : "<g class=\"links\" marker-end=\"url(#arrival)\">\n<marker id=\"arrival\" "
                      "viewBox=\"0 0 4 4\" refX=\"2\" refY=\"2\" markerWidth=\"4\" "
                      "markerHeight=\"4\"><circle class=\"arrival\" cx=\"2\" cy=\"2\" "
                      "r=\"1.8\"/></marker>\n");
    for (int32_t i = 0; i < count; i++) {
        draw_link(picture, &picture->chart->links[i]);
    }
    yk_text_add(picture->figure.out, "</g>\n");
}

/* Draws a line at `time` and its name under it, which ends at `room` at most. Returns where the
 * next name may end. */
static double draw_mark(const struct picture *picture, const char *kind, const char *class_name,
                        double time, const char *text, double room)
{
    const double x = x_of(picture, time);
    const double at = fmax(fmin(x, room), picture->left + yk_label_estimate_width_pixels(text));
    yk_figure_draw_line(&picture->figure, kind, x, picture->top - 4, x, picture->bottom + 2);
    yk_figure_draw_text(&picture->figure, class_name, at, picture->bottom + 15, text);
    return at - yk_label_estimate_width_pixels(text) - 10;
}

static void draw_marks(const struct picture *picture)
{
    const struct yk_time_chart *chart = picture->chart;
    const bool reached = isfinite(chart->bound) && chart->bound == chart->end && chart->tasks;
    double room = picture->right;
    char text[YK_NUMBER_BUFFER_SIZE + 48];
    char time[YK_NUMBER_BUFFER_SIZE];
    if (isfinite(chart->end)) {
        snprintf(text, sizeof text, "%s %s%s", chart->end_name,
                 format_length(chart, chart->end, time),
                 reached && picture->figure.width >= WIDE ? ", which no schedule beats" : "");
        room = draw_mark(picture, "step", "small end", chart->end, text, room);
    }
    if (isfinite(chart->bound) && chart->bound > 0 && chart->bound <= chart->span && !reached) {
        snprintf(text, sizeof text, "lower bound %s", format_length(chart, chart->bound, time));
        (void)draw_mark(picture, "low", "small soft end", chart->bound, text, room);
    }
}

static int32_t list_legend(const struct picture *picture,
                           struct yk_figure_legend_entry entries[YK_OP_STYLE_COUNT])
{
    int32_t count = 0;
    for (int32_t k = 0; k < YK_OP_STYLE_COUNT; k++) {
        if (picture->uses[k]) {
            struct yk_figure_legend_entry *entry = &entries[count++];
            snprintf(entry->name, sizeof entry->name, "%s %s", yk_op_style_symbol(k),
                     yk_op_style_name(k));
            snprintf(entry->kind, sizeof entry->kind, "op-%s", yk_op_style_name(k));
        }
    }
    return count;
}

static struct yk_figure_axis axis_of(const struct picture *picture)
{
    const double span = picture->chart->span;
    const int parts = (int)fmax(1, (picture->right - picture->left) / 90);
    if (!picture->chart->tasks) {
        return yk_figure_axis_make(span, YK_UNIT_SECONDS, parts);
    }
    return (struct yk_figure_axis){
        .max = span > 0 ? span : 1,
        .step = yk_label_choose_axis_step(span > 0 ? span : 1, parts),
        .scale = 1,
        .unit = "",
    };
}

void yk_time_chart_draw_svg(const struct yk_time_chart *chart, struct yk_figure frame)
{
    struct picture picture = lay_out(chart, &frame);
    struct yk_figure_legend_entry entries[YK_OP_STYLE_COUNT] = {0};
    const int32_t count = list_legend(&picture, entries);
    const double legend = picture.bottom + MARKS_HEIGHT;
    const struct yk_figure_axis axis = axis_of(&picture);
    picture.figure.height =
        legend + yk_figure_draw_legend(NULL, entries, count, picture.left, legend, picture.right) +
        10;
    yk_figure_begin(&picture.figure, chart->title);
    draw_rows(&picture, draw_track);
    yk_figure_draw_vertical_grid(&picture.figure, &axis, picture.left, picture.right, picture.top,
                                 picture.bottom);
    draw_links(&picture);
    draw_rows(&picture, draw_bars);
    draw_names(&picture);
    draw_marks(&picture);
    yk_figure_draw_legend(&picture.figure, entries, count, picture.left, legend, picture.right);
    yk_figure_end(&picture.figure);
}

/* ---- in a page ---- */

static void add_timeline(const struct yk_time_chart *chart, struct yk_text *out)
{
    char span[YK_NUMBER_BUFFER_SIZE];
    char end[YK_NUMBER_BUFFER_SIZE];
    char bound[YK_NUMBER_BUFFER_SIZE];
    const struct yk_page_placeholder slots[] = {
        {"span", span},
        {"end", end},
        {"end-name", chart->end_name ? chart->end_name : ""},
        {"bound", bound},
        {"unit", chart->tasks ? "" : "s"},
    };
    yk_number_format(chart->span, span);
    yk_number_format(isfinite(chart->end) ? chart->end : -1, end);
    yk_number_format(isfinite(chart->bound) ? chart->bound : -1, bound);
    (void)yk_page_fill_template_until_unknown(yk_web_zoom_html, slots, sizeof slots / sizeof *slots,
                                              out);
}

/* Buttons that highlight the kinds of ops. */
static void add_legend(const struct picture *picture, struct yk_text *out)
{
    yk_text_add(out, "<div class=\"legend live\" role=\"group\" aria-label=\"Kinds of ops to "
                     "light up\" hidden>\n");
    for (int32_t k = 0; k < YK_OP_STYLE_COUNT; k++) {
        const char *name = yk_op_style_name(k);
        if (picture->uses[k]) {
            yk_text_addf(out,
                         "<button type=\"button\" data-kind=\"%s\" data-code=\"%s\" "
                         "aria-pressed=\"false\"><i class=\"op-%s\" aria-hidden=\"true\">%s</i>%s"
                         "</button>\n",
                         name, yk_op_style_symbol(k), name, yk_op_style_symbol(k), name);
        }
    }
    yk_text_add(out, "</div>\n");
}

void yk_time_chart_add_to_page(const struct yk_time_chart *chart, const char *label,
                               struct yk_text *out)
{
    const struct yk_figure frame = yk_page_make_figure(YK_FIGURE_FULL_WIDTH, out);
    const struct picture picture = lay_out(chart, &frame);
    add_timeline(chart, out);
    if (!chart->tasks) {
        add_legend(&picture, out);
    }
    yk_page_add_canvas("lanes", label, out);
    yk_text_add(out, "<div class=\"still chart\">\n");
    yk_time_chart_draw_svg(chart, frame);
    yk_text_add(out, "</div>\n");
}

int32_t yk_time_chart_count_groups_in_csv(const struct yk_time_chart *chart)
{
    int64_t bars = 0;
    for (int32_t g = 0; g < chart->group_count; g++) {
        for (int32_t r = 0; r < chart->groups[g].row_count; r++) {
            bars += chart->groups[g].rows[r].count;
        }
        if (bars > MAX_WRITTEN && g > 0) {
            return g;
        }
    }
    return chart->group_count;
}

void yk_time_chart_add_bar_csv_cells(const struct yk_time_chart_bar *bar, struct yk_text *out)
{
    yk_csv_add_text(out, bar->label);
    yk_csv_add_seconds(out, bar->start);
    yk_csv_add_seconds(out, bar->end);
    yk_csv_add_bytes(out, bar->bytes);
}
