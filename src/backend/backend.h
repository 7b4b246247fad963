/*
 * Backend: the interface to one kind of device, as a table of functions.
 *
 * A device has memory and lanes. A lane is a queue: the host enqueues work on it, and the work runs
 * later, in order. Different lanes run in parallel. Events order work between lanes and show the
 * host the progress of a lane. Enqueueing neither allocates memory nor blocks the host, unless the
 * lane is full. An op cannot fail when it is enqueued. A failure on the device is stored in the
 * lane, and lane_synchronize() and event_synchronize() return it. Only one thread at a time may
 * enqueue on a lane.
 *
 * This folder:
 *   backend.h, ops.h        the table, and the arguments of every op
 *   nf4_codebook.h          the values of NF4 codes
 *   cpu/                    CPUs; a lane is a thread (lane, affinity, memory, blas, parallel)
 *     attention/            attention forward and backward, and products of small tiles
 *     kernels/              the other ops, one file each; OpenMP shares the work among threads
 *     math/                 conversions, SIMD, reductions, exp and erf, random numbers
 *   cuda/                   NVIDIA GPUs, as a plug-in; a lane is a stream (device, lane, memory)
 *     attention/            attention with cuDNN, with tensor cores, and with CUDA cores
 *     matmul/               matmuls with cuBLASLt: shapes, algorithms, benchmarks, their cache
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
    YK_BACKEND_ABI = 5,
    YK_BACKEND_ALIGNMENT = 64, /* bytes; least alignment of allocated memory */
    /* Additional scratch memory of a GPU that is opened with side_streams. */
    YK_BACKEND_SIDE_STREAM_BYTES = 128 << 20,
};

struct yk_backend_device; /* opaque; each backend defines these three */
struct yk_backend_lane;
struct yk_backend_event;

struct yk_backend_options {
    int32_t index; /* index of the device among those of its kind */

    /* ---- CPU only ---- */
    int32_t threads; /* per lane; 0 means: one per core that this process may use */
    /* Core numbers of the operating system, copied. Thread i of the lane "compute" is pinned to
     * cores[i mod core_count], the lane "comm" to comm_core. Other lanes may use all of these
     * cores. If the system refuses, a note is logged. */
    const int32_t *cores;
    int32_t core_count; /* 0 means: threads are not pinned */
    int32_t comm_core;

    /* ---- GPU only ---- */
    size_t memory_bytes;           /* memory limit of this process; 0 means: no limit */
    const char *attention;         /* "best", "cudnn" or "own"; NULL means "best" */
    const char *matmul_cache_path; /* path of the matmul cache, copied; NULL means: no file */
    bool side_streams;             /* run the parts of a matmul with cuts on parallel streams */
    bool graphs;                   /* launch the repeated ops of a range as one CUDA graph */
    int32_t comm_sm_count;         /* SMs that kernels leave free for communication kernels */
};

struct yk_backend {
    const char *name; /* "cpu" */
    int32_t abi;      /* YK_BACKEND_ABI */

    yk_status (*open)(const struct yk_backend_options *options, struct yk_backend_device **out);
    void (*close)(struct yk_backend_device *device); /* like all destroy functions, accepts NULL */
    /* Appends a description such as "Arm Neoverse N1, 2 threads". */
    void (*describe)(const struct yk_backend_device *device, struct yk_text *out);
    /* Appends the versions of everything on which times depend besides the device: the backend's
     * code, libraries, driver, clock limits. If this text changes, times must be measured again. */
    void (*versions)(const struct yk_backend_device *device, struct yk_text *out);

