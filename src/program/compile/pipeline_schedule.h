/*
 * Pipeline schedule: the order of the forward and backward passes of all segments and
 * micro-batches. A segment is a sequence of consecutive layers of one group.
 *
 * The schedule does not use measured times. It assumes that each group needs one unit of time for
 * the forward passes of all its segments, and two units for the backward passes, because pipeline
 * stages are balanced.
 *
 *   gpipe  a segment starts backward passes after the forward passes of all micro-batches
 *   1f1b   backward passes first; segment k of K has at most K − k micro-batches in flight
 *   nested forward passes from the last micro-batch to the first, backward passes in reverse order
 *
 * A group runs one pass at a time. A member without samples in a pass is free for passes of its
 * other groups.
 */
#ifndef YK_PROGRAM_COMPILE_PIPELINE_SCHEDULE_H
#define YK_PROGRAM_COMPILE_PIPELINE_SCHEDULE_H

#include "program/program.h"

struct yk_pipeline_segment {
    int32_t group;
    int32_t first_layer;
    int32_t layer_count;
    int64_t forward_ticks;
    int64_t backward_ticks;
};

/* The forward or backward pass of one segment for one micro-batch. Times are ticks. */
struct yk_pipeline_pass {
    int32_t segment;
    int32_t micro_batch;
    bool backward;
    int64_t start;
    int64_t end;
};

struct yk_pipeline_schedule {
    struct yk_pipeline_segment *segments;
    int32_t segment_count;           /* K */
    struct yk_pipeline_pass *passes; /* (2 · K · M) sorted by start */
    int32_t pass_count;
    int64_t end; /* of the last pass */
};

/* The arrays of `out` live in `arena`. */
yk_status yk_pipeline_schedule_make(const struct yk_program *program, struct yk_arena *arena,
                                    struct yk_pipeline_schedule *out) YK_MUST_USE;

/* The start of layer `index` of a pass of `count` layers. With `index` = `count`: the end of the
 * pass. */
int64_t yk_pipeline_schedule_layer_start(const struct yk_pipeline_pass *pass, int32_t index,
                                         int32_t count);

#endif
