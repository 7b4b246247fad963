/*
 * Device: the structs of a CUDA device, its lanes and events, and the functions that the host
 * sources of this backend share. Sources of kernels include lane.h instead. The rules for threads
 * are those of backend/backend.h.
 */
#ifndef YK_BACKEND_CUDA_DEVICE_H
#define YK_BACKEND_CUDA_DEVICE_H

#include "backend/backend.h"
#include "backend/cuda/lane.h"

#include <cublasLt.h>
#include <pthread.h>

enum {
    YK_CUDA_NAME_SIZE = 256,
    YK_CUDA_ERROR_TEXT_SIZE = 512,
    YK_CUDA_LANE_MESSAGE_SIZE = 1024,
    YK_CUDA_SIDE_STREAM_COUNT = 2, /* extra streams of a lane, for the parts of a split matmul */
};

struct yk_cuda_dequantise_prefetch;
struct yk_cublas;
struct yk_cudnn_plan_cache;
struct yk_cuda_lane_graphs;

enum yk_cuda_attention_method {
    YK_CUDA_ATTENTION_BEST,
    YK_CUDA_ATTENTION_CUDNN,
    YK_CUDA_ATTENTION_BUILTIN,
};

struct yk_backend_device {
    int32_t number;
    char name[YK_CUDA_NAME_SIZE];
    size_t memory_bytes;
    size_t allowed_bytes; /* memory limit of this process; 0 means: no limit */
    struct yk_cuda_device_properties properties;
    enum yk_cuda_attention_method attention_choice;
    bool side_streams;
    bool graphs;
    struct yk_cublas *cublas;
    struct yk_cudnn_plan_cache *cudnn_cache; /* NULL before the first attention op */

    /* The time of an event is computed from the elapsed time since `anchor`, an event whose time on
     * the host's clock is known. The anchor is renewed every few seconds, because CUDA reports
     * elapsed times in fp32, which is exact only for short times. */
    pthread_mutex_t clock_lock;
    cudaStream_t clock_stream;
    cudaEvent_t anchor;
    double anchor_s; /* time of the anchor on the host's clock */
};

struct yk_backend_lane {
    struct yk_backend_device *device;
    char name[YK_CUDA_NAME_SIZE];
    cudaStream_t stream;
    void *scratch;
    size_t scratch_bytes;
    struct yk_backend_lane
        *sides[YK_CUDA_SIDE_STREAM_COUNT]; /* side streams; each is NULL before the first use */
    cudaEvent_t fork; /* the side streams wait for this event; NULL before the first use */
    cudaEvent_t joins[YK_CUDA_SIDE_STREAM_COUNT]; /* the lane waits for these events; NULL before
                                                     the first use */
    struct yk_cuda_dequantise_prefetch *prefetch; /* NULL before the first prefetch */
    struct yk_cuda_lane_graphs *replay;           /* NULL before the first begin_range() */
    yk_status status; /* status of the first failure; YK_OK if there was none */
    char message[YK_CUDA_LANE_MESSAGE_SIZE];
};

struct yk_backend_event {
    struct yk_backend_device *device;
    struct yk_backend_lane *lane; /* lane of the last recording; NULL means: never recorded */
    cudaEvent_t event;
};

/* Sets the error message for a failed CUDA call. `action` says what the call was for, for example
 * "making an event". Returns YK_ERROR_LOST if the device is lost, otherwise YK_ERROR_SYSTEM. */
yk_status yk_cuda_device_report_cuda_error(const struct yk_backend_device *device,
                                           cudaError_t error, const char *action) YK_MUST_USE;

/* Makes the device current for the calling thread. */
void yk_cuda_device_make_current(const struct yk_backend_device *device);

/* Fails if there is no driver or no GPU with this number. */
yk_status yk_cuda_device_check_exists(int32_t number) YK_MUST_USE;

/* Reads the name, memory size and properties of GPU device->number. `comm_sm_count` is the number
 * of SMs that communication kernels use. */
yk_status yk_cuda_device_read_properties(struct yk_backend_device *device,
                                         int32_t comm_sm_count) YK_MUST_USE;

/* Implements `describe` of struct yk_backend. */
void yk_cuda_device_append_description(const struct yk_backend_device *device, struct yk_text *out);

/* versions.c: implements `versions` of struct yk_backend. */
void yk_cuda_versions_append(const struct yk_backend_device *device, struct yk_text *out);

/* memory.c, lane.c and event.c: implement members of struct yk_backend. graphs/ wraps some of these
 * functions. */
yk_status yk_cuda_memory_allocate(struct yk_backend_device *device, size_t bytes,
                                  void **out) YK_MUST_USE;
