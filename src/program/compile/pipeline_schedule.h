/*
 * Pipeline schedule: the order of the forward and backward passes of all segments and
 * micro-batches. A segment is a sequence of consecutive layers of one group.
 *
 * The schedule does not use measured times. It assumes balanced pipeline stages: for each
 * micro-batch, every group needs one unit of time for the forward passes of all its segments, and
 * two units for the backward passes.
 *
 *   gpipe   a segment starts backward passes after its forward passes of all micro-batches
 *   1f1b    segment k of K (k starts at 0) has at most K − k micro-batches in flight
 *   nested  forward passes from the last micro-batch to the first, backward passes from the first
 *           micro-batch to the last
 *
 * The next pass is the one that can start first. If a forward and a backward pass can start at the
 * same time, the backward pass is next. A group runs only one pass at a time. During a pass in
 * which a rank has no samples, the rank can run passes of its other groups.
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

/* The forward or backward pass of one segment for one micro-batch. Times are in ticks, the integer
 * unit of time of the schedule. */
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
    struct yk_pipeline_pass *passes; /* (2 · K · M) sorted by start; M is the number of
                                        micro-batches */
    int32_t pass_count;
    int64_t end; /* end of the last pass */
};

/* Creates the schedule of the program's plan. The arrays of `*out` are in `arena`. */
yk_status yk_pipeline_schedule_make(const struct yk_program *program, struct yk_arena *arena,
                                    struct yk_pipeline_schedule *out) YK_MUST_USE;

/* Returns the time at which a layer starts in a pass of `count` layers. `index` is the number of
 * layers that run before it in the pass. If `index` is `count`, returns the end of the pass. */
int64_t yk_pipeline_schedule_layer_start(const struct yk_pipeline_pass *pass, int32_t index,
                                         int32_t count);

#endif
