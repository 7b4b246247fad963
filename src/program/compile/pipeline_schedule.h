/*
 * Pipeline schedule: the order in which segments of layers go forward and backward for each
 * micro-batch.
 *
 * A segment is a run of consecutive layers of one group. Nothing here knows how long a segment
 * takes; the order is the one that arises when each group spends one unit of time on the
 * forward pass of all its segments together and two on the backward pass: the stages of a pipeline
 * are cut to take equally long.
 *
 *   gpipe  a segment goes backward when it has been forward for all micro-batches
 *   1f1b   backward first; of segment k of K, at most K − k micro-batches are under way
 *   nested forward from the last micro-batch to the first, backward from the first to the last
 *
 * A group does one pass at a time; members that take none of its samples are free for those of
 * other groups meanwhile.
 */
#ifndef YK_PROGRAM_COMPILE_PIPELINE_SCHEDULE_H
#define YK_PROGRAM_COMPILE_PIPELINE_SCHEDULE_H

#include "program/program.h"

struct yk_segment {
    int32_t group;
    int32_t first_layer;
    int32_t layer_count;
    int64_t forward_ticks;
    int64_t backward_ticks;
};

struct yk_segment_pass {
    int32_t segment;
    int32_t micro_batch;
    bool backward;
    int64_t start;
    int64_t end;
};

struct yk_pipeline_schedule {
    struct yk_segment *segments;
    int32_t segment_count;          /* K */
    struct yk_segment_pass *passes; /* (2 · K · M), by their start */
    int32_t pass_count;
    int64_t end;
};

yk_status yk_pipeline_schedule_make(const struct yk_program *program, struct yk_arena *arena,
                                    struct yk_pipeline_schedule *out) YK_MUST_USE;

/* When layer number `index` of the `count` of a pass starts; that of `count` is the pass's end. */
int64_t yk_pipeline_schedule_at(const struct yk_segment_pass *pass, int32_t index, int32_t count);

#endif
