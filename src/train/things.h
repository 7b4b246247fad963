/*
 * Things: what a step holds in memory for a while, and where each lies in one piece of it.
 *
 * A thing is held from the start of one op to the end of another. Things that are never held at
 * the same time may lie in the same place; whether two are, the program's order and waits say for
 * every moment that lanes can come to, in this round and from one round to the next.
 */
#ifndef YK_TRAIN_THINGS_H
#define YK_TRAIN_THINGS_H

#include "base/arena.h"
#include "base/status.h"
#include "program/rank_view.h"

#include <stddef.h>
#include <stdint.h>

struct yk_thing {
    size_t bytes;
    int32_t from;
    int32_t until;
    int32_t lag; /* rounds between the two: 0 or 1 */
    size_t *to;  /* gets its offset in the memory */
    size_t offset;
};

struct yk_things {
    struct yk_thing *items; /* free with yk_things_free() */
    int32_t count;
    int32_t capacity;
    bool failed; /* memory ran out: said when they are placed */
};

void yk_things_free(struct yk_things *things);

/* Nothing where it has no bytes, or one of its ops is none. */
void yk_things_add(struct yk_things *things, struct yk_thing thing);

/* Finds all offsets, and the size of the memory. */
yk_status yk_things_place(struct yk_things *things, const struct yk_rank_view *view,
                          size_t *out_bytes) YK_MUST_USE;

/* An op that must wait, besides what the program says, for one `lag` rounds before, since what it
 * begins to fill is what the other has in use until it ends. */
struct yk_thing_wait {
    int32_t op;
    int32_t after;
    int32_t lag;
};

/* Waits for ops of the round before: they hold nobody up for long, and never each other. */
yk_status yk_things_find_waits(const struct yk_things *things, const struct yk_rank_view *view,
                               struct yk_arena *arena, struct yk_thing_wait **out,
                               int32_t *out_count) YK_MUST_USE;

#endif
