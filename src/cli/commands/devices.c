#include "job/machine/devices.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cli/options/command.h"
#include "cli/terminal.h"
#include "job/output_files.h"

struct arguments {
    bool list;
    bool json;
    const char *output;
};

/* "24GiB", or "-" for what is not known. */
static const char *amount(double value, enum yk_unit unit, char out[YK_UNITS_BUFFER_SIZE])
{
    return value > 0 ? yk_units_format(value, unit, out) : "-";
}

/* The number; "-" where it is not known. */
static void add_count(struct yk_text_table *table, int count)
{
    yk_text_table_add_cell(table, count > 0 ? "%d" : "-", count);
}

static yk_status add_host(const struct yk_topology *host, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"processor", YK_TEXT_TABLE_LEFT}, {"packages", YK_TEXT_TABLE_RIGHT},
        {"cores", YK_TEXT_TABLE_RIGHT},    {"threads", YK_TEXT_TABLE_RIGHT},
        {"L1d", YK_TEXT_TABLE_RIGHT},      {"L2", YK_TEXT_TABLE_RIGHT},
        {"L3", YK_TEXT_TABLE_RIGHT},       {"memory", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    char words[YK_UNITS_BUFFER_SIZE];
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    yk_text_table_add_cell(table, "%s", host->cpu_name);
    add_count(table, host->package_count);
    yk_text_table_add_cell(table, "%d", host->core_count);
    yk_text_table_add_cell(table, "%d", host->thread_count);
    for (int level = 0; level < YK_TOPOLOGY_CACHE_LEVELS; level++) {
        yk_text_table_add_cell(table, "%s", amount(host->cache_bytes[level], YK_UNIT_BYTES, words));
    }
    yk_text_table_add_cell(table, "%s", amount(host->memory_bytes, YK_UNIT_BYTES, words));
    return yk_text_table_write_and_destroy(table, out);
}

static void add_gpu(struct yk_text_table *table, const struct yk_devices_result *devices,
                    int number)
{
    const struct yk_nvml_gpu *gpu = &devices->machine.gpus[number];
    const char *type = devices->types[number];
    char words[YK_UNITS_BUFFER_SIZE];
    yk_text_table_add_cell(table, "gpu%d", number);
    yk_text_table_add_cell(table, "%s%s", gpu->name, gpu->mig ? " (cut by MIG)" : "");
    yk_text_table_add_cell(table, "%s", type ? type : "no datasheet");
    yk_text_table_add_cell(table, "%s", amount(gpu->memory_bytes, YK_UNIT_BYTES, words));
    yk_text_table_add_cell(table, "%d.%d", gpu->capability_major, gpu->capability_minor);
    add_count(table, gpu->sm_count);
    yk_text_table_add_cell(table, gpu->pcie_generation > 0 ? "%d.0 x%d" : "-", gpu->pcie_generation,
                           gpu->pcie_width);
    yk_text_table_add_cell(table, gpu->nvlink_count > 0 ? "%d links" : "-", gpu->nvlink_count);
}

static yk_status add_gpus(const struct yk_devices_result *devices, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"device", YK_TEXT_TABLE_LEFT}, {"name", YK_TEXT_TABLE_LEFT},
        {"type", YK_TEXT_TABLE_LEFT},   {"memory", YK_TEXT_TABLE_RIGHT},
        {"CUDA", YK_TEXT_TABLE_LEFT},   {"SMs", YK_TEXT_TABLE_RIGHT},
        {"PCIe", YK_TEXT_TABLE_LEFT},   {"NVLink", YK_TEXT_TABLE_LEFT},
    };
    if (devices->machine.gpu_count == 0) {
        yk_text_addf(out, "%s\n", devices->machine.note);
        return yk_text_status(out);
    }
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int i = 0; i < devices->machine.gpu_count; i++) {
        add_gpu(table, devices, i);
    }
    return yk_text_table_write_and_destroy(table, out);
}

static yk_status write_tables(const struct yk_devices_result *devices, struct yk_text *out)
{
    YK_TRY(add_host(&devices->machine.host, out));
    yk_text_add(out, "\n");
    return add_gpus(devices, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    if (arguments->list && arguments->output) {
        return yk_fail(YK_ERROR_USAGE, "--output takes the cluster file of this machine; leave out "
                                       "--list");
    }
    if (arguments->list) {
        return arguments->json ? yk_devices_write_datasheets_json(out)
                               : yk_devices_write_datasheets_text(out);
    }
    struct yk_devices_result devices = {0};
    YK_TRY(yk_output_files_check_paths(&arguments->output, 1, 0));
    YK_TRY(yk_devices_discover(&devices));
    YK_TRY(arguments->json ? yk_devices_write_cluster_json(&devices, out)
                           : write_tables(&devices, out));
    struct yk_output_files outputs = {0};
    if (arguments->output) {
        struct yk_text *file = yk_output_files_add(&outputs, arguments->output);
        yk_output_files_drop_added_on_failure(&outputs,
                                              yk_devices_write_cluster_json(&devices, file));
    }
    return yk_terminal_print_unsaved_result(yk_output_files_write_and_free(&outputs), out);
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)

static const struct yk_option options[] = {
    {YK_OPTION_ROW(
         "list", NULL, NULL,
         "Print the devices and links that yoke knows by name instead, with their datasheet "
         "numbers"),
     YK_OPTION_INIT_FLAG, TO(list)},
    {YK_OPTION_ROW("json", NULL, NULL, "Print JSON: a cluster file"), YK_OPTION_INIT_FLAG,
     TO(json)},
    {YK_OPTION_ROW("output", "FILE", NULL, "Write the cluster file of this machine to FILE"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(output)},
};

static const struct yk_command_example examples[] = {
    {"yoke devices", "See the processors and GPUs of this machine"},
    {"yoke devices --output here.json", "Write them into a cluster file, to plan with or to edit"},
    {"yoke devices --list", "See which devices and links can be named in a cluster"},
};

const struct yk_command yk_command_devices = {
    .name = "devices",
    .summary = "show the devices of this machine, or all that are known by name",
    .description =
        "Looks at the processors, caches and memory of this machine, and at its NVIDIA GPUs if "
        "there is a driver. With --json it prints what it found as a cluster file; without a GPU "
        "that is one device of all cores.",
    YK_COMMAND_BASIC_INITIALIZERS(struct arguments),
    YK_COMMAND_OPTION_TABLE(options),
};
