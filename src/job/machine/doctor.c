#include "job/machine/doctor.h"

#include "job/device.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct dependency {
    const char *name;
    const char *needed_for;
    const char *package;
    const char *files; /* names to try, newest first, with spaces between them */
    const char *compiled;
    const char *symbol; /* a function that returns the version as text; NULL: call `version` */
    /* Writes the version of the loaded library; false: the library does not report it. NULL, as
     * `symbol`: no library of this kind does. */
    bool (*version)(void *handle, char out[YK_DOCTOR_VERSION_SIZE]);
};

/* The first of the files that loads, or NULL. */
static void *load(const char *files)
{
    void *handle = NULL;
    while (*files && !handle) {
        char name[64];
        const size_t length = strcspn(files, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, files);
        handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        files += length + strspn(files + length, " ");
    }
    return handle;
}

/* Points `function`, the address of a function pointer, at the library's function. */
static bool find_symbol(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address;
}

/* The first `length` characters of `words`, as far as they fit. */
static bool copy_version(const char *words, size_t length, char out[YK_DOCTOR_VERSION_SIZE])
{
    snprintf(out, YK_DOCTOR_VERSION_SIZE, "%.*s", (int)length, words);
    return length > 0;
}

/* The word that begins with the first digit: "OpenBLAS 0.3.21 DYNAMIC_ARCH" is 0.3.21. */
static bool copy_first_number(const char *words, char out[YK_DOCTOR_VERSION_SIZE])
{
    const char *digits = words + strcspn(words, "0123456789");
    return copy_version(digits, strcspn(digits, " ,;\n"), out);
}

/* For libraries with a function that takes nothing and returns the version among other words. */
static bool ask_for_text(void *handle, const char *name, char out[YK_DOCTOR_VERSION_SIZE])
{
    const char *(*ask)(void) = NULL;
    if (!find_symbol(handle, name, &ask)) {
        return false;
    }
    const char *answer = ask();
    return answer && copy_first_number(answer, out);
}

static bool hwloc_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    unsigned (*ask)(void) = NULL;
    if (!find_symbol(handle, "hwloc_get_api_version", &ask)) {
        return false;
    }
    const unsigned version = ask();
    snprintf(out, YK_DOCTOR_VERSION_SIZE, "API %u.%u", version >> 16, version >> 8 & 0xff);
    return true;
}

static bool mpi_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    int (*ask)(char *, int *) = NULL;
    char answer[8192 + 1] = ""; /* the largest MPI_MAX_LIBRARY_VERSION_STRING around */
    int length = 0;
    return find_symbol(handle, "MPI_Get_library_version", &ask) && ask(answer, &length) == 0 &&
           copy_first_number(answer, out);
}

static bool pcre2_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    const uint32_t config_version = 11; /* PCRE2_CONFIG_VERSION */
    int (*ask)(uint32_t, void *) = NULL;
    char answer[64] = "";
    return find_symbol(handle, "pcre2_config_8", &ask) && ask(config_version, answer) > 0 &&
           copy_first_number(answer, out);
}

static bool png_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    const char *(*ask)(const void *) = NULL;
    const char *answer = find_symbol(handle, "png_get_libpng_ver", &ask) ? ask(NULL) : NULL;
    return answer && copy_first_number(answer, out);
}

static bool cuda_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    int (*ask)(int *) = NULL;
    int version = 0;
    if (!find_symbol(handle, "cuDriverGetVersion", &ask) || ask(&version) != 0) {
        return false;
    }
    snprintf(out, YK_DOCTOR_VERSION_SIZE, "%d.%d", version / 1000, version % 1000 / 10);
    return true;
}

static bool nvml_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    int (*begin)(void) = NULL;
    int (*ask)(char *, unsigned) = NULL;
    return find_symbol(handle, "nvmlInit_v2", &begin) &&
           find_symbol(handle, "nvmlSystemGetNVMLVersion", &ask) && begin() == 0 &&
           ask(out, YK_DOCTOR_VERSION_SIZE) == 0;
}

