/*
 * Op times: how long each op of a program took in steps of a run, as medians over steps, and how
 * much of that overlapped with other lanes: RUN/op-times.json.
 *
 *   {"yoke": 1, "kind": "op times", "steps": 27,
 *    "ranks": [{"device": "cpu0", "share": 8, "versions": "OpenBLAS 0.3.29, …",
 *               "ops": [{"op": "forward layer 0", "seconds": 0.0011, "low_s": 0.001,
 *                        "high_s": 0.0012, "overlap": 0.4}, …]}, …]}
 *
 * A record lives in the arena it was made in.
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
    double seconds; /* median: of computation from when it could begin, of a message from when all
                       its ranks had come to it until it was over on all of them */
    double low_s;   /* quartiles */
    double high_s;
    double overlap; /* part of the time: of computation, while data moved to or from its rank; of a
                      message, while any of its ranks computed */
};

struct yk_op_times_rank {
    const char *device;
    int64_t share;              /* samples that it took of a step */
    const char *versions;       /* that its times depend on; "": not known */
    struct yk_op_times_op *ops; /* in the order of the rank's program */
    int32_t op_count;
};

struct yk_op_times {
    int64_t steps; /* that were looked at */
    struct yk_op_times_rank *ranks;
    int32_t rank_count;
};

yk_status yk_op_times_write(const struct yk_op_times *times, struct yk_text *out) YK_MUST_USE;

/* `source`, the name the user knows the file by, begins every message. */
yk_status yk_op_times_read(const char *text, size_t length, const char *source,
                           struct yk_arena *arena, struct yk_op_times *out) YK_MUST_USE;

#endif
