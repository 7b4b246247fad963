#include "base/table.h"
#include "base/units.h"
#include "report/profile_curve_text.h"
#include "report/profile_report.h"
#include "report/profile_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *amount(double value, enum yk_unit unit, char out[YK_UNITS_SIZE])
{
    yk_units_format(value, unit, out);
    return out;
}

static bool is_same_origin(const struct yk_profile_measurement *a,
                           const struct yk_profile_measurement *b)
{
    return strcmp(a->versions, b->versions) == 0 && strcmp(a->host, b->host) == 0;
}

static void add_origin(const struct yk_profile_measurement *first, int64_t oldest, int64_t newest,
                       int64_t now, struct yk_text *out)
{
    yk_text_add(out, "  measured ");
    yk_profile_say_age(newest, now, out);
    if (oldest < newest) {
        yk_text_add(out, ", the oldest ");
        yk_profile_say_age(oldest, now, out);
    }
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

static const struct yk_profile_layer_row *row_of(const struct yk_profile_report_layer *layer,
                                                 const char *pass, int64_t batch)
{
    for (int32_t i = 0; i < layer->count; i++) {
        if (layer->rows[i].batch == batch && strcmp(layer->rows[i].layer.pass, pass) == 0) {
            return &layer->rows[i];
        }
    }
    return NULL;
}

static void add_batch(const struct yk_profile_report_layer *layer, int64_t batch,
                      struct yk_table *table)
{
    static const char *const passes[] = {"forward", "backward", "update"};
    double spread = 0;
    int64_t runs = INT64_MAX;
    char words[YK_UNITS_SIZE];
    yk_table_add(table, "%s", layer->rows[0].layer.shape);
    yk_table_add(table, "%" PRId64, layer->rows[0].layer.sequence);
    yk_table_add(table, "%" PRId64, batch);
    for (size_t p = 0; p < sizeof passes / sizeof passes[0]; p++) {
        const struct yk_profile_layer_row *row = row_of(layer, passes[p], batch);
        yk_table_add(table, "%s",
                     row ? amount(row->measurement.value, YK_UNIT_SECONDS, words) : "");
        if (row) {
            spread = fmax(spread, row->measurement.spread);
            runs = row->measurement.samples < runs ? row->measurement.samples : runs;
        }
    }
    yk_table_add(table, "%.1f %%", 100 * spread);
    yk_table_add(table, "%" PRId64, runs);
}

/* Every number of samples that any pass was measured with, smallest first. */
static void add_sort(const struct yk_profile_report_layer *layer, struct yk_table *table)
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

/* The sorts from `first` to before `end`, which are one device's. */
static yk_status add_device(const struct yk_profile_report *report, int32_t first, int32_t end,
                            struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"layer", YK_TABLE_LEFT},    {"tokens", YK_TABLE_RIGHT},   {"samples", YK_TABLE_RIGHT},
        {"forward", YK_TABLE_RIGHT}, {"backward", YK_TABLE_RIGHT}, {"update", YK_TABLE_RIGHT},
        {"spread", YK_TABLE_RIGHT},  {"runs", YK_TABLE_RIGHT},
    };
    const struct yk_profile_layer_row *rows = report->layers[first].rows;
    const struct yk_profile_report_layer *last = &report->layers[end - 1];
    const int32_t count = (int32_t)(last->rows + last->count - rows);
    struct yk_table *table = NULL;
    yk_text_add(out, "\n");
    yk_profile_say_device(&rows->layer, out);
    yk_text_add(out, "\n");
    add_origins(&rows->measurement, count, sizeof *rows, report->now, out);
    yk_text_add(out, "\n");
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = first; i < end; i++) {
        add_sort(&report->layers[i], table);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

static yk_status add_link(const struct yk_profile_report *report,
                          const struct yk_profile_report_link *link, int width, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"bytes", YK_TABLE_RIGHT},  {"time", YK_TABLE_RIGHT}, {"over a link", YK_TABLE_RIGHT},
        {"spread", YK_TABLE_RIGHT}, {"runs", YK_TABLE_RIGHT},
    };
    struct yk_table *table = NULL;
    char words[YK_UNITS_SIZE];
    yk_text_addf(out, "\n%s, ", link->rows[0].link.link);
    yk_profile_say_collective(&link->rows[0].link, out);
    yk_text_add(out, "\n");
    add_origins(&link->rows[0].measurement, link->count, sizeof *link->rows, report->now, out);
    yk_text_add(out, "  ");
    yk_profile_say_knee(link, out);
    yk_text_add(out, "\n\n");
    yk_profile_draw_curve(link, width, out);
    yk_text_add(out, "\n");
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < link->count; i++) {
        const struct yk_profile_measurement *measurement = &link->rows[i].measurement;
        yk_table_add(table, "%s", amount((double)link->rows[i].bytes, YK_UNIT_BYTES, words));
        yk_table_add(table, "%s", amount(measurement->value, YK_UNIT_SECONDS, words));
        yk_table_add(table, "%s", amount(yk_profile_rate(link, i), YK_UNIT_BYTES_PER_S, words));
        yk_table_add(table, "%.1f %%", 100 * measurement->spread);
        yk_table_add(table, "%" PRId64, measurement->samples);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
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

yk_status yk_profile_report_text(const struct yk_profile_report *report, int columns,
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
        yk_profile_say_fact(&report->facts[i], out);
        yk_text_addf(out, ", spread %.1f %%, measured ", 100 * report->facts[i].measurement.spread);
        yk_profile_say_age(report->facts[i].measurement.measured_at, report->now, out);
        if (is_of_several_cpus(report, &report->facts[i])) {
            const char *cpu = report->facts[i].measurement.cpu;
            yk_text_addf(out, ", on %s", cpu[0] ? cpu : "an unknown CPU");
        }
        yk_text_add(out, "\n");
    }
    return yk_text_status(out);
}
