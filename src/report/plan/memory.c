#include "report/csv.h"
#include "report/page.h"
#include "report/plan/charts.h"
#include "report/plan/report.h"

#include <math.h>
#include <stdio.h>

/* ---- one device ---- */

enum {
    MAX_STILL = 6, /* pictures that a page shows if scripts are off */
    LEFT = 70,
    RIGHT_MARGIN = 20,
    AXIS_HEIGHT = 22,
    PLOT_HEIGHT = 200,
};

/* What memory holds from a column of pixels on. */
struct column {
    double x;
    const double *bytes; /* (kinds) */
};

struct picture {
    struct yk_figure figure;
    const struct yk_plan_result_rank *rank;
    double limit_bytes;
    double max_bytes; /* at the top */
    double span_s;
    double right;
    double top;
    double bottom;
    struct column *columns;
    int32_t column_count;
};

/* The sum over the first `kinds` kinds of memory. */
static double sum_kinds(const double *bytes, int kinds)
{
    double sum = 0;
    for (int k = 0; k < kinds; k++) {
        sum += bytes[k];
    }
    return sum;
}

static double total_of(const double *bytes)
{
    return sum_kinds(bytes, YK_MEMORY_KIND_COUNT);
}

static double y_of(const struct picture *picture, double bytes)
{
    return picture->bottom - bytes / picture->max_bytes * (picture->bottom - picture->top);
}

/* Of the moments that fall on one pixel, the fullest is drawn on that pixel, and the last from
 * there on, so that even the shortest peak is visible. */
static void sample_columns(struct picture *picture)
{
    const struct yk_plan_result_rank *rank = picture->rank;
    const double pixels_per_s = (picture->right - LEFT) / picture->span_s;
    for (int32_t i = 0; i < rank->moment_count;) {
        const double pixel = floor(rank->memory_timeline[i].at_s * pixels_per_s);
        int32_t fullest = i;
        int32_t next = i;
        for (; next < rank->moment_count &&
               floor(rank->memory_timeline[next].at_s * pixels_per_s) == pixel;
             next++) {
            if (total_of(rank->memory_timeline[next].bytes) >
                total_of(rank->memory_timeline[fullest].bytes)) {
                fullest = next;
            }
        }
        const double x = LEFT + rank->memory_timeline[i].at_s * pixels_per_s;
        picture->columns[picture->column_count++] =
            (struct column){x, rank->memory_timeline[fullest].bytes};
        if (fullest != next - 1) {
            picture->columns[picture->column_count++] =
                (struct column){fmin(x + 1, picture->right), rank->memory_timeline[next - 1].bytes};
        }
        i = next;
    }
}

static bool holds(const struct yk_plan_result_rank *rank, int kind)
{
    for (int32_t i = 0; i < rank->moment_count; i++) {
        if (rank->memory_timeline[i].bytes[kind] > 0) {
            return true;
        }
    }
    return false;
}

/* The area of one kind, on top of the kinds before it: along its upper edge and back. */
static void draw_kind(const struct picture *picture, int kind)
{
    struct yk_text *out = picture->figure.out;
    yk_text_addf(out, "<path class=\"memory-%s\" d=\"M%.1f %.1f",
                 yk_memory_kind_name((enum yk_memory_kind)kind), picture->columns[0].x,
                 y_of(picture, sum_kinds(picture->columns[0].bytes, kind + 1)));
    for (int32_t i = 1; i < picture->column_count; i++) {
        yk_text_addf(out, "H%.1fV%.1f", picture->columns[i].x,
                     y_of(picture, sum_kinds(picture->columns[i].bytes, kind + 1)));
    }
    yk_text_addf(out, "H%.1f", picture->right);
    for (int32_t i = picture->column_count - 1; i >= 0; i--) {
        yk_text_addf(out, "V%.1fH%.1f", y_of(picture, sum_kinds(picture->columns[i].bytes, kind)),
                     picture->columns[i].x);
    }
    yk_text_add(out, "Z\"/>\n");
}

static void draw_scale(const struct picture *picture)
{
    const struct yk_figure_axis axis = yk_figure_axis_make(picture->max_bytes, YK_UNIT_BYTES, 4);
    for (int32_t tick = 0; tick <= yk_figure_axis_last_tick(&axis); tick++) {
        const double y = y_of(picture, tick * axis.step);
        char label[YK_UNITS_BUFFER_SIZE];
        yk_figure_axis_write_tick_label(&axis, tick, label);
        yk_figure_draw_line(&picture->figure, "grid", LEFT, y, picture->right, y);
        yk_figure_draw_text(&picture->figure, "small soft end", LEFT - 8, y + 4, label);
    }
}

