/*
 * Replay bench: a lane of a GPU and the memory of a small layer. A test enqueues the ops of the
 * layer inside or outside a range and compares digests of the results.
 *
 * A bench owns its lane, event and memory. Only one thread at a time may use it. If a bench cannot
 * be opened, the calling test fails.
 */
#ifndef YK_TESTS_REPLAY_BENCH_H
#define YK_TESTS_REPLAY_BENCH_H

#include "backend/backend.h"

#include <stddef.h>
#include <stdint.h>

enum {
    REPLAY_ALIGNMENT = 256, /* bytes; alignment of each buffer */
};

/* The buffers of the layer, in device memory. Elements are bf16 unless noted. ROWS = B · T for B
 * samples of T tokens; a row has C elements. */
struct replay_places {
    char *inputs;   /* start of the inputs, which end at `results` */
    char *x;        /* (ROWS, C) */
    char *weights;  /* (C, 3 · C) */
    char *bias;     /* (3 · C) */
    char *norm;     /* (C), and its bias (C) */
    char *results;  /* start of the results, which end at `counter` */
    char *normed;   /* (ROWS, C) */
    char *mean;     /* (ROWS) fp32, and rstd (ROWS) */
    char *qkv;      /* (ROWS, 3 · C) */
    char *sums;     /* (B, HEADS, T) fp32 */
    char *attended; /* (ROWS, C) */
    char *moved;    /* (ROWS, C) */
    char *d_bias;   /* (3 · C) */
    char *counter;  /* (1) fp32: number of runs */
    char *one;      /* (1) fp32 */
    char *end;
};

struct replay_bench {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    struct yk_backend_event *event;
    void *memory;
    struct replay_places at;
    char *host; /* host copy of the results */
};

struct replay_bench replay_bench_open(const struct yk_backend *backend,
                                      const struct yk_backend_device_options *options);
void replay_bench_close(struct replay_bench *bench);

/* Opens a bench on a device that is already open. replay_bench_drop() does not close the device. */
void replay_bench_open_on(const struct yk_backend *backend, struct yk_backend_device *device,
                          struct replay_bench *out);
void replay_bench_drop(struct replay_bench *bench);

/* Fills the inputs with random numbers between −1 and 1. */
void replay_bench_fill(const struct replay_bench *bench, uint64_t seed);

/* Size of all results. */
size_t replay_bench_bytes(const struct replay_bench *bench);

/* Enqueues a norm, a matmul, attention, a row sum and copies, and adds 1 to the counter. */
void replay_bench_enqueue(const struct replay_bench *bench, float scale, int64_t sample);

/* Waits for the results and computes their digest. */
yk_status replay_bench_read(const struct replay_bench *bench, uint64_t *out) YK_MUST_USE;

/* Clears the results, enqueues the work and reads the digest. The work is in a range called `name`;
 * NULL means: no range. */
yk_status replay_bench_work(const struct replay_bench *bench, const char *name, float scale,
                            uint64_t *out) YK_MUST_USE;

#endif
