/*
 * Offsets: where buffers lie in one allocation, so that those that may be alive at the same time
 * never overlap.
 *
 * The program's order and waits say which may be, in this round and from one round to the next. A
 * buffer of several parts (program/memory/lifetimes.h) has one offset, and each part its own
 * lifetime. Each buffer gets the lowest free offset, the largest first, and where that wastes
 * memory other orders are tried. The result is deterministic.
 */
#ifndef YK_TRAIN_EXECUTOR_OFFSETS_H
#define YK_TRAIN_EXECUTOR_OFFSETS_H

#include "base/arena.h"
#include "base/status.h"
#include "program/memory/lifetimes.h"

#include <stddef.h>
#include <stdint.h>

/* A buffer, or a part of one. */
struct yk_offsets_part {
    struct yk_lifetime lifetime;
    size_t at; /* in its buffer */
    size_t bytes;
};

struct yk_offsets {
    struct yk_offsets_part *parts; /* free with yk_offsets_free() */
    int32_t count;
    int32_t capacity;
    bool failed;       /* reported when offsets are assigned: memory ran out, */
    bool is_uncounted; /* or one has more bytes than can be counted */
};

void yk_offsets_free(struct yk_offsets *offsets);

/* Parts of a buffer must not overlap. One without bytes is left out. */
void yk_offsets_add(struct yk_offsets *offsets, const struct yk_lifetime *lifetime, size_t at,
                    size_t bytes);

/* Finds the offset of each buffer, by its number, and the size of the allocation. Parts are in
 * another order afterwards. Buffers that nothing was added of are left as they are. */
yk_status yk_offsets_assign(struct yk_offsets *offsets, const struct yk_rank_view *view,
                            size_t *out, size_t *out_bytes) YK_MUST_USE;

/* An op that must wait, besides what the program says, for one `lag` rounds before, whose memory it
 * overwrites. */
struct yk_offsets_wait {
    int32_t op;
    int32_t after;
    int32_t lag;
};

/* Waits for ops of the round before: they hold nobody up for long, and never each other. By op, in
 * the arena. */
yk_status yk_offsets_find_waits(const struct yk_offsets *offsets, const struct yk_rank_view *view,
                                struct yk_arena *arena, struct yk_offsets_wait **out,
                                int32_t *out_count) YK_MUST_USE;

#endif