static void draw_limit(const struct picture *picture)
{
    const double y = y_of(picture, picture->limit_bytes);
    char text[YK_UNITS_BUFFER_SIZE + 8];
    if (!isfinite(picture->limit_bytes)) {
        return;
    }
    snprintf(text, sizeof text, "limit %s",
             YK_UNITS_FORMAT_TEMPORARY(picture->limit_bytes, YK_UNIT_BYTES));
    yk_figure_draw_line(&picture->figure, "limit", LEFT, y, picture->right, y);
    yk_figure_draw_text(&picture->figure, "small warn end", picture->right, y - 4, text);
}

static void draw(const struct picture *picture, const struct yk_equal_ranks_set *set,
                 const struct yk_figure_legend_entry *entries, int32_t entry_count)
{
    const struct yk_figure_axis axis = yk_figure_axis_make(
        picture->span_s, YK_UNIT_SECONDS, (int)fmax(1, (picture->right - LEFT) / 90));
    struct yk_text title = {0};
    yk_text_addf(&title, "Memory over time: %s", set->name);
    yk_figure_begin(&picture->figure, yk_text_chars(&title));
    picture->figure.out->failed |= title.failed;
    yk_text_free(&title);
    draw_scale(picture);
    yk_figure_draw_vertical_grid(&picture->figure, &axis, LEFT, picture->right, picture->top,
                                 picture->bottom);
    for (int k = 0; k < YK_MEMORY_KIND_COUNT && picture->column_count > 0; k++) {
        if (holds(picture->rank, k)) {
            draw_kind(picture, k);
        }
    }
    yk_figure_draw_line(&picture->figure, "axis", LEFT, picture->bottom, picture->right,
                        picture->bottom);
    draw_limit(picture);
    yk_figure_draw_legend(&picture->figure, entries, entry_count, LEFT, picture->bottom + 8,
                          picture->right);
    yk_figure_end(&picture->figure);
}

static double fullest_of(const struct yk_plan_result_rank *rank)
{
    double max = isfinite(rank->peak_bytes) ? rank->peak_bytes : 0;
    for (int32_t i = 0; i < rank->moment_count; i++) {
        max = fmax(max, total_of(rank->memory_timeline[i].bytes));
    }
    return max;
}

static yk_status draw_set(const struct yk_equal_ranks_sets *sets,
                          const struct yk_equal_ranks_set *set, struct yk_figure frame)
{
    const struct yk_plan_result_rank *rank = &sets->result->ranks[set->rank];
    struct picture picture = {
        .figure = frame,
        .rank = rank,
        .limit_bytes = sets->result->plan->ranks[set->rank].limit_bytes,
        .span_s = sets->span_s > 0 ? sets->span_s : 1,
        .right = frame.width - RIGHT_MARGIN,
        .top = AXIS_HEIGHT + (frame.standalone ? YK_FIGURE_HEADING_HEIGHT : 0),
    };
    struct yk_figure_legend_entry entries[YK_MEMORY_KIND_COUNT] = {0};
    int32_t count = 0;
    const double fullest = fullest_of(rank);
    picture.bottom = picture.top + PLOT_HEIGHT;
    picture.max_bytes =
        1.08 * (isfinite(picture.limit_bytes) ? fmax(picture.limit_bytes, fullest) : fullest);
    picture.max_bytes = picture.max_bytes > 0 ? picture.max_bytes : 1;
    YK_TRY_NEW(sets->arena, picture.columns, 2 * (int64_t)rank->moment_count + 1);
    sample_columns(&picture);
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        const char *name = yk_memory_kind_name((enum yk_memory_kind)k);
        if (holds(rank, k)) {
            snprintf(entries[count].kind, sizeof entries->kind, "memory-%s", name);
            snprintf(entries[count++].name, sizeof entries->name, "%s", name);
        }
    }
    picture.figure.height = picture.bottom + 8 +
                            yk_figure_draw_legend(NULL, entries, count, LEFT, 0, picture.right) + 8;
    draw(&picture, set, entries, count);
    return yk_text_status(frame.out);
}

static yk_status draw_rank(const struct yk_equal_ranks_sets *sets, int32_t rank,
                           struct yk_figure frame)
{
    struct yk_equal_ranks_set set = {.rank = rank};
    YK_TRY(yk_equal_ranks_make_device_label(yk_equal_ranks_device_of_rank(sets->result, rank), 1,
                                            sets->arena, &set.name));
    return draw_set(sets, &set, frame);
}

static yk_status write_rank(struct yk_arena *arena, const struct yk_plan_result *result,
                            int32_t rank, struct yk_text *out)
{
    struct yk_equal_ranks_sets sets;
    YK_TRY(yk_equal_ranks_find_sets(result, arena, &sets));
    return draw_rank(
        &sets, rank,
        (struct yk_figure){.width = YK_FIGURE_FULL_WIDTH, .standalone = true, .out = out});
}

