/*
 * Buffer offsets: assigns each buffer an offset in one allocation, so that two buffers that may be
 * alive at the same time never overlap.
 *
 * The order of ops and their waits determine which buffers may be alive together, within one round
 * and across rounds. A buffer may consist of several parts (program/memory/buffer_lifetimes.h): it
 * has one offset, and each part has its own lifetime. Buffers are placed one after the other at the
 * lowest free offset, the largest first. If this wastes memory, other orders are tried. The result
 * is deterministic.
 */
#ifndef YK_TRAIN_EXECUTOR_BUFFER_OFFSETS_H
#define YK_TRAIN_EXECUTOR_BUFFER_OFFSETS_H

#include "base/arena.h"
#include "base/status.h"
#include "program/memory/buffer_lifetimes.h"

#include <stddef.h>
#include <stdint.h>

/* A part of a buffer. */
struct yk_buffer_part {
    struct yk_buffer_lifetime lifetime;
    size_t at; /* byte offset in the buffer */
    size_t bytes;
};

struct yk_buffer_offsets {
    struct yk_buffer_part *parts; /* freed by yk_buffer_offsets_free() */
    int32_t count;
    int32_t capacity;
    bool failed;       /* an addition failed; yk_buffer_offsets_assign() reports it */
    bool is_uncounted; /* the failure was an integer overflow of the size */
};

void yk_buffer_offsets_free(struct yk_buffer_offsets *offsets);

/* Adds a part. Parts of one buffer must not overlap. A part of 0 bytes is ignored. */
void yk_buffer_offsets_add(struct yk_buffer_offsets *offsets,
                           const struct yk_buffer_lifetime *lifetime, size_t at, size_t bytes);

/* Writes the offset of each buffer to out[buffer number], and the size of the allocation to
 * `out_bytes`. Buffers that have no parts keep their value in `out`. Sorts the parts. */
yk_status yk_buffer_offsets_assign(struct yk_buffer_offsets *offsets,
                                   const struct yk_op_index *index, size_t *out,
                                   size_t *out_bytes) YK_MUST_USE;

/* A wait in addition to those of the program: `op` must wait for op `after` of `lag` rounds before,
 * because it overwrites memory that `after` uses. */
struct yk_buffer_reuse_wait {
    int32_t op;
    int32_t after;
    int32_t lag;
};

/* Finds the waits that the reuse of memory in the next round requires. An op waits only for ops of
 * an earlier round, so the waits cannot deadlock. Sorted by op, in the arena. */
yk_status yk_buffer_offsets_find_waits(const struct yk_buffer_offsets *offsets,
                                       const struct yk_op_index *index, struct yk_arena *arena,
                                       struct yk_buffer_reuse_wait **out,
                                       int32_t *out_count) YK_MUST_USE;

#endif
