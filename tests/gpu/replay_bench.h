/*
 * Replay bench: a lane of a GPU with memory that some work of a layer reads and writes, to be put
 * inside a range or outside of any, and a digest of what came out.
 *
 * A bench owns its lane, event and memory; one thread at a time. What goes wrong in opening one
 * fails the test, which is for its own thread alone.
 */
#ifndef YK_TESTS_REPLAY_BENCH_H
#define YK_TESTS_REPLAY_BENCH_H

#include "backend/backend.h"

#include <stddef.h>
#include <stdint.h>

enum {
    REPLAY_ALIGNMENT = 256, /* of places in memory, in bytes */
};

/* What the work of a range reads and writes, all on the device. Numbers are bf16 where not said;
 * B samples of T tokens with C numbers are ROWS = B · T rows. */
struct replay_places {
    char *inputs;   /* those up to `results` */
    char *x;        /* (ROWS, C) */
    char *weights;  /* (C, 3 · C) */
    char *bias;     /* (3 · C) */
    char *norm;     /* (C), and its bias (C) */
    char *results;  /* those up to `counter` */
    char *normed;   /* (ROWS, C) */
    char *mean;     /* (ROWS) fp32, and rstd (ROWS) */
    char *qkv;      /* (ROWS, 3 · C) */
    char *sums;     /* (B, HEADS, T) fp32 */
    char *attended; /* (ROWS, C) */
    char *moved;    /* (ROWS, C) */
    char *d_bias;   /* (3 · C) */
    char *counter;  /* (1) fp32: how often the work was done */
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
    char *host; /* as long as results */
};

struct replay_bench replay_bench_open(const struct yk_backend *backend,
                                      const struct yk_backend_options *options);
void replay_bench_close(struct replay_bench *bench);

/* On a device that is open, and stays so. */
void replay_bench_open_on(const struct yk_backend *backend, struct yk_backend_device *device,
                          struct replay_bench *out);
void replay_bench_drop(struct replay_bench *bench);

/* Draws other inputs: bf16 between −1 and 1. */
void replay_bench_fill(const struct replay_bench *bench, uint64_t seed);

/* Of all results. */
size_t replay_bench_bytes(const struct replay_bench *bench);

/* Puts norm, product and attention, a sum, and some moving around; counts itself. */
void replay_bench_enqueue(const struct replay_bench *bench, float scale, int64_t sample);

/* Waits for the results: a digest of them. */
yk_status replay_bench_read(const struct replay_bench *bench, uint64_t *out) YK_MUST_USE;

/* The work from cleared results to their digest, in a range of that name or, where it is NULL, in
 * none. */
yk_status replay_bench_work(const struct replay_bench *bench, const char *name, float scale,
                            uint64_t *out) YK_MUST_USE;

#endif
