#include "base/text_table.h"
#include "base/units.h"
#include "report/plot.h"
#include "report/profile/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- curves ---- */

enum {
    ROWS = 9,
    MAX_COLUMNS = 84,
    MIN_COLUMNS = 16,
    LABEL_COLUMNS = 11, /* before the axis */
    KNEE_OCTAVES = 6,   /* maximum distance of a knee beyond the last size */
};

/* Points with a lower bandwidth, relative to the highest, are only in the table. */
static const double min_part = 0.01;

struct canvas {
    char cells[ROWS][MAX_COLUMNS + 1];
    int columns;
    int32_t first;          /* the smallest size that is drawn */
    struct yk_plot_range x; /* log2 of bytes */
    struct yk_plot_range y; /* log2 of bytes a second */
};

static double x_of(const struct yk_profile_report_link_curve *link, int32_t i)
{
    return log2((double)link->rows[i].bytes);
}

static double y_of(const struct yk_profile_report_link_curve *link, int32_t i)
{
    return log2(yk_profile_report_curve_row_bandwidth(link, i));
}

static int column_of(const struct canvas *canvas, double x)
{
    const double along = (x - canvas->x.low) / (canvas->x.high - canvas->x.low);
    return (int)lround(fmax(0, fmin(along, 1)) * (canvas->columns - 1));
}

static int cell_row(const struct canvas *canvas, double y)
{
    const double along = (canvas->y.high - y) / (canvas->y.high - canvas->y.low);
    return (int)lround(fmax(0, fmin(along, 1)) * (ROWS - 1));
}

static void find_ranges(const struct yk_profile_report_link_curve *link, struct canvas *canvas)
{
    double max = link->has_knee ? log2(link->saturation.plateau_bytes_per_s) : -INFINITY;
    for (int32_t i = 0; i < link->count; i++) {
        max = fmax(max, y_of(link, i));
    }
    while (canvas->first < link->count - 2 && y_of(link, canvas->first) < max + log2(min_part)) {
        canvas->first++;
    }
    canvas->x = yk_plot_range_make_empty();
    canvas->y = yk_plot_range_make_empty();
    for (int32_t i = canvas->first; i < link->count; i++) {
        yk_plot_range_include_value(&canvas->x, x_of(link, i));
        yk_plot_range_include_value(&canvas->y, y_of(link, i));
    }
    if (link->has_knee) {
        yk_plot_range_include_value(&canvas->y, log2(link->saturation.plateau_bytes_per_s));
        yk_plot_range_include_value(
            &canvas->x, fmin(log2(link->saturation.bytes), canvas->x.high + KNEE_OCTAVES));
    }
    yk_plot_range_pad(&canvas->x, 0);
    yk_plot_range_pad(&canvas->y, 0);
}

static void draw_marks(const struct yk_profile_report_link_curve *link, struct canvas *canvas)
{
    if (!link->has_knee) {
        return;
    }
    char *plateau = canvas->cells[cell_row(canvas, log2(link->saturation.plateau_bytes_per_s))];
    for (int c = 0; c < canvas->columns; c += 2) {
        plateau[c] = '-';
    }
    const int knee = column_of(canvas, log2(link->saturation.bytes));
    for (int r = 0; r < ROWS; r++) {
        canvas->cells[r][knee] = '|';
    }
}

static void draw_points(const struct yk_profile_report_link_curve *link, struct canvas *canvas)
{
    for (int32_t i = canvas->first; i + 1 < link->count; i++) {
        const int from = column_of(canvas, x_of(link, i));
        const int to = column_of(canvas, x_of(link, i + 1));
        for (int c = from + 1; c < to; c++) {
            const double along = (double)(c - from) / (to - from);
            const double y = (1 - along) * y_of(link, i) + along * y_of(link, i + 1);
            canvas->cells[cell_row(canvas, y)][c] = '.';
        }
    }
    for (int32_t i = canvas->first; i < link->count; i++) {
        canvas->cells[cell_row(canvas, y_of(link, i))][column_of(canvas, x_of(link, i))] = 'o';
    }
}

