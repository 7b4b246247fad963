#include "job/device.h"

#include "backend/backend.h"
#include "base/number.h"
#include "cluster/discover.h"
#include "cluster/mps.h"
#include "cluster/visible_devices.h"
#include "job/plugin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PATH_SIZE = 4096,
    MAX_GPUS = 1024,
};

#define MIB (1024.0 * 1024.0)

#define VISIBLE "CUDA_VISIBLE_DEVICES"
#define PLUGIN_FILE "yoke-cuda.so"

static const char no_plugin[] =
    "yoke was built without " PLUGIN_FILE "; build it where the CUDA toolkit is installed (nvcc, "
    "with cuBLAS and, for attention, cuDNN)";

static yk_status choose_best(struct yk_device_choice *out)
{
    struct yk_machine machine;
    char path[YK_PLUGIN_PATH_SIZE];
    *out = (struct yk_device_choice){0};
    if (yk_plugin_find_file(PLUGIN_FILE, path)) {
        YK_TRY(yk_discover_machine(NULL, &machine));
        out->gpu = yk_visible_devices_driver_index(machine.gpus, machine.gpu_count, 0) >= 0;
        out->automatic = out->gpu;
    }
    return YK_OK;
}

static bool read_number(const char *word, int64_t *out)
{
    return yk_number_parse_integer(word, strlen(word), out) && *out >= 0 && *out < MAX_GPUS;
}

yk_status yk_device_resolve_option(const char *word, struct yk_device_choice *out)
{
    static const char gpu[] = "cuda";
    char path[YK_PLUGIN_PATH_SIZE];
    int64_t number = 0;
    if (!word || strcmp(word, "auto") == 0) {
        return choose_best(out);
    }
    *out = (struct yk_device_choice){0};
    if (strcmp(word, "cpu") == 0) {
        return YK_OK;
    }
    const char *rest = word + sizeof gpu - 1;
    if (strncmp(word, gpu, sizeof gpu - 1) != 0 ||
        (*rest != '\0' && (*rest != ':' || !read_number(rest + 1, &number)))) {
        return yk_fail(YK_ERROR_USAGE, "--device %s: cpu, cuda, cuda:1 and the like, or auto",
                       word);
    }
    if (!yk_plugin_find_file(PLUGIN_FILE, path)) {
        return yk_fail(YK_ERROR_SYSTEM, "--device %s: %s", word, no_plugin);
    }
    *out = (struct yk_device_choice){.gpu = true, .number = (int32_t)number};
    return YK_OK;
}

yk_status yk_device_count_gpus(int32_t *out)
{
    struct yk_machine machine;
    YK_TRY(yk_discover_machine(NULL, &machine));
    *out = 0;
    while (yk_visible_devices_driver_index(machine.gpus, machine.gpu_count, *out) >= 0) {
        ++*out;
    }
    return YK_OK;
}

/* GPUs are planned for by the driver's numbers, which CUDA's own need not be. */
static void number_as_the_driver(void)
{
    (void)setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
}

/* What CUDA shows as its device `number`. */
static yk_status find_gpu(int32_t number, struct yk_machine *machine, struct yk_visible_device *out)
{
    const char *listed = getenv(VISIBLE);
    YK_TRY(yk_discover_machine(NULL, machine));
    if (machine->gpu_count == 0) {
        return yk_fail(YK_ERROR_SYSTEM, "%s",
                       machine->note ? machine->note : "no GPU: the driver finds none");
    }
    *out = yk_visible_devices_find_gpu(listed, machine->gpus, machine->gpu_count, number);
    if (out->gpu >= 0) {
        return YK_OK;
    }
    if (listed) {
        return yk_fail(YK_ERROR_INPUT,
                       "there is no GPU %d for this process: " VISIBLE " is \"%s\", and the driver "
                       "knows of %d",
                       (int)number, listed, machine->gpu_count);
    }
    return yk_fail(YK_ERROR_INPUT, "there is no GPU %d here: they are numbered from 0 to %d",
                   (int)number, machine->gpu_count - 1);
}

/* Which part of the GPU this process has, of its multiprocessors and of its memory: that of an
 * instance (MIG), of a client (MPS), or all of it. */
static double find_part(int32_t number, const struct yk_nvml_gpu *gpu, int instance,
                        double *memory_bytes)
{
    const struct yk_nvml_mig_instance *cut = instance >= 0 ? &gpu->instances[instance] : NULL;
    const struct yk_mps_environment words = yk_mps_read_environment();
    const int whole = cut ? cut->sm_count : gpu->sm_count;
    const double of_gpu = cut && cut->sm_count > 0 && gpu->sm_count > cut->sm_count
                              ? (double)cut->sm_count / gpu->sm_count
                              : 1;
    struct yk_mps_cuda_driver driver;
    *memory_bytes =
        yk_mps_memory_limit_bytes(&words, number, cut ? cut->memory_bytes : gpu->memory_bytes);
    number_as_the_driver();
    return of_gpu * yk_mps_sm_fraction(yk_mps_load_cuda_driver(&driver) ? &driver : NULL, &words,
                                       number, whole);
}

