#include "fake_nccl.h"

#include "fake_inside.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANGES = 2048,
};

struct range {
    const char *begin; /* NULL: free */
    size_t bytes;
    enum cudaMemoryType type;
};

static struct range ranges[RANGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum fake_kind others;
static _Atomic(const char *) misused;
static _Thread_local int current;

struct yk_backend fake_gpu;

void fake_misuse(const char *words)
{
    const char *none = NULL;
    (void)atomic_compare_exchange_strong(&misused, &none, words);
}

const char *fake_nccl_misuse(void)
{
    return atomic_load(&misused);
}

int fake_current_device(void)
{
    return current;
}

/* ---- memory ---- */

static yk_status allocate_as(yk_status (*allocate)(struct yk_backend_device *, size_t, void **),
                             struct yk_backend_device *device, size_t bytes,
                             enum cudaMemoryType type, void **out)
{
    YK_TRY(allocate(device, bytes, out));
    (void)pthread_mutex_lock(&lock);
    int at = 0;
    while (at < RANGES && ranges[at].begin) {
        at++;
    }
    assert(at < RANGES);
    ranges[at] = (struct range){*out, bytes, type};
    (void)pthread_mutex_unlock(&lock);
    return YK_OK;
}

static void forget(const void *memory)
{
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; memory && i < RANGES; i++) {
        if (ranges[i].begin == memory) {
            ranges[i] = (struct range){0};
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

static yk_status allocate(struct yk_backend_device *device, size_t bytes, void **out)
{
    return allocate_as(yk_backend_cpu.allocate, device, bytes, cudaMemoryTypeDevice, out);
}

static yk_status allocate_host(struct yk_backend_device *device, size_t bytes, void **out)
{
    return allocate_as(yk_backend_cpu.allocate_host, device, bytes, cudaMemoryTypeHost, out);
}

static void give_back(struct yk_backend_device *device, void *memory)
{
    forget(memory);
    yk_backend_cpu.free(device, memory);
}

static void give_back_host(struct yk_backend_device *device, void *memory)
{
    forget(memory);
    yk_backend_cpu.free_host(device, memory);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *memory)
{
    out->type = others == FAKE_OF_DEVICE ? cudaMemoryTypeDevice
                : others == FAKE_OF_HOST ? cudaMemoryTypeHost
                                         : cudaMemoryTypeUnregistered;
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < RANGES; i++) {
        const char *begin = ranges[i].begin;
        if (begin && (const char *)memory >= begin &&
            (const char *)memory < begin + ranges[i].bytes) {
            out->type = ranges[i].type;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

bool fake_is(const void *memory, enum cudaMemoryType type)
{
    struct cudaPointerAttributes about;
    (void)cudaPointerGetAttributes(&about, memory);
    return about.type == type;
}

/* ---- lanes ---- */

static void copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes)
{
    if (bytes > 0 &&
        (fake_is(to, cudaMemoryTypeUnregistered) || fake_is(from, cudaMemoryTypeUnregistered))) {
        fake_misuse("a copy of memory that CUDA does not know");
    }
    yk_backend_cpu.copy(lane, to, from, bytes);
}

static void cast(struct yk_backend_lane *lane, const struct yk_cast_op *op)
{
    if (fake_is(op->to, cudaMemoryTypeUnregistered) ||
        fake_is(op->from, cudaMemoryTypeUnregistered)) {
        fake_misuse("a cast of memory that CUDA does not know");
    }
    yk_backend_cpu.cast(lane, op);
}

static void add(struct yk_backend_lane *lane, const struct yk_add_op *op)
{
    if (!fake_is(op->to, cudaMemoryTypeDevice) || !fake_is(op->from, cudaMemoryTypeDevice)) {
        fake_misuse("a sum of memory that is not the device's");
    }
    yk_backend_cpu.add(lane, op);
}

void fake_cuda_begin(enum fake_kind kind)
{
    others = kind;
    memset(ranges, 0, sizeof ranges);
    atomic_store(&misused, NULL);
    fake_gpu = yk_backend_cpu;
    fake_gpu.allocate = allocate;
    fake_gpu.allocate_host = allocate_host;
    fake_gpu.free = give_back;
    fake_gpu.free_host = give_back_host;
    fake_gpu.native_stream = fake_native;
    fake_gpu.copy = copy;
    fake_gpu.cast = cast;
    fake_gpu.add = add;
}

/* ---- the runtime ---- */

/* Threads count from when they choose a device until they end. */
static pthread_once_t counts_threads = PTHREAD_ONCE_INIT;
static pthread_key_t counted;
static pthread_cond_t thread_ended = PTHREAD_COND_INITIALIZER;
static int threads;

static void end_thread(void *user)
{
    (void)user;
    (void)pthread_mutex_lock(&lock);
    threads--;
    (void)pthread_cond_broadcast(&thread_ended);
    (void)pthread_mutex_unlock(&lock);
}

static void count_threads(void)
{
    const int code = pthread_key_create(&counted, end_thread);
    assert(code == 0);
    (void)code;
}

void fake_cuda_await_threads(void)
{
    (void)pthread_mutex_lock(&lock);
    while (threads > 0) {
        (void)pthread_cond_wait(&thread_ended, &lock);
    }
    (void)pthread_mutex_unlock(&lock);
}

cudaError_t cudaSetDevice(int device)
{
    (void)pthread_once(&counts_threads, count_threads);
    if (!pthread_getspecific(counted)) {
        (void)pthread_mutex_lock(&lock);
        threads++;
        (void)pthread_mutex_unlock(&lock);
        (void)pthread_setspecific(counted, &counted);
    }
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

static struct yk_backend_lane *lane_of(cudaStream_t stream)
{
    return (struct yk_backend_lane *)(void *)stream;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind;
    copy(lane_of(stream), to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return yk_backend_cpu.lane_synchronize(lane_of(stream)) == YK_OK ? cudaSuccess
                                                                     : cudaErrorInvalidValue;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    (void)stream;
    return cudaErrorNotReady;
}