/* The axis, with the name of the knee on it. */
static void write_axis(const struct yk_profile_report_link_curve *link, const struct canvas *canvas,
                       struct yk_text *out)
{
    char axis[MAX_COLUMNS + 1] = "";
    memset(axis, '-', (size_t)canvas->columns);
    if (link->has_knee) {
        char text[YK_UNITS_BUFFER_SIZE + 8];
        const int knee = column_of(canvas, log2(link->saturation.bytes));
        const int length =
            snprintf(text, sizeof text, " knee %s ",
                     YK_UNITS_FORMAT_TEMPORARY(link->saturation.bytes, YK_UNIT_BYTES));
        const bool fits_after = knee + 1 + length <= canvas->columns;
        axis[knee] = '^';
        if (fits_after || knee >= length) {
            memcpy(axis + (fits_after ? knee + 1 : knee - length), text, (size_t)length);
        }
    }
    yk_text_addf(out, "%*s +%s\n", LABEL_COLUMNS, "", axis);
}

static void write_rows(const struct canvas *canvas, struct yk_text *out)
{
    for (int r = 0; r < ROWS; r++) {
        char text[YK_UNITS_BUFFER_SIZE] = "";
        if (r % 4 == 0) {
            const double along = (double)r / (ROWS - 1);
            yk_units_format(exp2(canvas->y.high + along * (canvas->y.low - canvas->y.high)),
                            YK_UNIT_BYTES_PER_S, text);
        }
        yk_text_addf(out, "%*s |%s", LABEL_COLUMNS, text, canvas->cells[r]);
        yk_text_trim_end(out);
        yk_text_add(out, "\n");
    }
}

/* Labels of sizes, each under its point; a label that would overlap another is left out. */
static void write_sizes(const struct yk_profile_report_link_curve *link,
                        const struct canvas *canvas, struct yk_text *out)
{
    int at = 0;
    yk_text_add_repeated(out, " ", LABEL_COLUMNS + 2);
    for (int32_t i = canvas->first; i < link->count; i++) {
        const char *text = YK_UNITS_FORMAT_TEMPORARY((double)link->rows[i].bytes, YK_UNIT_BYTES);
        const int length = (int)strlen(text);
        const int middle = column_of(canvas, x_of(link, i)) - length / 2;
        const int start = middle > 0 ? middle : 0;
        if ((at > 0 && start < at + 2) || start + length > canvas->columns + length / 2) {
            continue;
        }
        yk_text_addf(out, "%*s%s", start - at, "", text);
        at = start + length;
    }
    yk_text_add(out, "\n");
}

/* The bandwidth of a link over the size of messages. Both axes are logarithmic; `o` are sizes that
 * were measured, dots lie between them, dashes on the plateau, and a bar stands at the knee. Small
 * messages, with less than a hundredth of the highest bandwidth, are left out. At most `columns`
 * wide. */
static void draw_curve(const struct yk_profile_report_link_curve *link, int columns,
                       struct yk_text *out)
{
    struct canvas canvas = {.columns = columns - LABEL_COLUMNS - 6};
    canvas.columns = canvas.columns > MAX_COLUMNS ? MAX_COLUMNS : canvas.columns;
    canvas.columns = canvas.columns < MIN_COLUMNS ? MIN_COLUMNS : canvas.columns;
    for (int r = 0; r < ROWS; r++) {
        memset(canvas.cells[r], ' ', (size_t)canvas.columns);
    }
    find_ranges(link, &canvas);
    draw_marks(link, &canvas);
    draw_points(link, &canvas);
    write_rows(&canvas, out);
    write_axis(link, &canvas, out);
    write_sizes(link, &canvas, out);
}

/* ---- tables ---- */

static bool is_same_origin(const struct yk_profile_measurement *a,
                           const struct yk_profile_measurement *b)
{
    return strcmp(a->versions, b->versions) == 0 && strcmp(a->host, b->host) == 0;
}

/* The age of the newest and, where it reads differently, that of the oldest. */
static void add_ages(int64_t oldest, int64_t newest, int64_t now, struct yk_text *out)
{
    struct yk_text new = {0};
    struct yk_text old = {0};
    yk_profile_describe_age(newest, now, &new);
    yk_profile_describe_age(oldest, now, &old);
    yk_text_add(out, yk_text_chars(&new));
    if (strcmp(yk_text_chars(&new), yk_text_chars(&old)) != 0) {
        yk_text_addf(out, ", the oldest %s", yk_text_chars(&old));
    }
    yk_text_free(&new);
    yk_text_free(&old);
}

static void add_origin(const struct yk_profile_measurement *first, int64_t oldest, int64_t newest,
                       int64_t now, struct yk_text *out)
{
    yk_text_add(out, "  measured ");
    add_ages(oldest, newest, now, out);
    if (first->host[0]) {
        yk_text_addf(out, ", on %s", first->host);
    }
    if (first->cpu[0]) {
        yk_text_addf(out, first->host[0] ? " (%s)" : ", on %s", first->cpu);
    }
    yk_text_addf(out, ", with %s\n", first->versions[0] ? first->versions : "unknown versions");
}