yk_status yk_device_gpu_as_cluster_option(int32_t number, struct yk_arena *arena, const char **out)
{
    struct yk_machine machine;
    struct yk_visible_device visible = {-1, -1};
    struct yk_text line = {0};
    YK_TRY(find_gpu(number, &machine, &visible));
    const struct yk_nvml_gpu *gpu = &machine.gpus[visible.gpu];
    const struct yk_datasheet *sheet = yk_discover_find_datasheet(gpu->name);
    if (!sheet) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has no datasheet in yoke to plan with; describe it with: yoke devices "
                       "--output here.json, and train with --cluster here.json",
                       gpu->name);
    }
    double memory_bytes = 0;
    const double part = find_part(number, gpu, visible.instance, &memory_bytes);
    yk_text_add(&line, sheet->name);
    if (part < 1) {
        yk_text_addf(&line, ":%.1f%%", 100.0 * part);
    }
    yk_text_addf(&line, ":%.0fMiB", memory_bytes / MIB - 0.5);
    return yk_text_move_to_arena(&line, arena, out);
}

/* Path of the cache file of matrix product algorithms; false if there is no cache folder. */
static bool find_products(char out[PATH_SIZE])
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char folder[PATH_SIZE];
    int length = 0;
    if (cache && cache[0] == '/') {
        length = snprintf(folder, sizeof folder, "%s", cache);
    } else if (home && home[0] == '/') {
        length = snprintf(folder, sizeof folder, "%s/.cache", home);
    }
    if (length <= 0 || length >= (int)sizeof folder) {
        return false;
    }
    (void)mkdir(folder, 0777);
    const int first = snprintf(out, PATH_SIZE, "%s/yoke", folder);
    if (first >= PATH_SIZE) {
        return false;
    }
    (void)mkdir(out, 0777);
    return snprintf(out, PATH_SIZE, "%s/yoke/cuda-products.txt", folder) < PATH_SIZE;
}

static yk_status find_backend(const struct yk_device_choice *choice, const struct yk_backend **out)
{
    char plugin[YK_PLUGIN_PATH_SIZE];
    if (!choice->gpu) {
        *out = &yk_backend_cpu;
        return YK_OK;
    }
    number_as_the_driver();
    return yk_plugin_find_file(PLUGIN_FILE, plugin) ? yk_backend_load_plugin(plugin, out)
                                                    : yk_fail(YK_ERROR_SYSTEM, "%s", no_plugin);
}

yk_status yk_device_describe(const struct yk_device_choice *choice, struct yk_text *out,
                             struct yk_text *versions)
{
    const struct yk_backend_device_options options = {.index = choice->number};
    const struct yk_backend *backend = NULL;
    struct yk_backend_device *device = NULL;
    YK_TRY(find_backend(choice, &backend));
    YK_TRY(backend->open(&options, &device));
    backend->describe(device, out);
    backend->versions(device, versions);
    backend->close(device);
    return yk_text_status(out);
}

static yk_status open_engine(const struct yk_device_choice *choice,
                             const struct yk_backend_device_options *options,
                             struct yk_device_context *out)
{
    char products[PATH_SIZE];
    struct yk_backend_device_options filled = *options;
    YK_TRY(find_backend(choice, &out->backend));
    if (choice->gpu) {
        const struct yk_mps_environment words = yk_mps_read_environment();
        const double allowed = yk_mps_memory_limit_bytes(&words, choice->number, INFINITY);
        filled.index = choice->number;
        filled.memory_bytes = isinf(allowed) ? 0 : (size_t)allowed;
        filled.matmul_cache_path = find_products(products) ? products : NULL;
    }
    YK_TRY(out->backend->open(&filled, &out->device));
    return out->backend->lane_create(out->device, "load", &out->lane);
}

yk_status yk_device_open_context(const struct yk_device_choice *choice,
                                 const struct yk_backend_device_options *options,
                                 struct yk_device_context *out)
{
    const yk_status status = open_engine(choice, options, out);
    return status != YK_OK && choice->automatic
               ? yk_fail(status, "%s; --device cpu does without", yk_status_message())
               : status;
}

void yk_device_close_context(struct yk_device_context *context)
{
    if (context->backend) {
        context->backend->lane_destroy(context->lane);
        context->backend->close(context->device);
    }
    *context = (struct yk_device_context){0};
}
