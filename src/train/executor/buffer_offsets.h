/*
 * Buffer offsets: assigns to each buffer an offset in one allocation, so that two buffers that may
 * be alive at the same time never overlap.
 *
 * A round is one pass through the rank's ops. The order of the ops and their waits determine which
 * buffers may be alive at the same time, within a round or across rounds. A buffer may consist of
 * several parts (program/memory/buffer_lifetimes.h). The buffer has one offset, but each part has
 * its own lifetime. Buffers are placed one after the other, the largest first, each at the lowest
 * free offset. If this wastes memory, other orders are tried. The result is deterministic.
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

struct yk_buffer_part_list {
    struct yk_buffer_part *parts; /* freed by yk_buffer_offsets_free_parts() */
    int32_t count;
    int32_t capacity;
    bool failed;       /* a part could not be added; yk_buffer_offsets_assign() returns the error */
    bool is_uncounted; /* the part could not be added because its end overflowed an integer */
};

void yk_buffer_offsets_free_parts(struct yk_buffer_part_list *offsets);

/* Adds a part. Parts of the same buffer must not overlap. A part of 0 bytes is ignored. */
void yk_buffer_offsets_add_part(struct yk_buffer_part_list *offsets,
                                const struct yk_buffer_lifetime *lifetime, size_t at, size_t bytes);

/* Writes the offset of each buffer to out[buffer number], and the size of the allocation to
 * `out_bytes`. Leaves out[b] unchanged if buffer b has no parts. Sorts the parts. */
yk_status yk_buffer_offsets_assign(struct yk_buffer_part_list *offsets,
                                   const struct yk_op_index *index, size_t *out,
                                   size_t *out_bytes) YK_MUST_USE;

/* A wait in addition to the waits of the program: `op` must wait for the op `after` of the round
 * that is `lag` rounds earlier, because `op` overwrites memory that `after` uses. */
struct yk_buffer_reuse_wait {
    int32_t op;
    int32_t after;
    int32_t lag;
};

/* Finds the waits that are needed because every round uses the same memory. `lag` is 1; it is 0 if
 * the lifetime of the buffer begins in one round and ends in the next round. An op waits only for
 * ops that were enqueued before it, so the waits cannot deadlock. The waits are sorted by op and
 * are in the arena. */
yk_status yk_buffer_offsets_find_reuse_waits(const struct yk_buffer_part_list *offsets,
                                             const struct yk_op_index *index,
                                             struct yk_arena *arena,
                                             struct yk_buffer_reuse_wait **out,
                                             int32_t *out_count) YK_MUST_USE;

#endif
