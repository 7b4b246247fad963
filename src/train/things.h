/*
 * Things: what a step holds in memory for a while, and where each lies in one piece of it.
 *
 * A thing is held from the start of an op to the end of another, or of one on each lane: from the
 * first of those it begins with until the last of those it ends with. Things that are never held at
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

enum {
    YK_THING_LANES = 2 /* compute and comm */
};

struct yk_thing {
    size_t bytes;
    int32_t from[YK_THING_LANES]; /* ops; YK_OP_NONE: nothing on that lane */
    int32_t until[YK_THING_LANES];
    int32_t lag; /* rounds between the two: 0 or 1 */
    size_t *to;  /* gets its offset in the memory */
    size_t offset;
};

/* One that is not held yet. */
struct yk_thing yk_thing_new(size_t bytes, size_t *to);

/* It is held from the start of this op, too, or until its end; YK_OP_NONE changes nothing. */
void yk_thing_begin(struct yk_thing *thing, const struct yk_rank_view *view, int32_t op);
void yk_thing_end(struct yk_thing *thing, const struct yk_rank_view *view, int32_t op);

struct yk_things {
    struct yk_thing *items; /* free with yk_things_free() */
    int32_t count;
    int32_t capacity;
    bool failed;       /* said when they are placed: memory ran out, */
    bool is_uncounted; /* or one has more bytes than can be counted */
};

void yk_things_free(struct yk_things *things);

/* Nothing where it has no bytes, or neither begins nor ends. */
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
