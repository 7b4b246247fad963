/* The backend's table, and a device from its opening to its end. */
#include "backend/cuda/attend_cudnn.h"
#include "backend/cuda/device.h"
#include "backend/cuda/products.h"
#include "backend/cuda/replay.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPARED_MOST = 12, /* one SM of so many is left to messages, and no more */
};

yk_status yk_cuda_fail(const struct yk_backend_device *device, cudaError_t error, const char *doing)
{
    const bool lost = error == cudaErrorDevicesUnavailable || error == cudaErrorNoDevice ||
                      error == cudaErrorECCUncorrectable;
    return yk_fail(lost ? YK_ERROR_LOST : YK_ERROR_SYSTEM, "GPU %d (%s), %s: %s",
                   (int)device->number, device->name, doing, cudaGetErrorString(error));
}

void yk_cuda_enter(const struct yk_backend_device *device)
{
    (void)cudaSetDevice(device->number);
}

struct yk_cuda_attention **yk_cuda_attention_of(struct yk_backend_device *device)
{
    return &device->attention;
}

static yk_status read_choice(const char *word, enum yk_cuda_attention_choice *out)
{
    if (!word || strcmp(word, "best") == 0) {
        *out = YK_CUDA_ATTENTION_BEST;
    } else if (strcmp(word, "cudnn") == 0) {
        *out = YK_CUDA_ATTENTION_CUDNN;
    } else if (strcmp(word, "own") == 0) {
        *out = YK_CUDA_ATTENTION_OWN;
    } else {
        return yk_fail(YK_ERROR_USAGE, "there is no attention \"%s\": best, cudnn or own", word);
    }
    return YK_OK;
}

static yk_status count_devices(int32_t number)
{
    int count = 0;
    int driver = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess) {
        return driver == 0
                   ? yk_fail(YK_ERROR_SYSTEM, "no GPU can be used here: there is no NVIDIA driver")
                   : yk_fail(YK_ERROR_SYSTEM,
                             "no GPU can be used here: the driver is for CUDA %d.%d, yoke was "
                             "built with %d.%d; install a newer driver",
                             driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                             CUDART_VERSION % 1000 / 10);
    }
    if (error != cudaSuccess || count == 0) {
        return yk_fail(YK_ERROR_SYSTEM, "no GPU can be used here: %s",
                       error == cudaSuccess ? "the driver finds none" : cudaGetErrorString(error));
    }
    if (number < 0 || number >= count) {
        return yk_fail(YK_ERROR_INPUT, "there is no GPU %d here: they are numbered from 0 to %d",
                       (int)number, count - 1);
    }
    return YK_OK;
}

/* Kernels that fill all SMs take a second turn while a message holds some of them. */
static yk_status read_spare(int32_t processors, int32_t messages, int32_t *out)
{
    const char *words = getenv("YOKE_SPARE_SMS");
    int64_t spare = messages * SPARED_MOST <= processors ? messages : 0;
    if (words && *words &&
        (!yk_number_read_integer(words, strlen(words), &spare) || spare < 0 ||
         spare >= processors)) {
        return yk_fail(YK_ERROR_INPUT,
                       "YOKE_SPARE_SMS=%s must be a whole number from 0 to %d: how many of the "
                       "GPU's %d SMs are left to messages",
                       words, (int)processors - 1, (int)processors);
    }
    *out = (int32_t)spare;
    return YK_OK;
}

static yk_status look_at(struct yk_backend_device *device, int32_t messages)
{
    struct cudaDeviceProp facts;
    const cudaError_t error = cudaGetDeviceProperties(&facts, device->number);
    if (error != cudaSuccess) {
        return yk_cuda_fail(device, error, "asking what it is");
    }
    (void)snprintf(device->name, sizeof device->name, "%s", facts.name);
    device->memory_bytes = facts.totalGlobalMem;
    int32_t spare = 0;
    if (messages > 0) {
        YK_TRY(read_spare(facts.multiProcessorCount, messages, &spare));
    }
    device->chip = (struct yk_cuda_chip){
        .processors = facts.multiProcessorCount - spare,
        .spare = spare,
        .capability = facts.major * 10 + facts.minor,
        .shared_bytes = facts.sharedMemPerBlockOptin,
        .cache_bytes = (size_t)facts.l2CacheSize,
    };
    return YK_OK;
}

