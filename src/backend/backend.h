/*
 * Backend: what a kind of device can do, as one table of functions.
 *
 * A device has memory and lanes. Work is enqueued on a lane and runs later, in order; lanes run
 * side by side. Events order work between lanes and show the host how far a lane is. Nothing that
 * is enqueued allocates memory or makes the host wait, except that a lane may be full. An op cannot
 * fail when it is called: what goes wrong on the device afterwards stays with the lane and is
 * returned by lane_synchronize() and event_synchronize(). One thread at a time enqueues on a lane.
 *
 * The room:
 *   backend.h, ops.h        the table, and the arguments of every op
 *   nf4_codebook.h          the values of NF4 codes
 *   cpu/                    the CPU: lanes are threads (lane, pin, memory, blas, parallel)
 *     attention/            forward, backward, and the tiles that both multiply
 *     kernels/              all other ops, a file each, shared among threads by OpenMP
 *     math/                 conversions, vectors, reductions, exp and erf, random numbers
 *   cuda/                   NVIDIA GPUs, a plug-in: lanes are streams (device, lane, memory, event)
 *     attention/            by cuDNN, by tensor cores and without
 *     matmul/               by cuBLASLt: shapes, algorithms, how the fastest is found and kept
 *     kernels/              all other ops, and what kernels share (.cuh)
 *     graphs/               ops that come again and again, launched as CUDA graphs
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
    YK_BACKEND_ALIGNMENT = 64, /* of memory that a device gives */
    /* Scratch memory of a GPU that side_streams (below) need in addition. */
    YK_BACKEND_SIDE_BYTES = 128 << 20,
};

struct yk_backend_device; /* opaque; the backend's own */
struct yk_backend_lane;
struct yk_backend_event;

struct yk_backend_options {
    int32_t number;  /* which of the machine's devices of this kind */
    int32_t threads; /* of a CPU; 0: one for each core this process may use */
    /* Of a CPU, the system's numbers of cores, copied: thread i of the lane "compute" stays on
     * cores[i mod core_count], the lane "comm" on comm_core, others on any of them. Where the
     * system refuses, a note is logged. */
    const int32_t *cores;
    int32_t core_count; /* 0: threads go where the system likes */
    int32_t comm_core;
    /* Of a GPU. */
    size_t memory_bytes;   /* the most that this process may allocate; 0: all there is */
    const char *attention; /* "best" or NULL, "cudnn", "own" */
    const char *products;  /* the file that keeps which algorithm is fastest for a matmul, copied;
                              NULL: found anew by every process */
    bool side_streams;     /* products whose outputs lie side by side (cuts) run side by side */
    bool graphs;           /* ops that repeat in a range are launched as one CUDA graph */
    int32_t messages;      /* SMs that messages use while they travel: kernels leave them free */
};

struct yk_backend {
    const char *name; /* "cpu" */
    int32_t abi;      /* YK_BACKEND_ABI */

    yk_status (*open)(const struct yk_backend_options *options, struct yk_backend_device **out);
    void (*close)(struct yk_backend_device *device); /* NULL is fine, here and below */
    /* "Arm Neoverse N1, 2 threads". */
    void (*describe)(const struct yk_backend_device *device, struct yk_text *out);
    /* What times on the device depend on besides the device: the backend's code, libraries, driver,
     * clock limits. Where any of it differs, times must be measured again. */
    void (*versions)(const struct yk_backend_device *device, struct yk_text *out);

    /* Memory, zeroed. Refusals name the device, the bytes asked for and those that are free. */
    yk_status (*allocate)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free)(struct yk_backend_device *device, void *memory);
    /* Pinned memory of the host, for fast copies. */
    yk_status (*allocate_host)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free_host)(struct yk_backend_device *device, void *memory);
    /* Or NULL, where the memory is the host's: bytes of the device that this process uses now, with
     * what libraries and the driver keep there for it; all that is in use where nobody else is. */
    size_t (*used_bytes)(struct yk_backend_device *device);

    /* Or NULL, likewise: whether a pointer is to memory of the device. */
    bool (*contains)(const struct yk_backend_device *device, const void *memory);

    yk_status (*lane_create)(struct yk_backend_device *device, const char *name,
                             struct yk_backend_lane **out);
    void (*lane_destroy)(struct yk_backend_lane *lane); /* after what is on it has run */
    /* Or NULL: allocates `bytes` of scratch memory for ops on the lane now, not at first use. */
    yk_status (*reserve_scratch)(struct yk_backend_lane *lane, size_t bytes);
    /* Or NULL: the lane as a cudaStream_t, and the device's number in CUDA. */
    void *(*native_stream)(const struct yk_backend_lane *lane, int32_t *number);
    /* The host waits until all that is on the lane has run. */
    yk_status (*lane_synchronize)(struct yk_backend_lane *lane);

    yk_status (*event_create)(struct yk_backend_device *device, struct yk_backend_event **out);
    void (*event_destroy)(struct yk_backend_event *event);
    /* The event happens when all that is on the lane now has run. It may be recorded again. */
    void (*event_record)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* The lane waits for the event as last recorded; not at all if it never was. */
    void (*event_wait)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* The host waits for it. */
    yk_status (*event_synchronize)(struct yk_backend_event *event);
    /* Whether it has happened, as last recorded, or was never recorded; any thread, no wait. */
    bool (*event_query)(const struct yk_backend_event *event);
    /* When it last happened, on the clock of base/clock.h; only after a synchronize. */
    double (*event_time_s)(const struct yk_backend_event *event);

    /* Between memories of this device and the host, in any direction. */
    void (*copy)(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
    void (*clear)(struct yk_backend_lane *lane, void *memory, size_t bytes);
    /* A function of the host, run in order on the lane: it must not call the backend. */
    void (*call_host)(struct yk_backend_lane *lane, void (*function)(void *user), void *user);
    /* Or NULL: what is enqueued between the two has this name in profilers, and may begin to run
     * only when the range ends. Ranges that do the same work should have the same pointer. */
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

/* Eight digits that stand for the sources that a backend's times depend on and for what compiled
 * them. Made when yoke is built, by tools/code_hash.cmake. */
extern const char yk_code_cpu[];
extern const char yk_code_cuda[]; /* in the plug-in */

#define YK_BACKEND_PLUGIN_TABLE "yk_backend_plugin" /* const struct yk_backend */

/* A backend from the file of its plug-in, which exports its table as YK_BACKEND_PLUGIN_TABLE; it
 * stays loaded. Where the file cannot be loaded, or is of another version, the sentence says what
 * to install. */
yk_status yk_backend_load(const char *path, const struct yk_backend **out) YK_MUST_USE;

#endif
