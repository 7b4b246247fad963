#include "job/machine/doctor.h"
#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cli/options/command.h"

#include <stdio.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct arguments {
    bool json;
};

static yk_status write_table(struct yk_text_table *table, const char *heading, struct yk_text *out)
{
    yk_text_addf(out, "%s\n", heading);
    const yk_status status = yk_text_table_write_and_destroy(table, out);
    yk_text_add(out, "\n");
    return status;
}

static yk_status add_libraries(const struct yk_doctor_result *found, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"library", YK_TEXT_TABLE_LEFT},
        {"version", YK_TEXT_TABLE_LEFT},
        {"needed for", YK_TEXT_TABLE_LEFT},
        {"Debian package", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < found->library_count; i++) {
        const struct yk_doctor_library *row = &found->libraries[i];
        yk_text_table_add_cell(table, "%s", row->name);
        yk_text_table_add_cell(table,
                               !row->found     ? "missing"
                               : row->compiled ? "%s (compiled with %s)"
                                               : "%s",
                               row->version, row->compiled);
        yk_text_table_add_cell(table, "%s", row->needed_for);
        yk_text_table_add_cell(table, "%s", row->package);
    }
    return write_table(table, "Libraries", out);
}

static yk_status add_plugins(const struct yk_doctor_result *found, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"plug-in", YK_TEXT_TABLE_LEFT},
        {"found", YK_TEXT_TABLE_LEFT},
        {"needed for", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < found->plugin_count; i++) {
        const struct yk_doctor_plugin *row = &found->plugins[i];
        yk_text_table_add_cell(table, "%s", row->plugin->file);
        yk_text_table_add_cell(table, "%s", row->found ? row->path : "not installed");
        yk_text_table_add_cell(table, "%s", row->plugin->needed_for);
    }
    return write_table(table, "Plug-ins", out);
}

static yk_status add_backends(const struct yk_doctor_backend *backends, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"backend", YK_TEXT_TABLE_LEFT},
        {"trains on", YK_TEXT_TABLE_LEFT},
        {"matrix products by", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < YK_DOCTOR_BACKEND_COUNT; i++) {
        const struct yk_doctor_backend *backend = &backends[i];
        yk_text_table_add_cell(table, "%s", backend->name);
        yk_text_table_add_cell(table, "%s", yk_text_chars(&backend->device));
        yk_text_table_add_cell(table, "%s",
                               backend->blas_found ? backend->blas_version : backend->blas);
    }
    return write_table(table, "Backends", out);
}

static yk_status add_versions(const struct yk_doctor_backend *backends, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"backend", YK_TEXT_TABLE_LEFT},
        {"with", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < YK_DOCTOR_BACKEND_COUNT; i++) {
        if (backends[i].usable) {
            yk_text_table_add_cell(table, "%s", backends[i].name);
            yk_text_table_add_cell(table, "%s", yk_text_chars(&backends[i].versions));
        }
    }
    return write_table(table, "Times that are measured hold for", out);
}

static yk_status add_devices(const struct yk_machine *machine, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"device", YK_TEXT_TABLE_LEFT},
        {"memory", YK_TEXT_TABLE_RIGHT},
        {"detail", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    yk_text_table_add_cell(table, "%s", machine->host.cpu_name);
    yk_text_table_add_cell(
        table, "%s",
        machine->host.memory_bytes > 0
            ? YK_UNITS_FORMAT_TEMPORARY(machine->host.memory_bytes, YK_UNIT_BYTES)
            : "unknown");
    yk_text_table_add_cell(table, "%d cores", machine->host.core_count);
    for (int i = 0; i < machine->gpu_count; i++) {
        const struct yk_nvml_gpu *gpu = &machine->gpus[i];
        yk_text_table_add_cell(table, "%s", gpu->name);
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY(gpu->memory_bytes, YK_UNIT_BYTES));
        yk_text_table_add_cell(table, "compute capability %d.%d", gpu->capability_major,
                               gpu->capability_minor);
    }
    return write_table(table, "Devices", out);
}

static yk_status write_text(const struct yk_doctor_result *found, struct yk_text *out)
{
    YK_TRY(add_libraries(found, out));
    YK_TRY(add_plugins(found, out));
    YK_TRY(add_backends(found->backends, out));
    YK_TRY(add_versions(found->backends, out));
    YK_TRY(add_devices(&found->machine, out));
    yk_text_add(out, "yoke " YOKE_VERSION ", built with " COMPILER "\n");
    return yk_text_status(out);
}

