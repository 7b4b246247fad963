/* The backend's table, and a device from its opening to its end. */
#include "backend/cuda/attend_cudnn.h"
#include "backend/cuda/device.h"
#include "backend/cuda/products.h"
#include "backend/cuda/replay.h"

#include <stdlib.h>
#include <string.h>

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
    YK_TRY(yk_cuda_device_find(options->number));
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
        status = yk_cuda_device_read(device, options->messages);
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

extern const struct yk_backend yk_backend_plugin;
__attribute__((visibility("default"))) const struct yk_backend yk_backend_plugin = {
    .name = "cuda",
    .abi = YK_BACKEND_ABI,
    .open = open_device,
    .close = close_device,
    .describe = yk_cuda_device_describe,
    .versions = yk_cuda_versions,
    .take = yk_cuda_take,
    .give_back = yk_cuda_give_back,
    .take_host = yk_cuda_take_host,
    .give_back_host = yk_cuda_give_back_host,
    .used = yk_cuda_used,
    .holds = yk_cuda_holds,
    .lane_create = yk_cuda_lane_create,
    .lane_destroy = yk_replay_lane_destroy,
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
    .begin_range = yk_replay_begin_range,
    .end_range = yk_replay_end_range,
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
