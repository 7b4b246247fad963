#include "report/gantt_text.h"

#include "base/arena.h"
#include "report/gantt_text_row.h"
#include "report/label.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_WIDTH = 20
};

/* Names take at most a quarter of the line. */
static int name_columns(const struct yk_graph *graph, int width)
{
    size_t widest = 1;
    for (int32_t p = 0; p < graph->device_count; p++) {
        const size_t columns = yk_text_columns(graph->devices[p].name);
        widest = columns > widest ? columns : widest;
    }
    const size_t most = (size_t)width / 4;
    return (int)(widest < most ? widest : most);
}

/* Returns how many columns the name takes, at most `columns`. */
static int add_device_name(const char *name, int columns, struct yk_text *out)
{
    const size_t taken = yk_text_columns(name);
    if (taken <= (size_t)columns) {
        yk_gantt_text_add_name(out, name, strlen(name));
        return (int)taken;
    }
    const size_t length = yk_text_prefix(name, (size_t)columns - 1);
    yk_gantt_text_add_name(out, name, length);
    yk_text_add(out, "\xe2\x80\xa6");
    return (int)(taken - yk_text_columns(name + length)) + 1;
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
static int tick_label(const struct axis *axis, int tick, char out[YK_NUMBER_SIZE])
{
    yk_label_number(tick * axis->step, out);
    const int column = tick_column(axis, tick);
    const int latest = axis->columns - (int)strlen(out);
    return column < latest ? column : latest;
}

/* Whether two columns stay free after each label. */
static bool labels_fit(const struct axis *axis)
{
    int free_from = 0;
    for (int tick = 0; tick <= axis->last; tick++) {
        char label[YK_NUMBER_SIZE];
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
    for (int pieces = columns / 8 + 1; pieces >= 1; pieces--) {
        axis.step = yk_label_step(makespan, pieces);
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
        char label[YK_NUMBER_SIZE];
        const int place = tick_label(axis, tick, label);
        yk_text_add_repeated(out, " ", (size_t)(place - column));
        yk_text_add(out, label);
        column = place + (int)strlen(label);
    }
    yk_text_add(out, "\n");
}

/* Words of a sentence on as many lines as the width needs. */
static void write_wrapped(const char *sentence, int width, struct yk_text *out)
{
    int column = 0;
    while (*sentence) {
        const int length = (int)strcspn(sentence, " ");
        if (column > 0 && column + 1 + length > width) {
            yk_text_add(out, "\n");
            column = 0;
        }
        yk_text_add(out, column > 0 ? " " : "");
        column += length + (column > 0 ? 1 : 0);
        yk_text_add_bytes(out, sentence, (size_t)length);
        sentence += length;
        sentence += strspn(sentence, " ");
    }
    yk_text_add(out, "\n");
}

static yk_status write_chart(struct yk_schedule *schedule, struct yk_arena *arena, int width,
                             bool colour, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    const int names = name_columns(graph, width);
    const int columns = width - names - 1;
    struct yk_schedule_lanes lanes;
    struct yk_gantt_text_row row = {.schedule = schedule, .columns = columns, .colour = colour};
    YK_TRY(yk_schedule_list_lanes(schedule, &lanes));
    YK_TRY_NEW(arena, row.spans, columns);
    YK_TRY_NEW(arena, row.busy, columns);
    bool any_crowded = false;
    for (int32_t p = 0; p < graph->device_count; p++) {
        row.tasks = lanes.tasks + lanes.first[p];
        row.count = lanes.first[p + 1] - lanes.first[p];
        const int taken = add_device_name(graph->devices[p].name, names, out);
        if (row.count > 0) {
            yk_text_add_repeated(out, " ", (size_t)(names + 1 - taken));
            any_crowded |= yk_gantt_text_row_write(&row, out);
        }
        yk_text_add(out, "\n");
    }
    const struct axis axis = choose_axis(yk_graph_time(graph, schedule->makespan), columns);
    write_axis(&axis, names + 1, out);
    if (any_crowded) {
        write_wrapped("in rows drawn with . : # the sign shows how busy the device is: up to a "
                      "third of the time, up to two thirds, more",
                      width, out);
    }
    return yk_text_status(out);
}

yk_status yk_gantt_text_write(struct yk_schedule *schedule,
                              const struct yk_gantt_text_options *options, struct yk_text *out)
{
    const int width = options->width > LEAST_WIDTH ? options->width : LEAST_WIDTH;
    YK_TRY_IN_ARENA(arena, write_chart(schedule, arena, width, options->colour, out));
    return YK_OK;
}