/* One line for each machine and versions; measurements are `step` bytes apart. */
static void add_origins(const struct yk_profile_measurement *measurements, int32_t count,
                        size_t step, int64_t now, struct yk_text *out)
{
    for (int32_t i = 0; i < count; i++) {
        const char *base = (const char *)measurements;
        const struct yk_profile_measurement *first = (const void *)(base + (size_t)i * step);
        int64_t oldest = first->measured_at;
        int64_t newest = first->measured_at;
        bool is_first = true;
        for (int32_t j = 0; j < count && is_first; j++) {
            const struct yk_profile_measurement *other = (const void *)(base + (size_t)j * step);
            if (is_same_origin(first, other)) {
                is_first = j >= i;
                oldest = other->measured_at < oldest ? other->measured_at : oldest;
                newest = other->measured_at > newest ? other->measured_at : newest;
            }
        }
        if (is_first) {
            add_origin(first, oldest, newest, now, out);
        }
    }
}

static const struct yk_profile_layer_row *row_of(const struct yk_profile_report_layer_group *layer,
                                                 const char *pass, int64_t batch)
{
    for (int32_t i = 0; i < layer->count; i++) {
        if (layer->rows[i].batch == batch && strcmp(layer->rows[i].layer.pass, pass) == 0) {
            return &layer->rows[i];
        }
    }
    return NULL;
}

static void add_batch(const struct yk_profile_report_layer_group *layer, int64_t batch,
                      struct yk_text_table *table)
{
    static const char *const passes[] = {"forward", "backward", "update"};
    double spread = 0;
    int64_t runs = INT64_MAX;
    yk_text_table_add_cell(table, "%s", layer->rows[0].layer.shape);
    yk_text_table_add_cell(table, "%" PRId64, layer->rows[0].layer.sequence);
    yk_text_table_add_cell(table, "%" PRId64, batch);
    for (size_t p = 0; p < sizeof passes / sizeof passes[0]; p++) {
        const struct yk_profile_layer_row *row = row_of(layer, passes[p], batch);
        yk_text_table_add_cell(
            table, "%s",
            row ? YK_UNITS_FORMAT_TEMPORARY(row->measurement.value, YK_UNIT_SECONDS) : "");
        if (row) {
            spread = fmax(spread, row->measurement.spread);
            runs = row->measurement.samples < runs ? row->measurement.samples : runs;
        }
    }
    yk_text_table_add_cell(table, "%.1f %%", 100 * spread);
    yk_text_table_add_cell(table, "%" PRId64, runs);
}

/* Adds a row for every batch size of the layer, smallest first. */
static void add_sort(const struct yk_profile_report_layer_group *layer, struct yk_text_table *table)
{
    int64_t last = INT64_MIN;
    for (;;) {
        int64_t next = INT64_MAX;
        for (int32_t i = 0; i < layer->count; i++) {
            const int64_t batch = layer->rows[i].batch;
            next = batch > last && batch < next ? batch : next;
        }
        if (next == INT64_MAX) {
            return;
        }
        add_batch(layer, next, table);
        last = next;
    }
}

static bool are_on_one_device(const struct yk_profile_layer_row *a,
                              const struct yk_profile_layer_row *b)
{
    return strcmp(a->layer.device, b->layer.device) == 0 && a->layer.part == b->layer.part &&
           strcmp(a->measurement.cpu, b->measurement.cpu) == 0;
}

/* Adds the layers from `first` to before `end`, which belong to one device. */
static yk_status add_device(const struct yk_profile_report *report, int32_t first, int32_t end,
                            struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"layer", YK_TEXT_TABLE_LEFT},     {"tokens", YK_TEXT_TABLE_RIGHT},
        {"samples", YK_TEXT_TABLE_RIGHT},  {"forward", YK_TEXT_TABLE_RIGHT},
        {"backward", YK_TEXT_TABLE_RIGHT}, {"update", YK_TEXT_TABLE_RIGHT},
        {"spread", YK_TEXT_TABLE_RIGHT},   {"runs", YK_TEXT_TABLE_RIGHT},
    };
    const struct yk_profile_layer_row *rows = report->layers[first].rows;
    const struct yk_profile_report_layer_group *last = &report->layers[end - 1];
    const int32_t count = (int32_t)(last->rows + last->count - rows);
    struct yk_text_table *table = NULL;
    yk_text_add(out, "\n");
    yk_profile_describe_device(&rows->layer, out);
    yk_text_add(out, "\n");
    add_origins(&rows->measurement, count, sizeof *rows, report->now, out);
    yk_text_add(out, "\n");
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = first; i < end; i++) {
        add_sort(&report->layers[i], table);
    }
    return yk_text_table_write_and_destroy(table, out);
}

