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

void yk_things_add(struct yk_things *things, struct yk_thing thing)
{
    if (thing.bytes == 0 || thing.from < 0 || thing.until < 0 || things->failed) {
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
    return yk_rank_view_knows(view, a->until, b->from, rounds - a->lag);
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
    return left->from < right->from ? -1 : left->from > right->from;
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

yk_status yk_things_find_waits(const struct yk_things *things, const struct yk_rank_view *view,
                               struct yk_arena *arena, struct yk_thing_wait **out,
                               int32_t *out_count)
{
    *out_count = 0;
    YK_TRY_NEW(arena, *out, things->count + 1);
    for (int32_t i = 0; i < things->count; i++) {
        const struct yk_thing *thing = &things->items[i];
        if (!ends_before(view, thing, thing, 1)) {
            (*out)[(*out_count)++] =
                (struct yk_thing_wait){thing->from, thing->until, 1 - thing->lag};
        }
    }
    return YK_OK;
}
