#include "cli/commands/datasheets.h"

#include "base/table.h"
#include "base/units.h"
#include "cluster/datasheet.h"
#include "cluster/interconnect.h"

#include <stdio.h>

/* A rate in TFLOPS, or "-" where the device has none: one unit for all, to compare down a column.
 */
static void add_rate(struct yk_table *table, double flops)
{
    if (flops > 0) {
        yk_table_add(table, "%.5g", flops / 1e12);
    } else {
        yk_table_add(table, "-");
    }
}

static void add_sheet(struct yk_table *table, const struct yk_datasheet *sheet)
{
    char words[YK_UNITS_SIZE];
    yk_table_add(table, "%s", sheet->name);
    yk_table_add(table, "%s%s", sheet->title, sheet->plan_only ? " (plan only)" : "");
    yk_units_format(sheet->memory_bytes, YK_UNIT_BYTES, words);
    yk_table_add(table, "%s", words);
    yk_units_format(sheet->memory_bytes_per_s, YK_UNIT_BYTES_PER_S, words);
    yk_table_add(table, "%s", words);
    add_rate(table, sheet->vector_flops);
    add_rate(table, sheet->matrix_flops[YK_PRECISION_TF32]);
    add_rate(table, sheet->matrix_flops[YK_PRECISION_FP16]);
    add_rate(table, sheet->matrix_flops[YK_PRECISION_BF16]);
    yk_table_add(table, "%s", sheet->peer ? sheet->peer : sheet->bus);
}

static yk_status add_devices(struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"name", YK_TABLE_LEFT},       {"device", YK_TABLE_LEFT}, {"memory", YK_TABLE_RIGHT},
        {"bandwidth", YK_TABLE_RIGHT}, {"fp32", YK_TABLE_RIGHT},  {"tf32", YK_TABLE_RIGHT},
        {"fp16", YK_TABLE_RIGHT},      {"bf16", YK_TABLE_RIGHT},  {"link", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        add_sheet(table, &yk_datasheets[i]);
    }
    yk_text_add(out,
                "Devices; rates are dense, in TFLOPS, with fp32 sums; --json has the sources\n");
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

static yk_status add_links(struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"name", YK_TABLE_LEFT},
        {"link", YK_TABLE_LEFT},
        {"bandwidth", YK_TABLE_RIGHT},
        {"latency", YK_TABLE_RIGHT},
    };
    struct yk_table *table = NULL;
    char words[YK_UNITS_SIZE];
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        const struct yk_interconnect *link = &yk_interconnects[i];
        yk_table_add(table, "%s", link->name);
        yk_table_add(table, "%s", link->title);
        yk_units_format(link->bytes_per_s, YK_UNIT_BYTES_PER_S, words);
        yk_table_add(table, "%s", words);
        yk_units_format(link->latency_s, YK_UNIT_SECONDS, words);
        yk_table_add(table, "%s", words);
    }
    yk_text_add(out, "\nLinks; bandwidths are one way, latencies are typical\n");
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

yk_status yk_datasheets_write_text(struct yk_text *out)
{
    YK_TRY(add_devices(out));
    return add_links(out);
}

static void add_text(struct yk_text *out, const char *key, const char *words)
{
    yk_text_addf(out, ",\"%s\":", key);
    if (words) {
        yk_text_add_json(out, words);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_number(struct yk_text *out, const char *key, double value)
{
    yk_text_addf(out, ",\"%s\":", key);
    yk_text_add_number(out, value);
}

static void add_sheet_object(struct yk_text *out, const struct yk_datasheet *sheet)
{
    yk_text_add(out, "\n  {\"name\":");
    yk_text_add_json(out, sheet->name);
    add_text(out, "title", sheet->title);
    add_text(out, "generation", yk_generation_name(sheet->generation));
    yk_text_addf(out, ",\"plan_only\":%s", sheet->plan_only ? "true" : "false");
    add_number(out, "memory_bytes", sheet->memory_bytes);
    add_number(out, "memory_bytes_per_s", sheet->memory_bytes_per_s);
    add_number(out, "vector_flops", sheet->vector_flops);
    yk_text_add(out, ",\"matrix_flops\":{");
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        yk_text_addf(out, "%s\"%s\":", i > 0 ? "," : "", yk_precision_name((enum yk_precision)i));
        if (sheet->matrix_flops[i] > 0) {
            yk_text_add_number(out, sheet->matrix_flops[i]);
        } else {
            yk_text_add(out, "null");
        }
    }
    yk_text_add(out, "}");
    add_text(out, "bus", sheet->bus);
    add_text(out, "peer", sheet->peer);
    add_text(out, "source", sheet->source);
    yk_text_add(out, "}");
}

yk_status yk_datasheets_write_json(struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"datasheets\",\n \"devices\":[");
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        add_sheet_object(out, &yk_datasheets[i]);
    }
    yk_text_add(out, "],\n \"links\":[");
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        const struct yk_interconnect *link = &yk_interconnects[i];
        yk_text_add(out, i > 0 ? ",\n  {\"name\":" : "\n  {\"name\":");
        yk_text_add_json(out, link->name);
        add_text(out, "title", link->title);
        add_number(out, "latency_s", link->latency_s);
        add_number(out, "bytes_per_s", link->bytes_per_s);
        add_text(out, "source", link->source);
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}
