#include "report/schedule/gantt.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "report/label.h"

#include <math.h>
#include <string.h>

/* ---- one row ---- */

/* The cells of one task: [first, end). */
struct span {
    int first;
    int end;
};

struct row {
    const struct yk_schedule *schedule;
    int columns;
    bool colour;
    const int32_t *tasks; /* of the device, by start */
    int32_t count;
    struct span *spans; /* (columns) */
    double *busy;       /* (columns) fraction of each that is busy */
};

/* Tasks shorter than a column push their neighbours aside. Further than this, the picture would lie
 * about when they run. */
enum {
    FARTHEST_PUSH = 3
};

/* Backgrounds of the 256-colour cube that black letters are read on, each with a second shade for a
 * task that touches another one of its colour. */
enum {
    COLOUR_COUNT = 8,
    SHADE_COUNT = 2
};
static const int backgrounds[COLOUR_COUNT][SHADE_COUNT] = {
    {110, 153}, {180, 223}, {72, 115}, {182, 225}, {143, 186}, {174, 217}, {109, 152}, {139, 183},
};

/* The first `length` bytes of a name, with '?' for what would move a terminal's cursor. */
static void add_name(struct yk_text *text, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const size_t control = yk_utf8_control_character_length(name + i, length - i);
        yk_text_add_bytes(text, control > 0 ? "?" : &name[i], 1);
        i += control > 1 ? control - 1 : 0;
    }
}

static double place_of(const struct row *row, int64_t ticks)
{
    const double makespan = (double)row->schedule->makespan;
    return makespan > 0 ? (double)ticks / makespan * row->columns : 0;
}

/* Gives each task its own cells, at least one. False when that moves a task too far. */
static bool spread(struct row *row)
{
    if (row->count > row->columns) {
        return false;
    }
    const struct yk_schedule *schedule = row->schedule;
    int end = 0;
    for (int32_t k = 0; k < row->count; k++) {
        const int first = (int)round(place_of(row, schedule->starts[row->tasks[k]]));
        const int last = (int)round(place_of(row, schedule->finishes[row->tasks[k]]));
        row->spans[k].first = first > end ? first : end;
        end = last > row->spans[k].first ? last : row->spans[k].first + 1;
        row->spans[k].end = end;
    }
    int limit = row->columns;
    for (int32_t k = row->count - 1; k >= 0; k--) {
        struct span *span = &row->spans[k];
        span->end = span->end < limit ? span->end : limit;
        span->first = span->first < span->end ? span->first : span->end - 1;
        limit = span->first;
        const double place = place_of(row, schedule->starts[row->tasks[k]]);
        if (fabs(span->first - place) > FARTHEST_PUSH) {
            return false;
        }
    }
    return true;
}

static void write_plain(const struct span *span, const char *name, struct yk_text *out)
{
    const int width = span->end - span->first;
    if (width == 1) {
        yk_text_add(out, "|");
        return;
    }
    const size_t inside = (size_t)width - 2;
    size_t used = yk_text_display_width(name);
    yk_text_add(out, "[");
    if (used <= inside) {
        add_name(out, name, strlen(name));
    } else {
        used = 0;
    }
    yk_text_add_repeated(out, "=", inside - used);
    yk_text_add(out, "]");
}

static void write_coloured(const struct span *span, const char *name, int background,
                           struct yk_text *out)
{
    const size_t width = (size_t)(span->end - span->first);
    size_t used = yk_text_display_width(name);
    yk_text_addf(out, "\x1b[38;5;16;48;5;%dm", background);
    /* A column stays free on the right, so that two names never run into one. */
    if (used < width || (used == 1 && width == 1)) {
        add_name(out, name, strlen(name));
    } else {
        used = 0;
    }
    yk_text_add_repeated(out, " ", width - used);
    yk_text_add(out, "\x1b[0m");
}

