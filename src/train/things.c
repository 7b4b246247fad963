#include "train/things.h"

#include "backend/backend.h"
#include "base/grow.h"

#include <stdlib.h>

enum {
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

static yk_status fail_uncounted(void)
{
    return yk_fail(YK_ERROR_INPUT,
                   "a step holds more bytes than can be counted; take a smaller batch or sequence");
}

void yk_things_add(struct yk_things *things, struct yk_thing thing)
{
    if (thing.bytes == 0 || !is_any(thing.from) || !is_any(thing.until) || things->failed) {
        return;
    }
    if (yk_grow((void **)&things->items, &things->capacity, things->count, sizeof thing) != YK_OK) {
        things->failed = true;
        return;
    }
    if (__builtin_add_overflow(thing.bytes, YK_BACKEND_ALIGNMENT - 1, &thing.bytes)) {
        things->failed = true;
        things->is_uncounted = true;
        return;
    }
    thing.bytes -= thing.bytes % YK_BACKEND_ALIGNMENT;
    things->items[things->count++] = thing;
}

/* ---- which may be held at once ---- */

/*
 * When a thing of round 0 is held, by positions in lanes that count on through the rounds
 * (program/rank_view.h): it begins after op `after` of each lane has ended, and has ended once op
 * `until` of each lane has.
 */
struct life {
    int64_t after[YK_THING_LANES];
    int64_t until[YK_THING_LANES]; /* NOTHING: it does not end on that lane */
};

static const int64_t NOTHING = INT64_MIN;

static struct life find_life(const struct yk_rank_view *view, const struct yk_thing *thing)
{
    struct life life;
    for (int lane = 0; lane < YK_THING_LANES; lane++) {
        const int32_t until = thing->until[lane];
        life.after[lane] = INT64_MAX;
        life.until[lane] = until == YK_OP_NONE ? NOTHING
                                               : view->position[until] +
                                                     (int64_t)thing->lag * view->lane_count[lane];
        for (int from = 0; from < YK_THING_LANES; from++) {
            const int32_t op = thing->from[from];
            if (op != YK_OP_NONE) {
                const int64_t known = view->known[(int64_t)op * YK_LANE_COUNT + lane];
                life.after[lane] = known < life.after[lane] ? known : life.after[lane];
            }
        }
    }
    return life;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/* The least distance in rounds from which on `a` has always ended when `b` begins. */
static int64_t find_distance(const struct yk_rank_view *view, const struct life *a,
                             const struct life *b)
{
    int64_t rounds = INT32_MIN;
    for (int lane = 0; lane < YK_THING_LANES; lane++) {
        if (a->until[lane] != NOTHING) {
            const int64_t least =
                divide_up(a->until[lane] - b->after[lane], view->lane_count[lane]);
            rounds = least > rounds ? least : rounds;
        }
    }
    return rounds;
}

/* Whether both may be held at once: there is a distance in rounds of `b` from `a`, not too far,
 * where neither has ended when the other begins. */
static bool can_meet(const struct yk_rank_view *view, const struct life *a, const struct life *b)
{
    const int64_t below = find_distance(view, a, b);
    const int64_t above = -find_distance(view, b, a);
    const int64_t first = above + 1 > -FAR ? above + 1 : -FAR;
    const int64_t last = below - 1 < FAR ? below - 1 : FAR;
    return first <= last;
}

/* ---- those near in time ---- */

enum {
    CELLS = 256,
};

struct entry {
    int32_t thing;
    int32_t next; /* −1: the last */
};

/*
 * Which things may meet one, without looking at all: the compute lane's round is cut into cells,
 * and each thing listed in the cells of the ops that may run while it is held, and of the one that
 * first knows it to have ended. Two in no common cell never meet: the later one begins after an op
 * of the compute lane that knows the other has ended, and so knows it itself. Things held for most
 * of a round are listed apart.
 */
struct nearby {
    const struct yk_rank_view *view;
    struct life *lives;       /* (things) */
    int32_t *compute;         /* (ops of the compute lane) the op at each position */
    int32_t *seen;            /* (things) by whom it was looked at last */
    int32_t heads[CELLS + 1]; /* the last is for those listed apart */
    struct entry *entries;
    int32_t count;
    int32_t capacity;
};

static void free_nearby(struct nearby *nearby)
{
    free(nearby->lives);
    free(nearby->compute);
    free(nearby->seen);
    free(nearby->entries);
}

static yk_status make_nearby(const struct yk_things *things, const struct yk_rank_view *view,
                             struct nearby *out)
{
    const size_t count = (size_t)things->count;
    int32_t position = 0;
    *out = (struct nearby){
        .view = view,
        .lives = calloc(count, sizeof *out->lives),
        .compute = calloc((size_t)view->lane_count[YK_LANE_COMPUTE] + 1, sizeof *out->compute),
        .seen = calloc(count, sizeof *out->seen),
    };
    if (!out->lives || !out->compute || !out->seen) {
        return yk_fail_out_of_memory();
    }
    for (int32_t i = 0; i <= CELLS; i++) {
        out->heads[i] = -1;
    }
    for (int32_t i = 0; i < view->list->op_count; i++) {
        if (view->list->ops[i].lane == YK_LANE_COMPUTE) {
            out->compute[position++] = i;
        }
    }
    for (int32_t i = 0; i < things->count; i++) {
        out->lives[i] = find_life(view, &things->items[i]);
    }
    return YK_OK;
}

/* Whether the op at that position of the compute lane knows the thing to have ended. */
static bool knows_end(const struct nearby *nearby, int64_t position, const struct life *life)
{
    const struct yk_rank_view *view = nearby->view;
    const int64_t ops = view->lane_count[YK_LANE_COMPUTE];
    const int64_t round = -divide_up(-position, ops); /* rounded down */
    const int32_t op = nearby->compute[position - round * ops];
    const int64_t known = view->known[(int64_t)op * YK_LANE_COUNT + YK_LANE_COMM] +
                          round * view->lane_count[YK_LANE_COMM];
    return position > life->until[YK_LANE_COMPUTE] && known >= life->until[YK_LANE_COMM];
}

/* The cells from `first` to `last`, which may go on at the first one; false: all of them. */
static bool find_cells(const struct nearby *nearby, const struct life *life, int64_t *first,
                       int64_t *last)
{
    const int64_t ops = nearby->view->lane_count[YK_LANE_COMPUTE];
    const int64_t begin = life->after[YK_LANE_COMPUTE] + 1;
    int64_t low = begin;            /* may not know it */
    int64_t high = begin + ops / 2; /* knows it */
    if (ops < 2 || begin < -FAR * ops || !knows_end(nearby, high, life)) {
        return false;
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (knows_end(nearby, middle, life)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    const int64_t round = -divide_up(-begin, ops);
    *first = (begin - round * ops) * CELLS / ops;
    *last = (high - round * ops) * CELLS / ops;
    return true;
}

static yk_status list_in(struct nearby *nearby, int32_t cell, int32_t thing)
{
    YK_TRY(yk_grow((void **)&nearby->entries, &nearby->capacity, nearby->count,
                   sizeof *nearby->entries));
    nearby->entries[nearby->count] = (struct entry){thing, nearby->heads[cell]};
    nearby->heads[cell] = nearby->count++;
    return YK_OK;
}

static yk_status list(struct nearby *nearby, int32_t thing)
{
    int64_t first = 0;
    int64_t last = 0;
    if (!find_cells(nearby, &nearby->lives[thing], &first, &last)) {
        return list_in(nearby, CELLS, thing);
    }
    for (int64_t cell = first; cell <= last; cell++) {
        YK_TRY(list_in(nearby, (int32_t)(cell % CELLS), thing));
    }
    return YK_OK;
}

/* ---- where each lies ---- */

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

/* Adds the places of things listed in a cell that `number` may meet; returns how many there are. */
static int32_t add_ranges(struct nearby *nearby, int32_t cell, const struct yk_thing *things,
                          int32_t number, struct range *ranges, int32_t count)
{
    for (int32_t i = nearby->heads[cell]; i >= 0; i = nearby->entries[i].next) {
        const int32_t other = nearby->entries[i].thing;
        if (nearby->seen[other] != number &&
            can_meet(nearby->view, &nearby->lives[number], &nearby->lives[other])) {
            ranges[count++] =
                (struct range){things[other].offset, things[other].offset + things[other].bytes};
        }
        nearby->seen[other] = number;
    }
    return count;
}

/* The lowest place that nothing held at the same time touches; `ranges` is room for all things. */
static yk_status place_one(struct yk_things *things, int32_t number, struct nearby *nearby,
                           struct range *ranges, size_t *end)
{
    struct yk_thing *thing = &things->items[number];
    int64_t first = 0;
    int64_t last = CELLS - 1;
    size_t at = 0;
    (void)find_cells(nearby, &nearby->lives[number], &first, &last);
    int32_t count = add_ranges(nearby, CELLS, things->items, number, ranges, 0);
    for (int64_t cell = first; cell <= last; cell++) {
        count = add_ranges(nearby, (int32_t)(cell % CELLS), things->items, number, ranges, count);
    }
    qsort(ranges, (size_t)count, sizeof *ranges, compare_ranges);
    for (int32_t i = 0; i < count; i++) {
        if (ranges[i].begin >= at && ranges[i].begin - at >= thing->bytes) {
            break;
        }
        at = ranges[i].end > at ? ranges[i].end : at;
    }
    if (__builtin_add_overflow(at, thing->bytes, end)) {
        return fail_uncounted();
    }
    thing->offset = at;
    *thing->to = at;
    return list(nearby, number);
}

static yk_status place_all(struct yk_things *things, struct nearby *nearby, struct range *ranges,
                           size_t *out_bytes)
{
    for (int32_t i = 0; i < things->count; i++) {
        size_t end = 0;
        YK_TRY(place_one(things, i, nearby, ranges, &end));
        *out_bytes = end > *out_bytes ? end : *out_bytes;
    }
    return YK_OK;
}

yk_status yk_things_place(struct yk_things *things, const struct yk_rank_view *view,
                          size_t *out_bytes)
{
    *out_bytes = 0;
    if (things->failed) {
        return things->is_uncounted ? fail_uncounted() : yk_fail_out_of_memory();
    }
    if (things->count <= 0) {
        return YK_OK;
    }
    const size_t count = (size_t)things->count;
    struct nearby nearby;
    qsort(things->items, count, sizeof *things->items, compare);
    yk_status status = make_nearby(things, view, &nearby);
    struct range *ranges = calloc(count, sizeof *ranges);
    if (status == YK_OK) {
        status = ranges ? place_all(things, &nearby, ranges, out_bytes) : yk_fail_out_of_memory();
    }
    free(ranges);
    free_nearby(&nearby);
    return status;
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
