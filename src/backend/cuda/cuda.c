/* The backend's table, and how a device is opened and closed. */
#include "backend/cuda/device.h"
#include "backend/cuda/graphs/cuda_graph.h"
#include "backend/cuda/matmul/cublas.h"

#include <stdlib.h>
#include <string.h>

static yk_status read_choice(const char *word, enum yk_cuda_attention_method *out)
{
    if (!word || strcmp(word, "best") == 0) {
        *out = YK_CUDA_ATTENTION_BEST;
    } else if (strcmp(word, "cudnn") == 0) {
        *out = YK_CUDA_ATTENTION_CUDNN;
    } else if (strcmp(word, "own") == 0) {
        *out = YK_CUDA_ATTENTION_BUILTIN;
    } else {
        return yk_fail(YK_ERROR_USAGE, "there is no attention \"%s\": best, cudnn or own", word);
    }
    return YK_OK;
}

static void close_device(struct yk_backend_device *device)
{
    if (device) {
        yk_cuda_device_make_current(device);
        yk_cudnn_plan_cache_destroy(device->cudnn_cache);
        yk_cublas_destroy(device->cublas);
        yk_cuda_event_stop_clock(device);
        free(device);
    }
}

static yk_status open_device(const struct yk_backend_device_options *options,
                             struct yk_backend_device **out)
{
    YK_TRY(yk_cuda_device_check_exists(options->index));
    struct yk_backend_device *device = calloc(1, sizeof *device);
    YK_TRY_ALLOCATED(device);
    device->number = options->index;
    device->allowed_bytes = options->memory_bytes;
    device->side_streams = options->side_streams;
    device->graphs = options->graphs;
    yk_status status = read_choice(options->attention, &device->attention_choice);
    if (status == YK_OK) {
        const cudaError_t error = cudaSetDevice(device->number);
        status = error == cudaSuccess
                     ? YK_OK
                     : yk_cuda_device_report_cuda_error(device, error, "taking it");
    }
    YK_IF_OK(yk_cuda_device_read_properties(device, options->comm_sm_count));
    YK_IF_OK(yk_cuda_event_start_clock(device));
    YK_IF_OK(yk_cublas_create(device, options->matmul_cache_path, &device->cublas));
    YK_TRY_OR_CLEAN_UP(status, close_device(device));
    *out = device;
    return YK_OK;
}

#define ENTRY(CAPITALS, name, function) .name = yk_cuda_graph_collect_##name,

extern const struct yk_backend yk_backend_plugin;
__attribute__((visibility("default"))) const struct yk_backend yk_backend_plugin = {
    .name = "cuda",
    .abi = YK_BACKEND_ABI,
    .open = open_device,
    .close = close_device,
    .describe = yk_cuda_device_append_description,
    .versions = yk_cuda_versions_append,
    .allocate = yk_cuda_memory_allocate,
    .free = yk_cuda_memory_free,
    .allocate_host = yk_cuda_memory_allocate_host,
    .free_host = yk_cuda_memory_free_host,
    .used_bytes = yk_cuda_memory_used_bytes,
    .contains = yk_cuda_memory_is_device_memory,
    .lane_create = yk_cuda_lane_create,
    .lane_destroy = yk_cuda_graph_destroy_lane,
    .reserve_scratch = yk_cuda_graph_flush_and_reserve_scratch,
    .native_stream = yk_cuda_lane_native_stream,
    .lane_synchronize = yk_cuda_graph_flush_and_synchronize,
    .event_create = yk_cuda_event_create,
    .event_destroy = yk_cuda_event_destroy,
    .event_record = yk_cuda_graph_flush_and_record_event,
    .event_wait = yk_cuda_graph_flush_and_wait_for_event,
    .event_synchronize = yk_cuda_event_synchronize,
    .event_query = yk_cuda_event_query,
    .event_time_s = yk_cuda_event_time_s,
    .copy = yk_cuda_graph_collect_copy,
    .clear = yk_cuda_graph_collect_clear,
    .call_host = yk_cuda_graph_flush_and_call_host,
    .begin_range = yk_cuda_graph_begin_range,
    .end_range = yk_cuda_graph_end_range,
    YK_OPS_FOR_EACH(ENTRY)};