    /* Allocates zeroed memory. The error message has the requested and the free bytes. */
    yk_status (*allocate)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free)(struct yk_backend_device *device, void *memory);
    /* Allocates zeroed, pinned host memory, for fast copies. */
    yk_status (*allocate_host)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free_host)(struct yk_backend_device *device, void *memory);
    /* Device memory in use by this process, with the memory of libraries and the driver, in bytes.
     * NULL for a device that uses host memory. */
    size_t (*used_bytes)(struct yk_backend_device *device);

    /* Whether a pointer is to device memory. NULL for a device that uses host memory. */
    bool (*contains)(const struct yk_backend_device *device, const void *memory);

    yk_status (*lane_create)(struct yk_backend_device *device, const char *name,
                             struct yk_backend_lane **out);
    void (*lane_destroy)(struct yk_backend_lane *lane); /* waits for all work on the lane */
    /* Allocates scratch memory for the ops of the lane now instead of at the first use. May be
     * NULL. */
    yk_status (*reserve_scratch)(struct yk_backend_lane *lane, size_t bytes);
    /* Returns the cudaStream_t of the lane, and the CUDA device number. NULL for the CPU. */
    void *(*native_stream)(const struct yk_backend_lane *lane, int32_t *number);
    /* Waits until all work on the lane has run. Returns the first failure of the lane. */
    yk_status (*lane_synchronize)(struct yk_backend_lane *lane);

    yk_status (*event_create)(struct yk_backend_device *device, struct yk_backend_event **out);
    void (*event_destroy)(struct yk_backend_event *event);
    /* The event happens when the work enqueued so far has run. An event may be recorded again. */
    void (*event_record)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* The lane waits for the last record of the event. It does not wait if there is none. */
    void (*event_wait)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* The host waits for the last record of the event. Returns the first failure of its lane. */
    yk_status (*event_synchronize)(struct yk_backend_event *event);
    /* Whether the last record of the event has happened; true if there is none. Does not block. Any
     * thread may call it. */
    bool (*event_query)(const struct yk_backend_event *event);
    /* The time when the event last happened, on the clock of base/clock.h. Call it only after a
     * synchronize. */
    double (*event_time_s)(const struct yk_backend_event *event);

    /* Copies between device memory and host memory, in any direction. */
    void (*copy)(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
    void (*clear)(struct yk_backend_lane *lane, void *memory, size_t bytes); /* fills with zeros */
    /* Runs a host function in order with the other work. It must not call the backend. */
    void (*call_host)(struct yk_backend_lane *lane, void (*function)(void *user), void *user);
    /* Work between the two calls has this name in profilers and may start only when the range ends.
     * Ranges with the same work should pass the same pointer. Both may be NULL. */
    void (*begin_range)(struct yk_backend_lane *lane, const char *name);
    void (*end_range)(struct yk_backend_lane *lane);

    void (*matmul)(struct yk_backend_lane *lane, const struct yk_matmul_op *op);
    void (*attention)(struct yk_backend_lane *lane, const struct yk_attention_op *op);
    void (*attention_backward)(struct yk_backend_lane *lane,
                               const struct yk_attention_backward_op *op);
    void (*norm)(struct yk_backend_lane *lane, const struct yk_norm_op *op);
    void (*norm_backward)(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op);
    void (*embedding)(struct yk_backend_lane *lane, const struct yk_embedding_op *op);
    void (*embedding_backward)(struct yk_backend_lane *lane,
                               const struct yk_embedding_backward_op *op);
    void (*rotary)(struct yk_backend_lane *lane, const struct yk_rotary_op *op);
    void (*swiglu)(struct yk_backend_lane *lane, const struct yk_swiglu_op *op);
    void (*swiglu_backward)(struct yk_backend_lane *lane, const struct yk_swiglu_backward_op *op);
    void (*dropout)(struct yk_backend_lane *lane, const struct yk_dropout_op *op);
    void (*sum_rows)(struct yk_backend_lane *lane, const struct yk_sum_rows_op *op);
    void (*cross_entropy)(struct yk_backend_lane *lane, const struct yk_cross_entropy_op *op);
    void (*sum_squares)(struct yk_backend_lane *lane, const struct yk_sum_squares_op *op);
    void (*clip_norm)(struct yk_backend_lane *lane, const struct yk_clip_norm_op *op);
    void (*adamw)(struct yk_backend_lane *lane, const struct yk_adamw_op *op);
    void (*sgd)(struct yk_backend_lane *lane, const struct yk_sgd_op *op);
    void (*cast)(struct yk_backend_lane *lane, const struct yk_cast_op *op);
    void (*add)(struct yk_backend_lane *lane, const struct yk_add_op *op);
    void (*quantise)(struct yk_backend_lane *lane, const struct yk_quantise_op *op);
    void (*dequantise)(struct yk_backend_lane *lane, const struct yk_dequantise_op *op);
};

extern const struct yk_backend yk_backend_cpu;

/* Hashes (eight digits) of a backend's sources and compiler, on which its times depend. The build
 * generates them with tools/code_hash.cmake. */
extern const char yk_code_cpu[];
extern const char yk_code_cuda[]; /* in the plug-in */

#define YK_BACKEND_PLUGIN_SYMBOL "yk_backend_plugin" /* const struct yk_backend */

/* Loads a backend from a plug-in, which exports its table as YK_BACKEND_PLUGIN_SYMBOL. The plug-in
 * is never unloaded. Fails if the file cannot be loaded or has another ABI version; the message
 * says what to install. */
yk_status yk_backend_load(const char *path, const struct yk_backend **out) YK_MUST_USE;

#endif
