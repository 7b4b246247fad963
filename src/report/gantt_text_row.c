#include "report/gantt_text_row.h"

#include "base/control.h"

#include <math.h>
#include <string.h>

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

void yk_gantt_text_add_name(struct yk_text *text, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const size_t control = yk_control_length(name + i, length - i);
        yk_text_add_bytes(text, control > 0 ? "?" : &name[i], 1);
        i += control > 1 ? control - 1 : 0;
    }
}

static double place_of(const struct yk_gantt_text_row *row, int64_t ticks)
{
    const double makespan = (double)row->schedule->makespan;
    return makespan > 0 ? (double)ticks / makespan * row->columns : 0;
}

/* Gives each task its own cells, at least one. False when that moves a task too far. */
static bool spread(struct yk_gantt_text_row *row)
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
        struct yk_gantt_text_span *span = &row->spans[k];
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

static void write_plain(const struct yk_gantt_text_span *span, const char *name,
                        struct yk_text *out)
{
    const int width = span->end - span->first;
    if (width == 1) {
        yk_text_add(out, "|");
        return;
    }
    const size_t inside = (size_t)width - 2;
    size_t taken = yk_text_columns(name);
    yk_text_add(out, "[");
    if (taken <= inside) {
        yk_gantt_text_add_name(out, name, strlen(name));
    } else {
        taken = 0;
    }
    yk_text_add_repeated(out, "=", inside - taken);
    yk_text_add(out, "]");
}

static void write_coloured(const struct yk_gantt_text_span *span, const char *name, int background,
                           struct yk_text *out)
{
    const size_t width = (size_t)(span->end - span->first);
    size_t taken = yk_text_columns(name);
    yk_text_addf(out, "\x1b[38;5;16;48;5;%dm", background);
    /* A column stays free on the right, so that two names never run into one. */
    if (taken < width || (taken == 1 && width == 1)) {
        yk_gantt_text_add_name(out, name, strlen(name));
    } else {
        taken = 0;
    }
    yk_text_add_repeated(out, " ", width - taken);
    yk_text_add(out, "\x1b[0m");
}

static void write_tasks(const struct yk_gantt_text_row *row, struct yk_text *out)
{
    const struct yk_graph *graph = row->schedule->graph;
    int column = 0;
    int colour_before = -1;
    int shade = 0;
    for (int32_t k = 0; k < row->count; k++) {
        const struct yk_gantt_text_span *span = &row->spans[k];
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
static void add_busy(struct yk_gantt_text_row *row, int32_t task)
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

static void write_busy(struct yk_gantt_text_row *row, struct yk_text *out)
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

bool yk_gantt_text_row_write(struct yk_gantt_text_row *row, struct yk_text *out)
{
    const bool crowded = !spread(row);
    if (crowded) {
        write_busy(row, out);
    } else {
        write_tasks(row, out);
    }
    return crowded;
}