static void write_tasks(const struct row *row, struct yk_text *out)
{
    const struct yk_graph *graph = row->schedule->graph;
    int column = 0;
    int colour_before = -1;
    int shade = 0;
    for (int32_t k = 0; k < row->count; k++) {
        const struct span *span = &row->spans[k];
        const int32_t task = row->tasks[k];
        const int32_t group = graph->tasks[task].group;
        const int colour = (group == YK_GRAPH_NO_GROUP ? task : group) % COLOUR_COUNT;
        const bool touches = k > 0 && span->first == column;
        shade = touches && colour == colour_before ? 1 - shade : 0;
        yk_text_add_repeated(out, " ", (size_t)(span->first - column));
        if (row->colour) {
            write_coloured(span, graph->tasks[task].name, backgrounds[colour][shade], out);
        } else {
            write_plain(span, graph->tasks[task].name, out);
        }
        column = span->end;
        colour_before = colour;
    }
}

/* Adds to each cell the part of it that the task runs, and a trace to the cell it starts in. */
static void add_busy(struct row *row, int32_t task)
{
    const double start = place_of(row, row->schedule->starts[task]);
    const double finish = place_of(row, row->schedule->finishes[task]);
    const int last = row->columns - 1;
    const int first_cell = start < last ? (int)start : last;
    row->busy[first_cell] += 1e-9;
    for (int cell = first_cell; cell <= last && cell < finish; cell++) {
        const double from = start > cell ? start : cell;
        const double to = finish < cell + 1 ? finish : cell + 1;
        row->busy[cell] += to > from ? to - from : 0;
    }
}

/* Shows how busy the device is, and not its tasks, of which there are too many. No spaces trail. */
static void write_busy(struct row *row, struct yk_text *out)
{
    memset(row->busy, 0, (size_t)row->columns * sizeof *row->busy);
    for (int32_t k = 0; k < row->count; k++) {
        add_busy(row, row->tasks[k]);
    }
    int blanks = 0;
    for (int cell = 0; cell < row->columns; cell++) {
        const double busy = row->busy[cell];
        if (busy <= 0) {
            blanks++;
            continue;
        }
        yk_text_add_repeated(out, " ", (size_t)blanks);
        yk_text_add(out, busy < 1.0 / 3 ? "." : busy < 2.0 / 3 ? ":" : "#");
        blanks = 0;
    }
}

/* ---- the chart ---- */

enum {
    MIN_WIDTH = 20
};

/* Names take at most a quarter of the line. */
static int name_columns(const struct yk_graph *graph, int width)
{
    size_t widest = 1;
    for (int32_t p = 0; p < graph->device_count; p++) {
        const size_t columns = yk_text_display_width(graph->devices[p].name);
        widest = columns > widest ? columns : widest;
    }
    const size_t max = (size_t)width / 4;
    return (int)(widest < max ? widest : max);
}

/* Returns how many columns the name takes, at most `columns`. */
static int add_device_name(const char *name, int columns, struct yk_text *out)
{
    const size_t used = yk_text_display_width(name);
    if (used <= (size_t)columns) {
        add_name(out, name, strlen(name));
        return (int)used;
    }
    const size_t length = yk_text_fitting_prefix_length(name, (size_t)columns - 1);
    add_name(out, name, length);
    yk_text_add(out, "\xe2\x80\xa6");
    return (int)(used - yk_text_display_width(name + length)) + 1;
}

struct axis {
    int columns;
    double makespan; /* in the graph's unit */
    double step;
    int last; /* the number of the last tick */
};

static int tick_column(const struct axis *axis, int tick)
{
    if (axis->makespan <= 0) {
        return 0;
    }
    const double place = floor(tick * axis->step / axis->makespan * axis->columns + 1e-9);
    return place < axis->columns ? (int)place : axis->columns - 1;
}

/* The label of a tick, and the column it begins in: the tick's, or further left where the line
 * would end before the label does. */
static int tick_label(const struct axis *axis, int tick, char out[YK_NUMBER_BUFFER_SIZE])
{
    yk_label_format_number(tick * axis->step, out);
    const int column = tick_column(axis, tick);
    const int latest = axis->columns - (int)strlen(out);
    return column < latest ? column : latest;
}