static void write_libraries(const struct yk_doctor_result *found, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "libraries");
    for (size_t i = 0; i < found->library_count; i++) {
        const struct yk_doctor_library *row = &found->libraries[i];
        yk_json_write_begin_object_on_new_line(json, 2);
        yk_json_write_string(json, "name", row->name);
        yk_json_write_string(json, "version", row->found ? row->version : NULL);
        if (row->compiled) {
            yk_json_write_string(json, "compiled", row->compiled);
        }
        yk_json_write_string(json, "needed_for", row->needed_for);
        yk_json_write_string(json, "package", row->package);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void write_plugins(const struct yk_doctor_result *found, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "plugins");
    for (size_t i = 0; i < found->plugin_count; i++) {
        const struct yk_doctor_plugin *row = &found->plugins[i];
        yk_json_write_begin_object_on_new_line(json, 2);
        yk_json_write_string(json, "name", row->plugin->file);
        yk_json_write_string(json, "path", row->found ? row->path : NULL);
        yk_json_write_string(json, "needed_for", row->plugin->needed_for);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void write_backends(const struct yk_doctor_result *found, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "backends");
    for (size_t i = 0; i < YK_DOCTOR_BACKEND_COUNT; i++) {
        const struct yk_doctor_backend *backend = &found->backends[i];
        const char *device = yk_text_chars(&backend->device);
        const char *versions = yk_text_chars(&backend->versions);
        yk_json_write_begin_object_on_new_line(json, 2);
        yk_json_write_string(json, "name", backend->name);
        yk_json_write_string(json, "device", backend->usable ? device : NULL);
        if (!backend->usable) {
            yk_json_write_string(json, "failure", device);
        }
        yk_json_write_string(json, "blas", backend->blas_found ? backend->blas_version : NULL);
        yk_json_write_string(json, "versions", backend->usable ? versions : NULL);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void write_gpu(const struct yk_nvml_gpu *gpu, struct yk_json_writer *json)
{
    char capability[32];
    (void)snprintf(capability, sizeof capability, "%d.%d", gpu->capability_major,
                   gpu->capability_minor);
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "kind", "gpu");
    yk_json_write_string(json, "name", gpu->name);
    yk_json_write_string(json, "compute_capability", capability);
    yk_json_write_integer(json, "memory_bytes", (int64_t)gpu->memory_bytes);
    yk_json_write_end_object(json);
}

static void write_devices(const struct yk_machine *machine, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "devices");
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "kind", "cpu");
    yk_json_write_string(json, "name", machine->host.cpu_name);
    yk_json_write_integer(json, "cores", machine->host.core_count);
    yk_json_write_integer(json, "memory_bytes", (int64_t)machine->host.memory_bytes);
    yk_json_write_end_object(json);
    for (int i = 0; i < machine->gpu_count; i++) {
        write_gpu(&machine->gpus[i], json);
    }
    yk_json_write_end_array(json);
}

static yk_status write_json(const struct yk_doctor_result *found, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "doctor");
    yk_json_write_string(&json, "version", YOKE_VERSION);
    yk_json_write_string(&json, "compiler", COMPILER);
    write_libraries(found, &json);
    write_plugins(found, &json);
    write_backends(found, &json);
    write_devices(&found->machine, &json);
    return yk_json_write_end_yoke_document(&json);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_doctor_result found = {0};
    yk_status status = yk_doctor_run(&found);
    YK_IF_OK(arguments->json ? write_json(&found, out) : write_text(&found, out));
    yk_doctor_result_free(&found);
    return status;
}

static const struct yk_option options[] = {
    {YK_OPTION_ROW("json", NULL, NULL, "Print JSON"), YK_OPTION_INIT_FLAG,
     YK_OPTION_OFFSET_OF(struct arguments, json)},
};

static const struct yk_command_example examples[] = {
    {"yoke doctor", "See what this machine offers and what is missing"},
};

const struct yk_command yk_command_doctor = {
    .name = "doctor",
    .summary = "show what this machine offers and what is missing",
    .description = "Lists the libraries yoke can use with their versions, its plug-ins, what it "
                   "can train on, and the devices of this machine. Planning, and training on the "
                   "CPU, need none of those that may be missing.",
    YK_COMMAND_BASIC_INITIALIZERS(struct arguments),
    YK_COMMAND_OPTION_TABLE(options),
};