static yk_status add_link(const struct yk_profile_report *report,
                          const struct yk_profile_report_link_curve *link, int width,
                          struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"bytes", YK_TEXT_TABLE_RIGHT},       {"time", YK_TEXT_TABLE_RIGHT},
        {"over a link", YK_TEXT_TABLE_RIGHT}, {"spread", YK_TEXT_TABLE_RIGHT},
        {"runs", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    yk_text_addf(out, "\n%s, ", link->rows[0].link.link);
    yk_profile_describe_collective(&link->rows[0].link, out);
    yk_text_add(out, "\n");
    add_origins(&link->rows[0].measurement, link->count, sizeof *link->rows, report->now, out);
    yk_text_add(out, "  ");
    yk_profile_describe_curve_knee(link, out);
    yk_text_add(out, "\n\n");
    draw_curve(link, width, out);
    yk_text_add(out, "\n");
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < link->count; i++) {
        const struct yk_profile_measurement *measurement = &link->rows[i].measurement;
        yk_text_table_add_cell(
            table, "%s", YK_UNITS_FORMAT_TEMPORARY((double)link->rows[i].bytes, YK_UNIT_BYTES));
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY(measurement->value, YK_UNIT_SECONDS));
        yk_text_table_add_cell(
            table, "%s",
            YK_UNITS_FORMAT_TEMPORARY(yk_profile_report_curve_row_bandwidth(link, i),
                                      YK_UNIT_BYTES_PER_S));
        yk_text_table_add_cell(table, "%.1f %%", 100 * measurement->spread);
        yk_text_table_add_cell(table, "%" PRId64, measurement->samples);
    }
    return yk_text_table_write_and_destroy(table, out);
}

static void add_count(int32_t count, const char *one, const char *several, struct yk_text *out)
{
    yk_text_addf(out, "%d %s", (int)count, count == 1 ? one : several);
}

static bool is_of_several_cpus(const struct yk_profile_report *report,
                               const struct yk_profile_fact_row *row)
{
    for (int32_t i = 0; i < report->fact_count; i++) {
        const struct yk_profile_fact_row *other = &report->facts[i];
        if (strcmp(other->fact.subject, row->fact.subject) == 0 &&
            strcmp(other->measurement.cpu, row->measurement.cpu) != 0) {
            return true;
        }
    }
    return false;
}

yk_status yk_profile_report_write_text(const struct yk_profile_report *report, int columns,
                                       struct yk_text *out)
{
    yk_text_addf(out, "%s: ", report->path);
    add_count(report->layer_row_count, "time of layers, ", "times of layers, ", out);
    add_count(report->link_row_count, "of messages, ", "of messages, ", out);
    add_count(report->fact_count, "fact\n", "facts\n", out);
    for (int32_t first = 0, end = 0; first < report->layer_count; first = end) {
        const struct yk_profile_layer_row *row = &report->layers[first].rows[0];
        while (end < report->layer_count && are_on_one_device(row, &report->layers[end].rows[0])) {
            end++;
        }
        YK_TRY(add_device(report, first, end, out));
    }
    for (int32_t i = 0; i < report->link_count; i++) {
        YK_TRY(add_link(report, &report->links[i], columns, out));
    }
    for (int32_t i = 0; i < report->fact_count; i++) {
        yk_text_add(out, i == 0 ? "\n" : "");
        yk_profile_describe_fact(&report->facts[i], out);
        yk_text_addf(out, ", spread %.1f %%, measured ", 100 * report->facts[i].measurement.spread);
        yk_profile_describe_age(report->facts[i].measurement.measured_at, report->now, out);
        if (is_of_several_cpus(report, &report->facts[i])) {
            const char *cpu = report->facts[i].measurement.cpu;
            yk_text_addf(out, ", on %s", cpu[0] ? cpu : "an unknown CPU");
        }
        yk_text_add(out, "\n");
    }
    return yk_text_status(out);
}