/* Whether two columns stay free after each label. */
static bool labels_fit(const struct axis *axis)
{
    int free_from = 0;
    for (int tick = 0; tick <= axis->last; tick++) {
        char label[YK_NUMBER_BUFFER_SIZE];
        const int column = tick_label(axis, tick, label);
        if (column < free_from) {
            return false;
        }
        free_from = column + (int)strlen(label) + 2;
    }
    return true;
}

/* The finest round step whose labels do not touch, of those that give a few ticks. */
static struct axis choose_axis(double makespan, int columns)
{
    struct axis axis = {.columns = columns, .makespan = makespan};
    if (makespan <= 0) {
        return axis;
    }
    for (int parts = columns / 8 + 1; parts >= 1; parts--) {
        axis.step = yk_label_choose_axis_step(makespan, parts);
        axis.last = (int)floor(makespan / axis.step + 1e-9);
        if (labels_fit(&axis)) {
            return axis;
        }
    }
    axis.last = 0;
    return axis;
}

static void write_axis(const struct axis *axis, int margin, struct yk_text *out)
{
    yk_text_add_repeated(out, " ", (size_t)margin);
    int column = 0;
    for (int tick = 0; tick <= axis->last; tick++) {
        const int place = tick_column(axis, tick);
        yk_text_add_repeated(out, "-", (size_t)(place - column));
        yk_text_add(out, "+");
        column = place + 1;
    }
    yk_text_add_repeated(out, "-", (size_t)(axis->columns - column));
    yk_text_add(out, "\n");
    yk_text_add_repeated(out, " ", (size_t)margin);
    column = 0;
    for (int tick = 0; tick <= axis->last; tick++) {
        char label[YK_NUMBER_BUFFER_SIZE];
        const int place = tick_label(axis, tick, label);
        yk_text_add_repeated(out, " ", (size_t)(place - column));
        yk_text_add(out, label);
        column = place + (int)strlen(label);
    }
    yk_text_add(out, "\n");
}

static yk_status write_chart(struct yk_schedule *schedule, struct yk_arena *arena, int width,
                             bool colour, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    const int names = name_columns(graph, width);
    const int columns = width - names - 1;
    struct yk_schedule_device_tasks lanes;
    struct row row = {.schedule = schedule, .columns = columns, .colour = colour};
    YK_TRY(yk_schedule_list_device_tasks(schedule, &lanes));
    YK_TRY_NEW(arena, row.spans, columns);
    YK_TRY_NEW(arena, row.busy, columns);
    bool any_crowded = false;
    for (int32_t p = 0; p < graph->device_count; p++) {
        row.tasks = lanes.tasks + lanes.first[p];
        row.count = lanes.first[p + 1] - lanes.first[p];
        const int used = add_device_name(graph->devices[p].name, names, out);
        if (row.count > 0) {
            yk_text_add_repeated(out, " ", (size_t)(names + 1 - used));
            if (spread(&row)) {
                write_tasks(&row, out);
            } else {
                write_busy(&row, out);
                any_crowded = true;
            }
        }
        yk_text_add(out, "\n");
    }
    const struct axis axis =
        choose_axis(yk_graph_ticks_to_time(graph, schedule->makespan), columns);
    write_axis(&axis, names + 1, out);
    if (any_crowded) {
        yk_text_add_folded(out,
                           "in rows drawn with . : # the sign shows how busy the device is: up to "
                           "a third of the time, up to two thirds, more",
                           0, 0, (size_t)width);
    }
    return yk_text_status(out);
}

yk_status yk_gantt_text_write(struct yk_schedule *schedule, int width, bool colour,
                              struct yk_text *out)
{
    const int columns = width > MIN_WIDTH ? width : MIN_WIDTH;
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_chart(schedule, arena, columns, colour, out));
    return YK_OK;
}
