#include "train/things.h"

#include "backend/backend.h"

#include <stdlib.h>

enum {
    FIRST_CAPACITY = 64,
    FAR = 3, /* rounds: lanes are never further apart than that from anything that matters */
};

void yk_things_free(struct yk_things *things)
{
    free(things->items);
    *things = (struct yk_things){0};
}

struct yk_thing yk_thing_new(size_t bytes, size_t *to)
{
    return (struct yk_thing){.bytes = bytes,
                             .from = {YK_OP_NONE, YK_OP_NONE},
                             .until = {YK_OP_NONE, YK_OP_NONE},
                             .to = to};
}

void yk_thing_begin(struct yk_thing *thing, const struct yk_rank_view *view, int32_t op)
{
    if (op != YK_OP_NONE) {
        int32_t *from = &thing->from[view->list->ops[op].lane];
        *from = *from == YK_OP_NONE || op < *from ? op : *from;
    }
}

void yk_thing_end(struct yk_thing *thing, const struct yk_rank_view *view, int32_t op)
{
    if (op != YK_OP_NONE) {
        int32_t *until = &thing->until[view->list->ops[op].lane];
        *until = op > *until ? op : *until;
    }
}

static bool is_any(const int32_t *ops)
{
    return ops[YK_LANE_COMPUTE] != YK_OP_NONE || ops[YK_LANE_COMM] != YK_OP_NONE;
}

void yk_things_add(struct yk_things *things, struct yk_thing thing)
{
    if (thing.bytes == 0 || !is_any(thing.from) || !is_any(thing.until) || things->failed) {
        return;
    }
    if (things->count == things->capacity) {
        const int32_t capacity = things->capacity > 0 ? 2 * things->capacity : FIRST_CAPACITY;
        struct yk_thing *grown = realloc(things->items, (size_t)capacity * sizeof *grown);
        if (!grown) {
            things->failed = true;
            return;
        }
        things->items = grown;
        things->capacity = capacity;
    }
    thing.bytes =
        (thing.bytes + YK_BACKEND_ALIGNMENT - 1) / YK_BACKEND_ALIGNMENT * YK_BACKEND_ALIGNMENT;
    things->items[things->count++] = thing;
}

/* `a` of some round has always ended when `b`, `rounds` rounds later, begins. */
static bool ends_before(const struct yk_rank_view *view, const struct yk_thing *a,
                        const struct yk_thing *b, int32_t rounds)
{
    for (int until = 0; until < YK_THING_LANES; until++) {
        for (int from = 0; from < YK_THING_LANES; from++) {
            if (a->until[until] != YK_OP_NONE && b->from[from] != YK_OP_NONE &&
                !yk_rank_view_knows(view, a->until[until], b->from[from], rounds - a->lag)) {
                return false;
            }
        }
    }
    return true;
}

/* Whether both may be held at once: unless, for every distance in rounds, one has ended when the
 * other begins. */
static bool can_meet(const struct yk_rank_view *view, const struct yk_thing *a,
                     const struct yk_thing *b)
{
    for (int32_t rounds = -FAR; rounds <= FAR; rounds++) {
        if (!ends_before(view, a, b, rounds) && !ends_before(view, b, a, -rounds)) {
            return true;
        }
    }
    return false;
}

/* The largest first; of equal ones the earlier. */
static int compare(const void *a, const void *b)
{
    const struct yk_thing *left = a;
    const struct yk_thing *right = b;
    if (left->bytes != right->bytes) {
        return left->bytes > right->bytes ? -1 : 1;
    }
    for (int lane = 0; lane < YK_THING_LANES; lane++) {
        if (left->from[lane] != right->from[lane]) {
            return left->from[lane] < right->from[lane] ? -1 : 1;
        }
    }
    return 0;
}

/* Where something lies. */
struct range {
    size_t begin;
    size_t end;
};

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a;
    const struct range *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* The lowest place that nothing held at the same time touches; `near` is room for all things. */
static void place_one(struct yk_thing *thing, const struct yk_rank_view *view,
                      const struct yk_thing *placed, int32_t count, struct range *near)
{
    int32_t near_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (can_meet(view, thing, &placed[i])) {
            near[near_count++] =
                (struct range){placed[i].offset, placed[i].offset + placed[i].bytes};
        }
    }
    qsort(near, (size_t)near_count, sizeof *near, compare_ranges);
    size_t at = 0;
    for (int32_t i = 0; i < near_count && near[i].begin < at + thing->bytes; i++) {
        at = near[i].end > at ? near[i].end : at;
    }
    thing->offset = at;
    *thing->to = at;
}

yk_status yk_things_place(struct yk_things *things, const struct yk_rank_view *view,
                          size_t *out_bytes)
{
    *out_bytes = 0;
    if (things->failed) {
        return yk_fail_out_of_memory();
    }
    if (things->count == 0) {
        return YK_OK;
    }
    struct range *near = calloc((size_t)things->count, sizeof *near);
    if (!near) {
        return yk_fail_out_of_memory();
    }
    qsort(things->items, (size_t)things->count, sizeof *things->items, compare);
    for (int32_t i = 0; i < things->count; i++) {
        struct yk_thing *thing = &things->items[i];
        place_one(thing, view, things->items, i, near);
        const size_t end = thing->offset + thing->bytes;
        *out_bytes = end > *out_bytes ? end : *out_bytes;
    }
    free(near);
    return YK_OK;
}

static void add_waits(const struct yk_thing *thing, const struct yk_rank_view *view,
                      struct yk_thing_wait *out, int32_t *count)
{
    const int32_t lag = 1 - thing->lag;
    for (int until = 0; until < YK_THING_LANES; until++) {
        for (int from = 0; from < YK_THING_LANES; from++) {
            if (thing->until[until] != YK_OP_NONE && thing->from[from] != YK_OP_NONE &&
                !yk_rank_view_knows(view, thing->until[until], thing->from[from], lag)) {
                out[(*count)++] =
                    (struct yk_thing_wait){thing->from[from], thing->until[until], lag};
            }
        }
    }
}

yk_status yk_things_find_waits(const struct yk_things *things, const struct yk_rank_view *view,
                               struct yk_arena *arena, struct yk_thing_wait **out,
                               int32_t *out_count)
{
    *out_count = 0;
    YK_TRY_NEW(arena, *out, (int64_t)things->count * YK_THING_LANES * YK_THING_LANES + 1);
    for (int32_t i = 0; i < things->count; i++) {
        add_waits(&things->items[i], view, *out, out_count);
    }
    return YK_OK;
}