yk_status yk_plan_memory_write_rank_picture(const struct yk_plan_result *result, int32_t rank,
                                            struct yk_text *out)
{
    if (rank < 0 || rank >= result->plan->rank_count) {
        return yk_fail(YK_ERROR_INPUT, "a plan of %d ranks has no rank %d to draw",
                       result->plan->rank_count, rank);
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_rank(arena, result, rank, out));
    return YK_OK;
}

/* ---- the section ---- */

static yk_status add_still_memory(const struct yk_equal_ranks_sets *sets, struct yk_text *out)
{
    for (int32_t f = 0; f < sets->count && f < MAX_STILL; f++) {
        yk_page_add_escaped_text_between("<div class=\"still chart\">\n<h3>", sets->all[f].name,
                                         "</h3>\n", out);
        YK_TRY(draw_set(sets, &sets->all[f], yk_page_make_figure(YK_FIGURE_FULL_WIDTH, out)));
        yk_text_add(out, "</div>\n");
    }
    return YK_OK;
}

/* Adds the table of peak memory by device and kind, with the limits. */
static void add_table(const struct yk_equal_ranks_sets *sets, struct yk_text *out)
{
    struct yk_page_column columns[YK_MEMORY_KIND_COUNT + 5] = {{"device", false}};
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        columns[k + 1].name = yk_memory_kind_name((enum yk_memory_kind)k);
    }
    columns[YK_MEMORY_KIND_COUNT + 1].name = "together";
    columns[YK_MEMORY_KIND_COUNT + 2].name = "limit";
    columns[YK_MEMORY_KIND_COUNT + 3].name = "full";
    yk_page_begin_table("Memory by device", columns, out);
    for (int32_t f = 0; f < sets->count; f++) {
        const struct yk_equal_ranks_set *set = &sets->all[f];
        const struct yk_plan_result_rank *rank = &sets->result->ranks[set->rank];
        const double limit_bytes = sets->result->plan->ranks[set->rank].limit_bytes;
        yk_page_begin_named_row(set->name, out);
        for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
            yk_page_add_unit_cell(rank->peak_by_kind[k], YK_UNIT_BYTES, out);
        }
        yk_page_add_unit_cell(rank->peak_bytes, YK_UNIT_BYTES, out);
        yk_page_add_unit_cell(limit_bytes, YK_UNIT_BYTES, out);
        yk_page_add_percent_cell(rank->peak_bytes, limit_bytes, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_page_end_table(out);
}

static yk_status add(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    yk_text_add(out, "<ul class=\"legend live\" aria-label=\"Kinds of memory, from the bottom up\" "
                     "hidden>\n");
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        const char *name = yk_memory_kind_name((enum yk_memory_kind)k);
        yk_text_addf(out, "<li data-memory=\"%s\"><i class=\"memory-%s\"></i>%s</li>\n", name, name,
                     name);
    }
    yk_text_add(out, "</ul>\n");
    yk_page_add_canvas("memory", "Memory of every device over time", out);
    YK_TRY(add_still_memory(sets, out));
    yk_text_add(out, "<p class=\"note\">Stacked from the bottom up in the order of the legend; the "
                     "dashed line is the limit. The table has the most that any way of running "
                     "the plan can hold.</p>\n");
    add_table(sets, out);
    return YK_OK;
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    yk_text_add(out, "ranks,device,limit_bytes,at_s");
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        yk_text_addf(out, ",%s_bytes", yk_memory_kind_name((enum yk_memory_kind)k));
    }
    yk_text_add(out, "\n");
    for (int32_t f = 0; f < sets->count; f++) {
        const struct yk_equal_ranks_set *set = &sets->all[f];
        const struct yk_plan_result_rank *rank = &sets->result->ranks[set->rank];
        for (int32_t i = 0; i < rank->moment_count; i++) {
            yk_csv_add_text(out, set->numbers);
            yk_csv_add_text(out, set->name);
            yk_csv_add_bytes(out, sets->result->plan->ranks[set->rank].limit_bytes);
            yk_csv_add_seconds(out, rank->memory_timeline[i].at_s);
            for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
                yk_csv_add_bytes(out, rank->memory_timeline[i].bytes[k]);
            }
            yk_csv_end_row(out);
        }
    }
    return YK_OK;
}

static yk_status draw_first(const void *subject, struct yk_figure frame)
{
    return draw_rank(subject, 0, frame);
}

const struct yk_chart yk_plan_chart_memory = {
    .name = "memory",
    .title = "Memory over time",
    .draw = draw_first,
    .file_width = YK_FIGURE_FULL_WIDTH,
    .add_html = add,
    .csv_name = "memory",
    .write_csv = write_csv,
};
