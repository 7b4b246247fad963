#include "job/machine/devices.h"

#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cluster/datasheet.h"

#include <math.h>

yk_status yk_devices_discover(struct yk_devices_result *out)
{
    YK_TRY(yk_discover_machine(NULL, &out->machine));
    for (int i = 0; i < out->machine.gpu_count; i++) {
        const struct yk_datasheet *sheet = yk_discover_find_datasheet(out->machine.gpus[i].name);
        out->types[i] = sheet ? sheet->name : NULL;
    }
    return YK_OK;
}

yk_status yk_devices_write_cluster_json(const struct yk_devices_result *devices,
                                        struct yk_text *out)
{
    struct yk_cluster *cluster = NULL;
    YK_TRY(yk_discover_make_cluster(&devices->machine, &cluster));
    const yk_status status = yk_cluster_write_json(cluster, out);
    yk_cluster_destroy(cluster);
    return status;
}

/* A rate in TFLOPS, or "-" where the device has none: one unit for all, to compare down a column.
 */
static void add_rate(struct yk_text_table *table, double flops)
{
    if (flops > 0) {
        yk_text_table_add_cell(table, "%.5g", flops / 1e12);
    } else {
        yk_text_table_add_cell(table, "-");
    }
}

static void add_sheet(struct yk_text_table *table, const struct yk_datasheet *sheet)
{
    yk_text_table_add_cell(table, "%s", sheet->name);
    yk_text_table_add_cell(table, "%s%s", sheet->title, sheet->plan_only ? " (plan only)" : "");
    yk_text_table_add_cell(table, "%s",
                           YK_UNITS_FORMAT_TEMPORARY(sheet->memory_bytes, YK_UNIT_BYTES));
    yk_text_table_add_cell(
        table, "%s", YK_UNITS_FORMAT_TEMPORARY(sheet->memory_bytes_per_s, YK_UNIT_BYTES_PER_S));
    add_rate(table, sheet->vector_flops);
    add_rate(table, sheet->matrix_flops[YK_PRECISION_TF32]);
    add_rate(table, sheet->matrix_flops[YK_PRECISION_FP16]);
    add_rate(table, sheet->matrix_flops[YK_PRECISION_BF16]);
    yk_text_table_add_cell(table, "%s",
                           sheet->peer_interconnect ? sheet->peer_interconnect
                                                    : sheet->host_interconnect);
}

static yk_status add_devices(struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"name", YK_TEXT_TABLE_LEFT},    {"device", YK_TEXT_TABLE_LEFT},
        {"memory", YK_TEXT_TABLE_RIGHT}, {"bandwidth", YK_TEXT_TABLE_RIGHT},
        {"fp32", YK_TEXT_TABLE_RIGHT},   {"tf32", YK_TEXT_TABLE_RIGHT},
        {"fp16", YK_TEXT_TABLE_RIGHT},   {"bf16", YK_TEXT_TABLE_RIGHT},
        {"link", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        add_sheet(table, &yk_datasheets[i]);
    }
    yk_text_add(out,
                "Devices; rates are dense, in TFLOPS, with fp32 sums; --json has the sources\n");
    return yk_text_table_write_and_destroy(table, out);
}

static yk_status add_links(struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"name", YK_TEXT_TABLE_LEFT},
        {"link", YK_TEXT_TABLE_LEFT},
        {"bandwidth", YK_TEXT_TABLE_RIGHT},
        {"latency", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        const struct yk_interconnect *link = &yk_interconnects[i];
        yk_text_table_add_cell(table, "%s", link->name);
        yk_text_table_add_cell(table, "%s", link->title);
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY(link->bytes_per_s, YK_UNIT_BYTES_PER_S));
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY(link->latency_s, YK_UNIT_SECONDS));
    }
    yk_text_add(out, "\nLinks; bandwidths are one way, latencies are typical\n");
    return yk_text_table_write_and_destroy(table, out);
}

yk_status yk_devices_write_datasheets_text(struct yk_text *out)
{
    YK_TRY(add_devices(out));
    return add_links(out);
}

static void write_rates(struct yk_json_writer *json, const struct yk_datasheet *sheet)
{
    yk_json_write_begin_object(json, "matrix_flops");
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        const char *name = yk_precision_name((enum yk_precision)i);
        yk_json_write_number(json, name, sheet->matrix_flops[i] > 0 ? sheet->matrix_flops[i] : NAN);
    }
    yk_json_write_end_object(json);
}

static void write_sheet(struct yk_json_writer *json, const struct yk_datasheet *sheet)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "name", sheet->name);
    yk_json_write_string(json, "title", sheet->title);
    yk_json_write_string(json, "generation", yk_datasheet_generation_name(sheet->generation));
    yk_json_write_bool(json, "plan_only", sheet->plan_only);
    yk_json_write_number(json, "memory_bytes", sheet->memory_bytes);
    yk_json_write_number(json, "memory_bytes_per_s", sheet->memory_bytes_per_s);
    yk_json_write_number(json, "vector_flops", sheet->vector_flops);
    write_rates(json, sheet);
    yk_json_write_string(json, "bus", sheet->host_interconnect);
    yk_json_write_string(json, "peer", sheet->peer_interconnect);
    yk_json_write_string(json, "source", sheet->source);
    yk_json_write_end_object(json);
}

static void write_link(struct yk_json_writer *json, const struct yk_interconnect *link)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "name", link->name);
    yk_json_write_string(json, "title", link->title);
    yk_json_write_number(json, "latency_s", link->latency_s);
    yk_json_write_number(json, "bytes_per_s", link->bytes_per_s);
    yk_json_write_string(json, "source", link->source);
    yk_json_write_end_object(json);
}

yk_status yk_devices_write_datasheets_json(struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "datasheets");
    yk_json_write_newline(&json, 1);
    yk_json_write_begin_array(&json, "devices");
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        write_sheet(&json, &yk_datasheets[i]);
    }
    yk_json_write_end_array(&json);
    yk_json_write_newline(&json, 1);
    yk_json_write_begin_array(&json, "links");
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        write_link(&json, &yk_interconnects[i]);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_yoke_document(&json);
}
