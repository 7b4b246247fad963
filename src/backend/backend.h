/*
 * Backend: what a kind of device can do, as one table of functions.
 *
 * A device has memory and lanes. Work is put on a lane and runs later, in order; lanes run side by
 * side. Events order work between lanes and tell the host how far a lane has come. Nothing that is
 * put on a lane allocates memory or makes the host wait, except that a lane may be full.
 *
 * An op cannot fail when it is called. What goes wrong on the device afterwards stays with the lane
 * and is returned by finish() and reach().
 *
 * One thread at a time puts work on a lane; different threads may use different lanes. Backends:
 * backend/cpu here; others are plug-ins that export one such table.
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
    /* Scratch memory that side_streams (below) take of a GPU besides. */
    YK_BACKEND_SIDE_BYTES = 128 << 20,
};

struct yk_backend_device; /* opaque; the backend's own */
struct yk_backend_lane;
struct yk_backend_event;

struct yk_backend_options {
    int32_t number;  /* which of the machine's devices of this kind */
    int32_t threads; /* of a CPU; 0: one for each core this process may use */
    /* Of a CPU, the system's numbers of cores, copied: thread i of the lane "compute" stays on
     * cores[i mod core_count], the lane "comm" on comm_core, others on any of them. Where that
     * cannot be had, a note is all. */
    const int32_t *cores;
    int32_t core_count; /* 0: threads go where the system likes */
    int32_t comm_core;
    /* Of a GPU. */
    size_t memory_bytes;   /* that this process may take of it at most; 0: all there is */
    const char *attention; /* "best" or NULL, "cudnn", "own" */
    const char *products;  /* the file that keeps which algorithm is fastest for a product, copied;
                              NULL: found anew by every process */
    bool side_streams;     /* products whose outputs lie side by side (cuts) run side by side */
    bool graphs;           /* what comes again and again in a range is launched as one */
    int32_t messages;      /* processors that messages hold while they travel: left to them */
};

struct yk_backend {
    const char *name; /* "cpu" */
    int32_t abi;      /* YK_BACKEND_ABI */

    yk_status (*open)(const struct yk_backend_options *options, struct yk_backend_device **out);
    void (*close)(struct yk_backend_device *device); /* NULL is fine, here and below */
    /* "Arm Neoverse N1, 2 threads". */
    void (*describe)(const struct yk_backend_device *device, struct yk_text *out);
    /* What times on the device depend on besides the device: the backend's own code, libraries,
     * driver, limits of clocks. Where any of it is another, times are to be measured again. */
    void (*versions)(const struct yk_backend_device *device, struct yk_text *out);

    /* Memory, zeroed. Refusals name the device, the bytes asked for and those that are free. */
    yk_status (*allocate)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free)(struct yk_backend_device *device, void *memory);
    /* Memory of the host that copies to and from the device are fast with. */
    yk_status (*allocate_host)(struct yk_backend_device *device, size_t bytes, void **out);
    void (*free_host)(struct yk_backend_device *device, void *memory);
    /* Or NULL, where the memory is the host's: bytes of the device that this process has now, with
     * what libraries and the driver keep there for it; where nobody else uses the device, all that
     * is in use. */
    size_t (*used_bytes)(struct yk_backend_device *device);

    /* Or NULL, likewise: whether a pointer is to memory of the device. */
    bool (*contains)(const struct yk_backend_device *device, const void *memory);

    yk_status (*lane_create)(struct yk_backend_device *device, const char *name,
                             struct yk_backend_lane **out);
    void (*lane_destroy)(struct yk_backend_lane *lane); /* after what is on it has run */
    /* Or NULL: `bytes` of scratch memory for ops on the lane are taken now, not when one asks. */
    yk_status (*reserve_scratch)(struct yk_backend_lane *lane, size_t bytes);
    /* Or NULL: what libraries of the device's maker know the lane by, a cudaStream_t, and under
     * which number they know the device. */
    void *(*native_stream)(const struct yk_backend_lane *lane, int32_t *number);
    /* Waits until all that is on the lane has run. */
    yk_status (*lane_synchronize)(struct yk_backend_lane *lane);

    yk_status (*event_create)(struct yk_backend_device *device, struct yk_backend_event **out);
    void (*event_destroy)(struct yk_backend_event *event);
    /* The event happens when what is on the lane by now has run. It may be recorded again. */
    void (*event_record)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* The lane goes on when the event, as last recorded, has happened; at once if it never was. */
    void (*event_wait)(struct yk_backend_lane *lane, struct yk_backend_event *event);
    /* The host waits for it. */
    yk_status (*event_synchronize)(struct yk_backend_event *event);
    /* Whether it has happened, as last recorded, or never was; any thread, and nothing is waited
     * for but what the device's driver may be busy with. */
    bool (*event_query)(const struct yk_backend_event *event);
    /* When it last happened, on the clock of base/clock.h; only after reach() or finish(). */
    double (*event_time_s)(const struct yk_backend_event *event);

    /* Between memories of this device and the host, in any direction. */
    void (*copy)(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
    void (*clear)(struct yk_backend_lane *lane, void *memory, size_t bytes);
    /* Work of the host in its turn on the lane: it must not call the backend. */
    void (*call_host)(struct yk_backend_lane *lane, void (*function)(void *user), void *user);
    /* Or NULL: what is put on the lane between the two is known to profilers by this name, and may
     * begin to run only when the range ends. Ranges that do the same work are best known by the
     * same pointer. */
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

#endif
