#include "base/table.h"
#include "base/units.h"
#include "cli/options/command.h"
#include "cluster/discover.h"
#include "job/device.h"
#include "job/library.h"
#include "job/plugin.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct arguments {
    bool json;
};

enum {
    BACKENDS = 2
};

/* A backend on the machine's first device of its kind. */
struct backend_found {
    const char *name;
    struct yk_text words;    /* what it says of the device, or why it cannot be used */
    struct yk_text versions; /* what its times depend on */
    bool usable;
    const char *blas; /* what multiplies matrices */
    bool blas_there;
    char blas_version[YK_LIBRARY_VERSION_SIZE];
};

struct found {
    struct yk_machine machine;
    struct backend_found backends[BACKENDS];
};

static void look_at_backend(bool gpu, struct backend_found *out)
{
    *out = (struct backend_found){
        .name = gpu ? "cuda" : "cpu",
        .blas = gpu ? "cuBLASLt" : "a BLAS",
    };
    out->usable = yk_device_describe(&(struct yk_device_choice){.gpu = gpu}, &out->words,
                                     &out->versions) == YK_OK;
    if (!out->usable) {
        yk_text_free(&out->words);
        yk_text_add(&out->words, yk_status_message());
    }
    out->blas_there = gpu ? yk_library_describe_cublas(out->blas_version)
                          : yk_library_describe_blas(out->blas_version);
}

static void free_found(struct found *found)
{
    for (size_t i = 0; i < BACKENDS; i++) {
        yk_text_free(&found->backends[i].words);
        yk_text_free(&found->backends[i].versions);
    }
}

static yk_status write_table(struct yk_table *table, const char *heading, struct yk_text *out)
{
    yk_text_addf(out, "%s\n", heading);
    const yk_status status = yk_table_write(table, out);
    yk_text_add(out, "\n");
    yk_table_destroy(table);
    return status;
}

static yk_status add_libraries(struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"library", YK_TABLE_LEFT},
        {"version", YK_TABLE_LEFT},
        {"needed for", YK_TABLE_LEFT},
        {"Debian package", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < yk_library_count; i++) {
        const struct yk_library *library = &yk_libraries[i];
        char version[YK_LIBRARY_VERSION_SIZE];
        yk_table_add(table, "%s", library->name);
        if (!yk_library_find(library, version)) {
            yk_table_add(table, "missing");
        } else if (library->compiled) {
            yk_table_add(table, "%s (compiled with %s)", version, library->compiled);
        } else {
            yk_table_add(table, "%s", version);
        }
        yk_table_add(table, "%s", library->needed_for);
        yk_table_add(table, "%s", library->package);
    }
    return write_table(table, "Libraries", out);
}

static yk_status add_plugins(struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"plug-in", YK_TABLE_LEFT},
        {"found", YK_TABLE_LEFT},
        {"needed for", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < yk_plugin_count; i++) {
        char path[YK_PLUGIN_PATH_SIZE];
        yk_table_add(table, "%s", yk_plugins[i].file);
        yk_table_add(table, "%s", yk_plugin_find(&yk_plugins[i], path) ? path : "not installed");
        yk_table_add(table, "%s", yk_plugins[i].needed_for);
    }
    return write_table(table, "Plug-ins", out);
}

static yk_status add_backends(const struct backend_found *backends, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"backend", YK_TABLE_LEFT},
        {"trains on", YK_TABLE_LEFT},
        {"matrix products by", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < BACKENDS; i++) {
        const struct backend_found *backend = &backends[i];
        yk_table_add(table, "%s", backend->name);
        yk_table_add(table, "%s", yk_text_chars(&backend->words));
        yk_table_add(table, "%s", backend->blas_there ? backend->blas_version : backend->blas);
    }
    return write_table(table, "Backends", out);
}

static yk_status add_versions(const struct backend_found *backends, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"backend", YK_TABLE_LEFT},
        {"with", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < BACKENDS; i++) {
        if (backends[i].usable) {
            yk_table_add(table, "%s", backends[i].name);
            yk_table_add(table, "%s", yk_text_chars(&backends[i].versions));
        }
    }
    return write_table(table, "Times that are measured hold for", out);
}

static yk_status add_devices(const struct yk_machine *machine, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"device", YK_TABLE_LEFT},
        {"memory", YK_TABLE_RIGHT},
        {"detail", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    char size[YK_UNITS_SIZE];
    yk_units_format(machine->host.memory_bytes, YK_UNIT_BYTES, size);
    yk_table_add(table, "%s", machine->host.cpu_name);
    yk_table_add(table, "%s", machine->host.memory_bytes > 0 ? size : "unknown");
    yk_table_add(table, "%d cores", machine->host.core_count);
    for (int i = 0; i < machine->gpu_count; i++) {
        const struct yk_nvml_gpu *gpu = &machine->gpus[i];
        yk_units_format(gpu->memory_bytes, YK_UNIT_BYTES, size);
        yk_table_add(table, "%s", gpu->name);
        yk_table_add(table, "%s", size);
        yk_table_add(table, "compute capability %d.%d", gpu->capability_major,
                     gpu->capability_minor);
    }
    return write_table(table, "Devices", out);
}