void yk_cuda_memory_free(struct yk_backend_device *device, void *memory);
yk_status yk_cuda_memory_allocate_host(struct yk_backend_device *device, size_t bytes,
                                       void **out) YK_MUST_USE;
void yk_cuda_memory_free_host(struct yk_backend_device *device, void *memory);
size_t yk_cuda_memory_used_bytes(struct yk_backend_device *device);
bool yk_cuda_memory_is_device_memory(const struct yk_backend_device *device, const void *memory);

yk_status yk_cuda_lane_create(struct yk_backend_device *device, const char *name,
                              struct yk_backend_lane **out) YK_MUST_USE;
/* Does not destroy the graphs and the prefetch of the lane; yk_cuda_graph_destroy_lane() destroys
 * them. */
void yk_cuda_lane_destroy(struct yk_backend_lane *lane);
void *yk_cuda_lane_native_stream(const struct yk_backend_lane *lane, int32_t *number);
yk_status yk_cuda_lane_reserve_scratch(struct yk_backend_lane *lane, size_t bytes) YK_MUST_USE;
yk_status yk_cuda_lane_synchronize(struct yk_backend_lane *lane) YK_MUST_USE;
void yk_cuda_lane_enqueue_copy(struct yk_backend_lane *lane, void *to, const void *from,
                               size_t bytes);
void yk_cuda_lane_enqueue_clear(struct yk_backend_lane *lane, void *memory, size_t bytes);
void yk_cuda_lane_enqueue_host_call(struct yk_backend_lane *lane, void (*function)(void *user),
                                    void *user);

yk_status yk_cuda_event_create(struct yk_backend_device *device,
                               struct yk_backend_event **out) YK_MUST_USE;
void yk_cuda_event_destroy(struct yk_backend_event *event);
void yk_cuda_event_record(struct yk_backend_lane *lane, struct yk_backend_event *event);
void yk_cuda_event_wait(struct yk_backend_lane *lane, struct yk_backend_event *event);
yk_status yk_cuda_event_synchronize(struct yk_backend_event *event) YK_MUST_USE;
bool yk_cuda_event_query(const struct yk_backend_event *event);
double yk_cuda_event_time_s(const struct yk_backend_event *event);
yk_status yk_cuda_event_start_clock(struct yk_backend_device *device) YK_MUST_USE;
void yk_cuda_event_stop_clock(struct yk_backend_device *device);

/* ---- nvml.c: the NVIDIA Management Library ---- */

struct yk_cuda_nvml {
    void *library; /* handle from dlopen(); never closed */
    void *gpu;     /* nvmlDevice_t; NULL means: NVML did not find the GPU */
};

/* Loads the library and finds the GPU by its PCI address, because NVML may number GPUs differently
 * from CUDA. Returns false if the library is not available. */
bool yk_cuda_nvml_open(const struct yk_backend_device *device, struct yk_cuda_nvml *out);

/* Looks up the NVML function `name` and stores its address in the function pointer that `function`
 * points to. Returns false if the library has no function with this name. */
bool yk_cuda_nvml_find_function(const struct yk_cuda_nvml *driver, const char *name,
                                void *function);

/* ---- dequantise.c: dequantises weights; a prefetch runs on a side stream, during matmuls ---- */

void yk_cuda_dequantise_prefetch_destroy(struct yk_cuda_dequantise_prefetch *prefetch);

/* Forgets all earlier dequantise ops, so that the first dequantise op after this call is not
 * prefetched. Must be called before and after the capture of a CUDA graph, because no event may be
 * recorded inside a capture and waited for outside it, or the other way round. Accepts NULL. */
void yk_cuda_dequantise_prefetch_reset(struct yk_cuda_dequantise_prefetch *prefetch);

/* Returns the side stream as a lane, or NULL before the first prefetch. */
struct yk_backend_lane *
yk_cuda_dequantise_prefetch_side_lane(const struct yk_cuda_dequantise_prefetch *prefetch);

/* ---- attention/cudnn.c: the cache of cuDNN plans, one plan per shape; the device owns it ----
 *
 * Compiling a plan takes half a second. A shape therefore gets a plan only if it is large or has
 * been requested several times. If the cache already has many plans, a new shape gets a plan only
 * if it is very frequent. With the option attention = "cudnn", every shape gets a plan at its first
 * request. The cache has a lock, so any thread may enqueue attention ops. */

/* Must be called only while all lanes are idle. Accepts NULL. */
void yk_cudnn_plan_cache_destroy(struct yk_cudnn_plan_cache *cache);

#endif
