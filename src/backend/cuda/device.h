/* Device: this backend's device, lanes and events, shared by its host sources. */
#ifndef YK_BACKEND_CUDA_DEVICE_H
#define YK_BACKEND_CUDA_DEVICE_H

#include "backend/backend.h"
#include "backend/cuda/lane.h"

#include <cublasLt.h>
#include <pthread.h>

enum {
    YK_CUDA_NAME_SIZE = 256,
    YK_CUDA_TEXT_SIZE = 512,
    YK_CUDA_SENTENCE_SIZE = 1024,
    YK_CUDA_SIDES = 2, /* streams of a lane besides its own, for products that run side by side */
};

struct yk_cuda_prefetch;
struct yk_cublas;
struct yk_cudnn_cache;
struct yk_replay;

enum yk_cuda_attention_choice {
    YK_CUDA_ATTENTION_BEST,
    YK_CUDA_ATTENTION_CUDNN,
    YK_CUDA_ATTENTION_OWN,
};

struct yk_backend_device {
    int32_t number;
    char name[YK_CUDA_NAME_SIZE];
    size_t memory_bytes;
    size_t allowed_bytes; /* that this process may take of them; 0: all */
    struct yk_cuda_properties properties;
    enum yk_cuda_attention_choice attention_choice;
    bool side_streams;
    bool graphs;
    struct yk_cublas *cublas;
    struct yk_cudnn_cache *cudnn_cache; /* NULL until it is asked for */

    /* Events are timed from one that is known on the host's clock, and is renewed now and then:
     * the driver counts in fp32, which is coarse after minutes. */
    pthread_mutex_t clock_lock;
    cudaStream_t clock_stream;
    cudaEvent_t anchor;
    double anchor_s;
};

struct yk_backend_lane {
    struct yk_backend_device *device;
    char name[YK_CUDA_NAME_SIZE];
    cudaStream_t stream;
    void *scratch;
    size_t scratch_bytes;
    struct yk_backend_lane *sides[YK_CUDA_SIDES]; /* NULL until they are used, as their events */
    cudaEvent_t fork;
    cudaEvent_t joins[YK_CUDA_SIDES];
    struct yk_cuda_prefetch *prefetch; /* NULL until it is used */
    struct yk_replay *replay;          /* NULL: nothing of it is replayed */
    yk_status status;
    char message[YK_CUDA_SENTENCE_SIZE];
};

struct yk_backend_event {
    struct yk_backend_device *device;
    struct yk_backend_lane *lane; /* on which it was recorded last; NULL: never */
    cudaEvent_t event;
};

/* The sentence for a call that failed; YK_ERROR_LOST where the device is gone. */
yk_status yk_cuda_device_fail(const struct yk_backend_device *device, cudaError_t error,
                              const char *action) YK_MUST_USE;

/* Makes the device the calling thread's. */
void yk_cuda_device_set(const struct yk_backend_device *device);

/* Whether there is a GPU of this number, and a driver for it. */
yk_status yk_cuda_device_find(int32_t number) YK_MUST_USE;

/* What the GPU of device->number is; `messages` is how many SMs they would use. */
yk_status yk_cuda_device_read(struct yk_backend_device *device, int32_t messages) YK_MUST_USE;

/* The entry of the backend's table. */
void yk_cuda_device_describe(const struct yk_backend_device *device, struct yk_text *out);

/* versions.c: the entry of the backend's table. */
void yk_cuda_versions(const struct yk_backend_device *device, struct yk_text *out);

/* memory.c, lane.c and event.c: entries of the backend's table, some by way of replay.h. */
yk_status yk_cuda_memory_allocate(struct yk_backend_device *device, size_t bytes,
                                  void **out) YK_MUST_USE;
void yk_cuda_memory_free(struct yk_backend_device *device, void *memory);
yk_status yk_cuda_memory_allocate_host(struct yk_backend_device *device, size_t bytes,
                                       void **out) YK_MUST_USE;
void yk_cuda_memory_free_host(struct yk_backend_device *device, void *memory);
size_t yk_cuda_memory_used(struct yk_backend_device *device);
bool yk_cuda_memory_contains(const struct yk_backend_device *device, const void *memory);

yk_status yk_cuda_lane_create(struct yk_backend_device *device, const char *name,
                              struct yk_backend_lane **out) YK_MUST_USE;
/* Of a lane on which nothing is replayed or works ahead; else yk_replay_lane_destroy(). */
void yk_cuda_lane_destroy(struct yk_backend_lane *lane);
void *yk_cuda_lane_native_stream(const struct yk_backend_lane *lane, int32_t *number);
yk_status yk_cuda_lane_reserve_scratch(struct yk_backend_lane *lane, size_t bytes) YK_MUST_USE;
yk_status yk_cuda_lane_synchronize(struct yk_backend_lane *lane) YK_MUST_USE;
void yk_cuda_lane_copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
void yk_cuda_lane_clear(struct yk_backend_lane *lane, void *memory, size_t bytes);
void yk_cuda_lane_call_host(struct yk_backend_lane *lane, void (*function)(void *user), void *user);

yk_status yk_cuda_event_create(struct yk_backend_device *device,
                               struct yk_backend_event **out) YK_MUST_USE;
void yk_cuda_event_destroy(struct yk_backend_event *event);
void yk_cuda_event_record(struct yk_backend_lane *lane, struct yk_backend_event *event);
void yk_cuda_event_wait(struct yk_backend_lane *lane, struct yk_backend_event *event);
yk_status yk_cuda_event_synchronize(struct yk_backend_event *event) YK_MUST_USE;
bool yk_cuda_event_query(const struct yk_backend_event *event);
double yk_cuda_event_time_s(const struct yk_backend_event *event);
yk_status yk_cuda_event_clock_open(struct yk_backend_device *device) YK_MUST_USE;
void yk_cuda_event_clock_close(struct yk_backend_device *device);

/* ---- nvml.c: what NVIDIA's driver knows of a GPU besides CUDA ---- */

struct yk_cuda_nvml {
    void *library; /* loaded at first use, and stays loaded: others use it */
    void *gpu;     /* NULL where it is not found */
};

/* False where the driver does not answer. The GPU is found by its place on the bus: the driver's
 * numbers need not be CUDA's. */
bool yk_cuda_nvml_open(const struct yk_backend_device *device, struct yk_cuda_nvml *out);

/* Where the library has a function of this name, `function` is set to it. */
bool yk_cuda_nvml_find(const struct yk_cuda_nvml *driver, const char *name, void *function);

/* ---- prefetch.c: weights that are dequantised on a stream of their own while products run ---- */

void yk_cuda_prefetch_destroy(struct yk_cuda_prefetch *prefetch);

/* The op of the backend's table. */
void yk_cuda_prefetch_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op);

/* The next op is not prefetched, as if it were the first: marks of before are no longer those of
 * the lane. NULL is fine. */
void yk_cuda_prefetch_forget(struct yk_cuda_prefetch *prefetch);

/* The lane of prefetched work, or NULL. */
struct yk_backend_lane *yk_cuda_prefetch_side(const struct yk_cuda_prefetch *prefetch);

#endif
