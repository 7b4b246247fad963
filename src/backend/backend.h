/*
 * Backend: the interface to one kind of device, as a table of functions.
 *
 * A device has memory and lanes. A lane is a queue: the host enqueues work on it, and the work runs
 * later, in order. Different lanes run in parallel. Events order work between lanes and show the
 * host the progress of a lane. Enqueueing does not block the host, unless the lane is full, or the
 * op has a new shape or needs more scratch memory. An op cannot fail when it is enqueued. A failure
 * on the device is stored in the lane, and lane_synchronize() and event_synchronize() return it.
 * Only one thread at a time may enqueue on a lane.
 *
 * This folder:
 *   backend.h, ops.h        the table of functions, and the arguments of every op
 *   nf4_codebook.h          the values of NF4 codes
 *   cpu/                    CPUs; a lane is a thread
 *     lane, affinity, memory, blas, parallel
 *     attention/            attention forward and backward, and products of small tiles
 *     kernels/              the other ops, one file each; OpenMP shares the work among threads
 *     math/                 conversions, SIMD, reductions, exp and erf, random numbers
 *   cuda/                   NVIDIA GPUs, as a plug-in; a lane is a stream
 *     device, lane, memory, event, nvml, versions, dequantise
 *     attention/            attention with cuDNN, with tensor cores, and with CUDA cores
 *     matmul/               matmuls with cuBLASLt; benchmarks and caches algorithms
 *     kernels/              the other ops, and functions that kernels share (.cuh)
 *     graphs/               launches repeated ops as CUDA graphs
 */
#ifndef YK_BACKEND_BACKEND_H
#define YK_BACKEND_BACKEND_H

#include "backend/ops.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_BACKEND_ABI = 11,
    YK_BACKEND_ALIGNMENT = 64, /* in bytes; minimum alignment of allocated memory */
    /* Additional scratch memory, in bytes, of a GPU that is opened with `side_streams`. */
    YK_BACKEND_SIDE_STREAM_BYTES = 128 << 20,
};

struct yk_backend_device; /* opaque; each backend defines these three structs */
struct yk_backend_lane;
struct yk_backend_event;

struct yk_backend_device_options {
    int32_t index; /* index of the device among the devices of this backend */

    /* ---- CPU only ---- */
    int32_t threads; /* threads per lane; 0 means: one per core that this process may use */
    /* Core numbers of the operating system. The array is copied. Thread i of the lane "compute" is
     * pinned to cores[i mod core_count], and the lane "comm" is pinned to comm_core. Threads of
     * other lanes may run on any core of the array. If the system refuses to pin a thread, a note
     * is logged. */
    const int32_t *cores;
    int32_t core_count; /* 0 means: threads are not pinned */
    int32_t comm_core;

    /* ---- GPU only ---- */
    size_t memory_bytes;   /* memory limit of this process; 0 means: no limit */
    const char *attention; /* "best", "cudnn" or "own" (yoke's kernels); NULL means: "best" */
    const char *matmul_cache_path; /* path of the matmul cache; NULL means: no file. Is copied */
    bool side_streams;     /* split matmuls (yk_matmul_op.split_columns); parts run in parallel */
    bool graphs;           /* launch the ops of a repeated range as one CUDA graph */
    int32_t comm_sm_count; /* number of SMs that communication kernels use */
};

struct yk_backend {
    const char *name; /* "cpu" or "cuda" */
    int32_t abi;      /* YK_BACKEND_ABI */

    yk_status (*open)(const struct yk_backend_device_options *options,
                      struct yk_backend_device **out);
    void (*close)(struct yk_backend_device *device); /* accepts NULL, like all destroy functions */
    /* Appends a description such as "Arm Neoverse N1, 2 threads". */
    void (*describe)(const struct yk_backend_device *device, struct yk_text *out);
    /* Appends the version of everything that changes the times of ops, except the device itself:
     * the backend's code, libraries, driver, clock limits and options. If this text changes, times
     * must be measured again. */
    void (*versions)(const struct yk_backend_device *device, struct yk_text *out);