static void close_device(struct yk_backend_device *device)
{
    if (device) {
        yk_cuda_enter(device);
        yk_cuda_attention_destroy(device->attention);
        yk_cuda_products_destroy(device->products);
        yk_cuda_clock_close(device);
        free(device);
    }
}

static yk_status open_device(const struct yk_backend_options *options,
                             struct yk_backend_device **out)
{
    YK_TRY(count_devices(options->number));
    struct yk_backend_device *device = calloc(1, sizeof *device);
    if (!device) {
        return yk_fail_out_of_memory();
    }
    device->number = options->number;
    device->allowed_bytes = options->memory_bytes;
    device->side_streams = options->side_streams;
    device->graphs = options->graphs;
    yk_status status = read_choice(options->attention, &device->attention_choice);
    if (status == YK_OK) {
        const cudaError_t error = cudaSetDevice(device->number);
        status = error == cudaSuccess ? YK_OK : yk_cuda_fail(device, error, "taking it");
    }
    if (status == YK_OK) {
        status = look_at(device, options->messages);
    }
    if (status == YK_OK) {
        status = yk_cuda_clock_open(device);
    }
    if (status == YK_OK) {
        status = yk_cuda_products_create(device, options->products, &device->products);
    }
    if (status != YK_OK) {
        close_device(device);
        return status;
    }
    *out = device;
    return YK_OK;
}

static void describe(const struct yk_backend_device *device, struct yk_text *out)
{
    yk_text_addf(out, "%s, %.1f GiB, compute capability %d.%d", device->name,
                 (double)device->memory_bytes / (1024.0 * 1024 * 1024),
                 (int)device->chip.capability / 10, (int)device->chip.capability % 10);
}

extern const struct yk_backend yk_backend_plugin;
__attribute__((visibility("default"))) const struct yk_backend yk_backend_plugin = {
    .name = "cuda",
    .abi = YK_BACKEND_ABI,
    .open = open_device,
    .close = close_device,
    .describe = describe,
    .versions = yk_cuda_versions,
    .take = yk_cuda_take,
    .give_back = yk_cuda_give_back,
    .take_host = yk_cuda_take_host,
    .give_back_host = yk_cuda_give_back_host,
    .used = yk_cuda_used,
    .holds = yk_cuda_holds,
    .lane_create = yk_cuda_lane_create,
    .lane_destroy = yk_cuda_lane_destroy,
    .prepare = yk_replay_prepare,
    .native = yk_cuda_native,
    .finish = yk_replay_finish,
    .event_create = yk_cuda_event_create,
    .event_destroy = yk_cuda_event_destroy,
    .record = yk_replay_record,
    .wait = yk_replay_wait,
    .reach = yk_cuda_reach,
    .happened = yk_cuda_happened,
    .event_s = yk_cuda_event_s,
    .copy = yk_replay_copy,
    .clear = yk_replay_clear,
    .call = yk_replay_call,
    .begin_range = yk_cuda_begin_range,
    .end_range = yk_cuda_end_range,
    .matmul = yk_replay_matmul,
    .attend = yk_replay_attend,
    .attend_back = yk_replay_attend_back,
    .normalise = yk_replay_normalise,
    .normalise_back = yk_replay_normalise_back,
    .embed = yk_replay_embed,
    .embed_back = yk_replay_embed_back,
    .rotate = yk_replay_rotate,
    .gate = yk_replay_gate,
    .gate_back = yk_replay_gate_back,
    .drop = yk_replay_drop,
    .sum_rows = yk_replay_sum_rows,
    .lose = yk_replay_lose,
    .sum_squares = yk_replay_sum_squares,
    .judge = yk_replay_judge,
    .adamw = yk_replay_adamw,
    .sgd = yk_replay_sgd,
    .cast = yk_replay_cast,
    .add = yk_replay_add,
    .quantise = yk_replay_quantise,
    .dequantise = yk_replay_dequantise,
};