static bool cublas_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    int (*ask)(int, int *) = NULL; /* 0 major, 1 minor, 2 patch level */
    int parts[3] = {0};
    if (!find_symbol(handle, "cublasLtGetProperty", &ask)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (ask(i, &parts[i]) != 0) {
            return false;
        }
    }
    snprintf(out, YK_DOCTOR_VERSION_SIZE, "%d.%d.%d", parts[0], parts[1], parts[2]);
    return true;
}

static bool cudnn_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    size_t (*ask)(void) = NULL;
    if (!find_symbol(handle, "cudnnGetVersion", &ask)) {
        return false;
    }
    const size_t version = ask();
    snprintf(out, YK_DOCTOR_VERSION_SIZE, "%zu.%zu.%zu", version / 10000, version / 100 % 100,
             version % 100);
    return true;
}

static bool nccl_version(void *handle, char out[YK_DOCTOR_VERSION_SIZE])
{
    int (*ask)(int *) = NULL;
    int version = 0;
    if (!find_symbol(handle, "ncclGetVersion", &ask) || ask(&version) != 0) {
        return false;
    }
    snprintf(out, YK_DOCTOR_VERSION_SIZE, "%d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    return true;
}

/* The version of a header comes from the build: the headers of others stay in the folders that wrap
 * them. */
static const struct dependency dependencies[] = {
    {"jansson", "reading JSON", "libjansson4", "libjansson.so.4", .compiled = YOKE_JANSSON_VERSION,
     .symbol = "jansson_version_str"},
    {"hwloc", "cores and memory of this machine", "libhwloc15", "libhwloc.so.15",
     .version = hwloc_version},
    {"OpenBLAS", "training on CPUs", "libopenblas0", "libopenblas.so.0",
     .symbol = "openblas_get_config"},
    {"Open MPI", "training on several machines", "libopenmpi3", "libmpi.so.40",
     .version = mpi_version},
    {"CBC", "exact plans", "coinor-libcbc3", "libCbcSolver.so.3", .symbol = "Cbc_getVersion"},
    {"SQLite", "measured profiles", "libsqlite3-0", "libsqlite3.so.0",
     .symbol = "sqlite3_libversion"},
    {"PCRE2", "tokens of text", "libpcre2-8-0", "libpcre2-8.so.0", .version = pcre2_version},
    {"utf8proc", "tokens of text", "libutf8proc2", "libutf8proc.so.3 libutf8proc.so.2",
     .symbol = "utf8proc_version"},
    {"zlib", "gzip data", "zlib1g", "libz.so.1", .symbol = "zlibVersion"},
    {"libpng", "PNG pictures", "libpng16-16", "libpng16.so.16", .version = png_version},
    {"libjpeg-turbo", "JPEG pictures", "libjpeg62-turbo", "libjpeg.so.62 libjpeg.so.8",
     .version = NULL},
    {"CUDA driver", "training on NVIDIA GPUs", "libcuda1", "libcuda.so.1", .version = cuda_version},
    {"NVML", "finding NVIDIA GPUs", "libnvidia-ml1", "libnvidia-ml.so.1", .version = nvml_version},
    {"cuBLASLt", "training on NVIDIA GPUs", "libcublaslt11",
     "libcublasLt.so.13 libcublasLt.so.12 libcublasLt.so.11", .version = cublas_version},
    {"cuDNN", "attention on NVIDIA GPUs", "libcudnn9-cuda-13", "libcudnn.so.9",
     .version = cudnn_version},
    {"NCCL", "several NVIDIA GPUs", "libnccl2", "libnccl.so.2", .version = nccl_version},
};
static const size_t dependency_count = sizeof dependencies / sizeof dependencies[0];

static bool find_dependency(const struct dependency *library, char out[YK_DOCTOR_VERSION_SIZE])
{
    void *handle = load(library->files);
    if (!handle) {
        return false;
    }
    const bool known = library->symbol ? ask_for_text(handle, library->symbol, out)
                                       : library->version && library->version(handle, out);
    if (!known) {
        snprintf(out, YK_DOCTOR_VERSION_SIZE, "unknown version");
    }
    return true;
}

/* "OpenBLAS 0.3.21, kernels for neoversen1": what multiplies matrices on CPUs. */
static bool describe_blas(char out[YK_DOCTOR_VERSION_SIZE])
{
    void *handle = load("libopenblas.so.0");
    const char *(*ask_core)(void) = NULL;
    char version[YK_DOCTOR_VERSION_SIZE] = "";
    if (!handle || !ask_for_text(handle, "openblas_get_config", version)) {
        return false;
    }
    const char *core = find_symbol(handle, "openblas_get_corename", &ask_core) ? ask_core() : NULL;
    snprintf(out, YK_DOCTOR_VERSION_SIZE, "OpenBLAS %.20s%s%.20s", version,
             core ? ", kernels for " : "", core ? core : "");
    return true;
}

/* "cuBLASLt 13.1.0", on NVIDIA GPUs. */
static bool describe_cublas(char out[YK_DOCTOR_VERSION_SIZE])
{
    char version[YK_DOCTOR_VERSION_SIZE] = "";
    for (size_t i = 0; i < dependency_count; i++) {
        const struct dependency *library = &dependencies[i];
        if (library->version == cublas_version && find_dependency(library, version)) {
            snprintf(out, YK_DOCTOR_VERSION_SIZE, "%s %.30s", library->name, version);
            return true;
        }
    }
    return false;
}

static void try_backend(bool gpu, struct yk_doctor_backend *out)
{
    out->name = gpu ? "cuda" : "cpu";
    out->blas = gpu ? "cuBLASLt" : "a BLAS";
    out->usable = yk_device_describe(&(struct yk_device_choice){.gpu = gpu}, &out->device,
                                     &out->versions) == YK_OK;
    if (!out->usable) {
        yk_text_free(&out->device);
        yk_text_add(&out->device, yk_status_message());
    }
    out->blas_found = gpu ? describe_cublas(out->blas_version) : describe_blas(out->blas_version);
}

static void find_libraries(struct yk_doctor_result *result)
{
    assert(dependency_count <= YK_DOCTOR_MAX_LIBRARIES);
    result->library_count = dependency_count;
    for (size_t i = 0; i < dependency_count; i++) {
        struct yk_doctor_library *row = &result->libraries[i];
        row->name = dependencies[i].name;
        row->needed_for = dependencies[i].needed_for;
        row->package = dependencies[i].package;
        row->compiled = dependencies[i].compiled;
        row->found = find_dependency(&dependencies[i], row->version);
    }
}

static void find_plugins(struct yk_doctor_result *result)
{
    assert(yk_plugin_count <= YK_DOCTOR_MAX_PLUGINS);
    result->plugin_count = yk_plugin_count;
    for (size_t i = 0; i < yk_plugin_count; i++) {
        struct yk_doctor_plugin *row = &result->plugins[i];
        row->plugin = &yk_plugins[i];
        row->found = yk_plugin_find_file(row->plugin->file, row->path);
    }
}

yk_status yk_doctor_run(struct yk_doctor_result *out)
{
    YK_TRY(yk_discover_machine(NULL, &out->machine));
    /* Before libraries: one that a plug-in has found by a path of its own is there. */
    try_backend(false, &out->backends[0]);
    try_backend(true, &out->backends[1]);
    find_libraries(out);
    find_plugins(out);
    return YK_OK;
}

void yk_doctor_result_free(struct yk_doctor_result *result)
{
    for (size_t i = 0; i < YK_DOCTOR_BACKEND_COUNT; i++) {
        yk_text_free(&result->backends[i].device);
        yk_text_free(&result->backends[i].versions);
    }
}