    /* Allocates zeroed memory. The error message contains the numbers of requested and of free
     * bytes. */
    yk_status (*allocate)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free)(struct yk_backend_device *device, void *memory);
    /* Allocates zeroed, pinned host memory, which can be copied fast. */
    yk_status (*allocate_host)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free_host)(struct yk_backend_device *device, void *memory);
    /* Returns the device memory that this process uses, in bytes, including the memory of libraries
     * and of the driver. The function pointer is NULL if devices use host memory. */
    size_t (*used_bytes)(struct yk_backend_device *device);

    /* Returns whether `memory` is device memory. The function pointer is NULL if devices use host
     * memory. */
    bool (*contains)(const struct yk_backend_device *device, const void *memory);

    yk_status (*lane_create)(struct yk_backend_device *device, const char *name,
                             struct yk_backend_lane **out);
    void (*lane_destroy)(struct yk_backend_lane *lane); /* waits for all work on the lane */
    /* Allocates scratch memory for the ops of the lane now instead of at the first use. The
     * function pointer may be NULL. */
    yk_status (*reserve_scratch)(struct yk_backend_lane *lane, size_t bytes);
    /* Returns the cudaStream_t of the lane. `number` receives the number of the CUDA device. The
     * function pointer is NULL for the CPU. */
    void *(*native_stream)(const struct yk_backend_lane *lane, int32_t *number);
    /* Waits until all work on the lane has run. Returns the first failure of the lane. */
    yk_status (*lane_synchronize)(struct yk_backend_lane *lane);

    yk_status (*event_create)(struct yk_backend_device *device, struct yk_backend_event **out);
    void (*event_destroy)(struct yk_backend_event *event);
    /* Records the event: it happens when all work that was enqueued on the lane before this call
     * has run. An event may be recorded again. */
    void (*event_record)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* Makes the lane wait until the event has happened. If the event was recorded several times,
     * the last recording counts. If it was never recorded, the lane does not wait. */
    void (*event_wait)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* Makes the host wait for the last recording of the event. Returns the first failure of the
     * lane on which the event was recorded. */
    yk_status (*event_synchronize)(struct yk_backend_event *event);
    /* Returns whether the last recording of the event has happened, or true if the event was never
     * recorded. Does not block. Any thread may call this function. */
    bool (*event_query)(const struct yk_backend_event *event);
    /* Returns the time when the event last happened, on the clock of base/clock.h. Must be called
     * only after event_synchronize() or lane_synchronize(). */
    double (*event_time_s)(const struct yk_backend_event *event);

    /* Copies within device memory, within host memory, or between them in either direction. */
    void (*copy)(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
    void (*clear)(struct yk_backend_lane *lane, void *memory, size_t bytes); /* fills with zeros */
    /* Runs a host function in order with the other work of the lane. The function must not call the
     * backend. */
    void (*call_host)(struct yk_backend_lane *lane, void (*function)(void *user), void *user);
    /* The work that is enqueued between begin_range() and end_range() is a range. Profilers show
     * the range under `name`. The work may be delayed until the range ends. Ranges with the same
     * work should pass the same pointer as `name`. Both function pointers may be NULL. */
    void (*begin_range)(struct yk_backend_lane *lane, const char *name);
    void (*end_range)(struct yk_backend_lane *lane);

    /* The functions that enqueue an op, one for each op of backend/ops.h, such as matmul(lane, op)
     * with a struct yk_matmul_op. */
#define YK_BACKEND_OP_MEMBER(CAPITALS, name, function)                                             \
    void (*(name))(struct yk_backend_lane * lane, const struct yk_##name##_op *op);
    YK_OPS_FOR_EACH(YK_BACKEND_OP_MEMBER)
#undef YK_BACKEND_OP_MEMBER
};

extern const struct yk_backend yk_backend_cpu;

/* A hash (eight digits) of the sources and the compiler of each backend. If the hash changes, the
 * times of ops may change. The build generates the hashes with tools/code_hash.cmake. */
extern const char yk_code_cpu[];
extern const char yk_code_cuda[]; /* defined in the plug-in */

#define YK_BACKEND_PLUGIN_SYMBOL "yk_backend_plugin" /* a const struct yk_backend */

/* Loads a backend from a plug-in. The plug-in exports its table as YK_BACKEND_PLUGIN_SYMBOL.
 * The plug-in is never unloaded. Fails if the file cannot be loaded or has another ABI version; the
 * message says what to install. */
yk_status yk_backend_load_plugin(const char *path, const struct yk_backend **out) YK_MUST_USE;

#endif
