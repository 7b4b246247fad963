/*
 * Op times: how long each op of a program took during a run, and during which fraction of this time
 * other lanes were busy. Both are medians over steps. They are stored as RUN/op-times.json:
 *
 *   {"yoke": 1, "kind": "op times", "steps": 27,
 *    "ranks": [{"device": "cpu0", "share": 8, "versions": "OpenBLAS 0.3.29, …",
 *               "ops": [{"op": "forward layer 0", "seconds": 0.0011, "low_s": 0.001,
 *                        "high_s": 0.0012, "overlap": 0.4}, …]}, …]}
 */
#ifndef YK_TRACE_OP_TIMES_H
#define YK_TRACE_OP_TIMES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

struct yk_op_times_op {
    const char *op;
    double seconds; /* median time. The time of a compute op begins when the op could begin. The
                       time of a message begins when all its ranks are ready, and ends when it has
                       ended on all of them */
    double low_s;   /* lower quartile */
    double high_s;  /* upper quartile */
    double overlap; /* from 0 to 1. For a compute op: fraction of its time in which data moved to or
                       from its rank. For a message: fraction of its time in which at least one of
                       its ranks computed */
};

struct yk_op_times_rank {
    const char *device;
    int64_t share;        /* number of samples that the rank computes in a step */
    const char *versions; /* driver and libraries that the times depend on; "" means: unknown */
    struct yk_op_times_op *ops; /* ops in the order of the rank's program */
    int32_t op_count;
};

struct yk_op_times {
    int64_t steps; /* number of steps over which the medians are computed */
    struct yk_op_times_rank *ranks;
    int32_t rank_count;
};

yk_status yk_op_times_write_json(const struct yk_op_times *times, struct yk_text *out) YK_MUST_USE;

/* Reads op times. `source` is the name of the file, for error messages. The result lives in the
 * arena. */
yk_status yk_op_times_parse_json(const char *text, size_t length, const char *source,
                                 struct yk_arena *arena, struct yk_op_times *out) YK_MUST_USE;

#endif