static yk_status write_text(const struct found *found, struct yk_text *out)
{
    YK_TRY(add_libraries(out));
    YK_TRY(add_plugins(out));
    YK_TRY(add_backends(found->backends, out));
    YK_TRY(add_versions(found->backends, out));
    YK_TRY(add_devices(&found->machine, out));
    yk_text_add(out, "yoke " YOKE_VERSION ", built with " COMPILER "\n");
    return yk_text_status(out);
}

/* ,"key":"words", or null without words. */
static void add_member(struct yk_text *out, const char *key, const char *words)
{
    yk_text_addf(out, ",\"%s\":", key);
    if (words) {
        yk_text_add_json(out, words);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_library_objects(struct yk_text *out)
{
    for (size_t i = 0; i < yk_library_count; i++) {
        const struct yk_library *library = &yk_libraries[i];
        char version[YK_LIBRARY_VERSION_SIZE];
        yk_text_add(out, i > 0 ? ",\n  {\"name\":" : "\n  {\"name\":");
        yk_text_add_json(out, library->name);
        add_member(out, "version", yk_library_find(library, version) ? version : NULL);
        if (library->compiled) {
            add_member(out, "compiled", library->compiled);
        }
        add_member(out, "needed_for", library->needed_for);
        add_member(out, "package", library->package);
        yk_text_add(out, "}");
    }
}

static void add_plugin_objects(struct yk_text *out)
{
    for (size_t i = 0; i < yk_plugin_count; i++) {
        char path[YK_PLUGIN_PATH_SIZE];
        yk_text_add(out, i > 0 ? ",\n  {\"name\":" : "\n  {\"name\":");
        yk_text_add_json(out, yk_plugins[i].file);
        add_member(out, "path", yk_plugin_find(&yk_plugins[i], path) ? path : NULL);
        add_member(out, "needed_for", yk_plugins[i].needed_for);
        yk_text_add(out, "}");
    }
}

static void add_backend_objects(const struct backend_found *backends, struct yk_text *out)
{
    for (size_t i = 0; i < BACKENDS; i++) {
        const struct backend_found *backend = &backends[i];
        yk_text_add(out, i > 0 ? ",\n  {\"name\":" : "\n  {\"name\":");
        yk_text_add_json(out, backend->name);
        add_member(out, "device", backend->usable ? yk_text_chars(&backend->words) : NULL);
        if (!backend->usable) {
            add_member(out, "trouble", yk_text_chars(&backend->words));
        }
        add_member(out, "blas", backend->blas_there ? backend->blas_version : NULL);
        add_member(out, "versions", backend->usable ? yk_text_chars(&backend->versions) : NULL);
        yk_text_add(out, "}");
    }
}

static void add_device_objects(const struct yk_machine *machine, struct yk_text *out)
{
    yk_text_add(out, "\n  {\"kind\":\"cpu\"");
    add_member(out, "name", machine->host.cpu_name);
    yk_text_addf(out, ",\"cores\":%d,\"memory_bytes\":%.0f}", machine->host.core_count,
                 machine->host.memory_bytes);
    for (int i = 0; i < machine->gpu_count; i++) {
        const struct yk_nvml_gpu *gpu = &machine->gpus[i];
        yk_text_add(out, ",\n  {\"kind\":\"gpu\"");
        add_member(out, "name", gpu->name);
        yk_text_addf(out, ",\"compute_capability\":\"%d.%d\",\"memory_bytes\":%.0f}",
                     gpu->capability_major, gpu->capability_minor, gpu->memory_bytes);
    }
}

static yk_status write_json(const struct found *found, struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"doctor\"");
    add_member(out, "version", YOKE_VERSION);
    add_member(out, "compiler", COMPILER);
    yk_text_add(out, ",\n \"libraries\":[");
    add_library_objects(out);
    yk_text_add(out, "],\n \"plugins\":[");
    add_plugin_objects(out);
    yk_text_add(out, "],\n \"backends\":[");
    add_backend_objects(found->backends, out);
    yk_text_add(out, "],\n \"devices\":[");
    add_device_objects(&found->machine, out);
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct found found = {0};
    YK_TRY(yk_discover(NULL, &found.machine));
    /* First of all: a library that a plug-in has found by a path of its own is there. */
    look_at_backend(false, &found.backends[0]);
    look_at_backend(true, &found.backends[1]);
    const yk_status status = arguments->json ? write_json(&found, out) : write_text(&found, out);
    free_found(&found);
    return status;
}

static const struct yk_option options[] = {
    {
        .name = "json",
        .help = "Print JSON",
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
};

static const struct yk_example examples[] = {
    {"yoke doctor", "See what this machine offers and what is missing"},
    {NULL, NULL},
};

const struct yk_command yk_command_doctor = {
    .name = "doctor",
    .summary = "show what this machine offers and what is missing",
    .description = "Lists the libraries yoke can use with their versions, its plug-ins, what it "
                   "can train on, and the devices of this machine. Planning, and training on the "
                   "CPU, need none of those that may be missing.",
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
