#include "train/executor/buffer_offsets.h"

#include "backend/backend.h"
#include "base/array.h"
#include "base/number.h"
#include "base/random.h"
#include "program/memory/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    FAR = 3, /* rounds: ops further apart than this never overlap */
    /* Bounds of the search for a better order, for each initial order: orders that are tried, and
     * buffers that are placed in all of them together. */
    MAX_TRIES = 64,
    MAX_PLACED = 1 << 15,
};

static const double WASTE = 1.01; /* the search ends at this multiple of the lower bound */

void yk_buffer_offsets_free_parts(struct yk_buffer_part_list *offsets)
{
    free(offsets->parts);
    *offsets = (struct yk_buffer_part_list){0};
}

static yk_status fail_uncounted(void)
{
    return yk_fail(YK_ERROR_INPUT,
                   "a step holds more bytes than can be counted; take a smaller batch or sequence");
}

void yk_buffer_offsets_add_part(struct yk_buffer_part_list *offsets,
                                const struct yk_buffer_lifetime *lifetime, size_t at, size_t bytes)
{
    size_t end = 0;
    if (bytes == 0 || offsets->failed) {
        return;
    }
    if (__builtin_add_overflow(at, bytes, &end) ||
        __builtin_add_overflow(end, YK_BACKEND_ALIGNMENT - 1, &end)) {
        offsets->failed = true;
        offsets->is_uncounted = true;
        return;
    }
    if (yk_array_grow((void **)&offsets->parts, &offsets->capacity, offsets->count,
                      sizeof *offsets->parts) != YK_OK) {
        offsets->failed = true;
        return;
    }
    offsets->parts[offsets->count++] = (struct yk_buffer_part){*lifetime, at, bytes};
}

/* ---- parts that may be alive at the same time ---- */

/*
 * When a part of round 0 is alive, in lane positions that count on through the rounds
 * (program/op_index.h): from when op `after` of each lane has ended to when op `until` of each
 * lane has ended.
 */
struct life {
    int64_t after[YK_BUFFER_LIFETIME_LANES];
    int64_t until[YK_BUFFER_LIFETIME_LANES]; /* NOTHING: the lane does not delay its end */
};

static const int64_t NOTHING = INT64_MIN;

static struct life find_life(const struct yk_op_index *index,
                             const struct yk_buffer_lifetime *lifetime)
{
    struct life life;
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        const int32_t until = lifetime->end[lane];
        life.after[lane] = INT64_MAX;
        life.until[lane] = until == YK_OP_NONE
                               ? NOTHING
                               : index->lanes.position[until] +
                                     (int64_t)lifetime->lag_iterations * index->lanes.count[lane];
        for (int from = 0; from < YK_BUFFER_LIFETIME_LANES; from++) {
            const int32_t op = lifetime->begin[from];
            if (op != YK_OP_NONE) {
                const int64_t known = index->ended[(int64_t)op * YK_LANE_COUNT + lane];
                life.after[lane] = yk_number_min(life.after[lane], known);
            }
        }
    }
    return life;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/* The smallest distance in rounds at which `a` has always ended when `b` begins. */
static int64_t find_distance(const struct yk_op_index *index, const struct life *a,
                             const struct life *b)
{
    int64_t rounds = INT32_MIN;
    for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
        if (a->until[lane] != NOTHING) {
            rounds = yk_number_max(
                rounds, divide_up(a->until[lane] - b->after[lane], index->lanes.count[lane]));
        }
    }
    return rounds;
}

/* Whether both may be alive at the same time: at some distance of up to FAR rounds, neither has
 * ended when the other begins. */
static bool can_meet(const struct yk_op_index *index, const struct life *a, const struct life *b)
{
    const int64_t below = find_distance(index, a, b);
    const int64_t above = -find_distance(index, b, a);
    return yk_number_max(above + 1, -FAR) <= yk_number_min(below - 1, FAR);
}

/* ---- index of parts by time ---- */

enum {
    CELLS = 256,
};

struct entry {
    int32_t part;
    int32_t next; /* −1: the last */
};

/*
 * An index that finds the parts that may be alive together with a given part, without testing all.
 * A round of the compute lane is divided into cells. A part is listed in the cells of the ops that
 * may run while it is alive, and of the first op that is ordered after its end. Two parts without a
 * common cell are never alive together: the later one begins after an op that is ordered after the
 * end of the other. Parts that live for most of a round are listed in an extra cell.
 */
struct time_index {
    const struct yk_op_index *index;
    struct life *lives;       /* (parts) */
    int32_t *visited;         /* (parts) 1 + the part that tested it last */
    int32_t heads[CELLS + 1]; /* the last one is the extra cell */
    struct entry *entries;
    int32_t count;
    int32_t capacity;
};

static yk_status create_index(const struct yk_buffer_part_list *offsets,
                              const struct yk_op_index *index, struct yk_arena *arena,
                              struct time_index *out)
{
    *out = (struct time_index){.index = index};
    YK_TRY_NEW(arena, out->lives, offsets->count);
    YK_TRY_NEW(arena, out->visited, offsets->count);
    for (int32_t i = 0; i < offsets->count; i++) {
        out->lives[i] = find_life(index, &offsets->parts[i].lifetime);
    }
    return YK_OK;
}

static void clear_index(struct time_index *index, int32_t parts)
{
    yk_number_fill_int32_array(index->heads, CELLS + 1, -1);
    index->count = 0;
    memset(index->visited, 0, (size_t)parts * sizeof *index->visited);
}

/* Whether the op at a position of the compute lane is ordered after the end of the part. */
static bool is_after_end(const struct time_index *index, int64_t position, const struct life *life)
{
    const struct yk_op_index *view = index->index;
    const int64_t ops = view->lanes.count[YK_LANE_COMPUTE];
    const int64_t round = -divide_up(-position, ops); /* rounded down */
    const int32_t op = view->lanes.ops[YK_LANE_COMPUTE][position - round * ops];
    const int64_t known = view->ended[(int64_t)op * YK_LANE_COUNT + YK_LANE_COMM] +
                          round * view->lanes.count[YK_LANE_COMM];
    return position > life->until[YK_LANE_COMPUTE] && known >= life->until[YK_LANE_COMM];
}

/* Finds the cells of a part: `first` to `last`, modulo CELLS. False: the extra cell. */
static bool find_cells(const struct time_index *index, const struct life *life, int64_t *first,
                       int64_t *last)
{
    const int64_t ops = index->index->lanes.count[YK_LANE_COMPUTE];
    const int64_t begin = life->after[YK_LANE_COMPUTE] + 1;
    int64_t low = begin;
    int64_t high = begin + ops / 2; /* ordered after the end */
    if (ops < 2 || begin < -FAR * ops || !is_after_end(index, high, life)) {
        return false;
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (is_after_end(index, middle, life)) {
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

static yk_status add_to_cell(struct time_index *index, int32_t cell, int32_t part)
{
    YK_TRY_GROW_ARRAY(index->entries, index->capacity, index->count);
    index->entries[index->count] = (struct entry){part, index->heads[cell]};
    index->heads[cell] = index->count++;
    return YK_OK;
}

static yk_status add_to_index(struct time_index *index, int32_t part)
{
    int64_t first = 0;
    int64_t last = 0;
    if (!find_cells(index, &index->lives[part], &first, &last)) {
        return add_to_cell(index, CELLS, part);
    }
    for (int64_t cell = first; cell <= last; cell++) {
        YK_TRY(add_to_cell(index, (int32_t)(cell % CELLS), part));
    }
    return YK_OK;
}

/* ---- offsets ---- */

struct buffer {
    int32_t number;
    int32_t first; /* its first part; the others follow */
    int32_t count;
    int32_t begin; /* first op of its lifetime */
    size_t bytes;  /* a multiple of the alignment */
    int64_t span;  /* ops from the first to the last of its lifetime */
    size_t offset; /* in the order that was accepted last */
    size_t best;   /* in the best order so far */
};

static size_t align(size_t bytes)
{
    return (bytes + YK_BACKEND_ALIGNMENT - 1) / YK_BACKEND_ALIGNMENT * YK_BACKEND_ALIGNMENT;
}

static int32_t first_op(const struct yk_buffer_lifetime *lifetime)
{
    const int32_t compute = lifetime->begin[YK_LANE_COMPUTE];
    const int32_t comm = lifetime->begin[YK_LANE_COMM];
    return compute == YK_OP_NONE || (comm != YK_OP_NONE && comm < compute) ? comm : compute;
}

static int32_t last_op(const struct yk_buffer_lifetime *lifetime)
{
    const int32_t compute = lifetime->end[YK_LANE_COMPUTE];
    const int32_t comm = lifetime->end[YK_LANE_COMM];
    return comm > compute ? comm : compute;
}

static int compare_parts(const void *a, const void *b)
{
    const struct yk_buffer_part *left = a;
    const struct yk_buffer_part *right = b;
    const int buffers = yk_number_compare(left->lifetime.buffer, right->lifetime.buffer);
    return buffers != 0 ? buffers : (left->at > right->at) - (left->at < right->at);
}

/* Sorts the largest first, equal ones by their begin. */
static int compare_bytes(const void *a, const void *b)
{
    const struct buffer *left = *(struct buffer *const *)a;
    const struct buffer *right = *(struct buffer *const *)b;
    if (left->bytes != right->bytes) {
        return left->bytes > right->bytes ? -1 : 1;
    }
    const int begins = yk_number_compare(left->begin, right->begin);
    return begins != 0 ? begins : yk_number_compare(left->number, right->number);
}

/* Sorts the longest lifetime first. */
static int compare_spans(const void *a, const void *b)
{
    const struct buffer *left = *(struct buffer *const *)a;
    const struct buffer *right = *(struct buffer *const *)b;
    const int spans = yk_number_compare(right->span, left->span);
    return spans != 0 ? spans : compare_bytes(a, b);
}

/* Sorts the parts and groups them into buffers. Returns the number of buffers. */
static int32_t join_parts(struct yk_buffer_part_list *offsets, int32_t ops, struct buffer *buffers)
{
    int32_t count = 0;
    qsort(offsets->parts, (size_t)offsets->count, sizeof *offsets->parts, compare_parts);
    for (int32_t i = 0; i < offsets->count; i++) {
        const struct yk_buffer_part *part = &offsets->parts[i];
        const int32_t begin = first_op(&part->lifetime);
        if (count == 0 || buffers[count - 1].number != part->lifetime.buffer) {
            buffers[count++] =
                (struct buffer){.number = part->lifetime.buffer, .first = i, .begin = begin};
        }
        struct buffer *buffer = &buffers[count - 1];
        buffer->count++;
        buffer->begin = begin < buffer->begin ? begin : buffer->begin;
        const int64_t span =
            last_op(&part->lifetime) + (int64_t)part->lifetime.lag_iterations * ops - begin;
        buffer->span = span > buffer->span ? span : buffer->span;
        buffer->bytes = align(part->at + part->bytes); /* the last part's is the buffer's */
    }
    return count;
}

/* Offsets that are not possible for a buffer. */
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

struct placing {
    const struct yk_buffer_part *parts;
    int32_t part_count;
    struct time_index index;
    struct buffer *buffers;
    int32_t count;
    struct buffer **order;    /* (buffers) order in which they are placed */
    struct buffer **accepted; /* (buffers) the last order that was not worse */
    size_t *out;              /* (buffers, by number) offsets */
    struct range *ranges;     /* of the current buffer */
    int32_t range_count;
    int32_t range_capacity;
};

/* The offsets at which a part would overlap another part that is already placed. */
static struct range find_range(const struct yk_buffer_part *part,
                               const struct yk_buffer_part *other, size_t other_offset)
{
    const size_t begin = other_offset + other->at;
    const size_t end = begin + other->bytes;
    const size_t reach = part->at + part->bytes;
    return (struct range){
        .begin = begin < reach ? 0 : begin - reach + 1,
        .end = end <= part->at ? 0 : align(end - part->at),
    };
}

/* Adds the ranges that the parts of a cell exclude for part `number`. */
static yk_status add_ranges(struct placing *placing, int32_t cell, int32_t number)
{
    struct time_index *index = &placing->index;
    const struct yk_buffer_part *parts = placing->parts;
    for (int32_t i = index->heads[cell]; i >= 0; i = index->entries[i].next) {
        const int32_t other = index->entries[i].part;
        if (index->visited[other] != number + 1 &&
            can_meet(index->index, &index->lives[number], &index->lives[other])) {
            YK_TRY_GROW_ARRAY(placing->ranges, placing->range_capacity, placing->range_count);
            placing->ranges[placing->range_count++] = find_range(
                &parts[number], &parts[other], placing->out[parts[other].lifetime.buffer]);
        }
        index->visited[other] = number + 1;
    }
    return YK_OK;
}

static yk_status add_part_ranges(struct placing *placing, int32_t number)
{
    int64_t first = 0;
    int64_t last = CELLS - 1;
    (void)find_cells(&placing->index, &placing->index.lives[number], &first, &last);
    YK_TRY(add_ranges(placing, CELLS, number));
    for (int64_t cell = first; cell <= last; cell++) {
        YK_TRY(add_ranges(placing, (int32_t)(cell % CELLS), number));
    }
    return YK_OK;
}

/* Places a buffer at the lowest offset where no part overlaps another that may be alive together
 * with it. */
static yk_status place(struct placing *placing, const struct buffer *buffer, size_t *end)
{
    size_t offset = 0;
    placing->range_count = 0;
    for (int32_t i = buffer->first; i < buffer->first + buffer->count; i++) {
        YK_TRY(add_part_ranges(placing, i));
    }
    if (placing->range_count > 0) {
        qsort(placing->ranges, (size_t)placing->range_count, sizeof *placing->ranges,
              compare_ranges);
    }
    for (int32_t i = 0; i < placing->range_count && placing->ranges[i].begin <= offset; i++) {
        offset = placing->ranges[i].end > offset ? placing->ranges[i].end : offset;
    }
    if (__builtin_add_overflow(offset, buffer->bytes, end)) {
        return fail_uncounted();
    }
    placing->out[buffer->number] = offset;
    for (int32_t i = buffer->first; i < buffer->first + buffer->count; i++) {
        YK_TRY(add_to_index(&placing->index, i));
    }
    return YK_OK;
}

/* Places all buffers in the current order. */
static yk_status place_all(struct placing *placing, size_t *out_bytes)
{
    *out_bytes = 0;
    clear_index(&placing->index, placing->part_count);
    for (int32_t i = 0; i < placing->count; i++) {
        size_t end = 0;
        YK_TRY(place(placing, placing->order[i], &end));
        *out_bytes = end > *out_bytes ? end : *out_bytes;
    }
    return YK_OK;
}

/* The peak of the bytes that are alive together: no assignment needs less. */
static yk_status find_lower_bound(const struct yk_buffer_part_list *offsets,
                                  const struct yk_op_index *index, struct yk_arena *arena,
                                  double *out)
{
    struct yk_program_memory memory = {.lifetime_count = offsets->count};
    struct yk_memory_peak peak = {0};
    YK_TRY_NEW(arena, memory.lifetimes, offsets->count);
    for (int32_t i = 0; i < offsets->count; i++) {
        memory.lifetimes[i] = offsets->parts[i].lifetime;
        memory.lifetimes[i].bytes = (double)offsets->parts[i].bytes;
    }
    YK_TRY(yk_program_memory_find_peak(index->facts->program, index->rank, &memory, &peak));
    *out = peak.bytes;
    return YK_OK;
}

/* ---- search for a good order ---- */

/* Moves a random buffer that ends above the limit to a random earlier place in the order. */
static void move_one(struct placing *placing, size_t limit, struct yk_random *random)
{
    int32_t chosen = 0;
    int64_t above = 0;
    for (int32_t i = 1; i < placing->count; i++) {
        if (placing->order[i]->offset + placing->order[i]->bytes > limit) {
            above++;
            chosen = yk_random_below(random, above) == 0 ? i : chosen;
        }
    }
    const int32_t to = chosen > 0 ? (int32_t)yk_random_below(random, chosen) : 0;
    struct buffer *moved = placing->order[chosen];
    /* NOLINTBEGIN(bugprone-sizeof-expression): an array of pointers */
    memmove(placing->order + to + 1, placing->order + to,
            (size_t)(chosen - to) * sizeof *placing->order);
    /* NOLINTEND(bugprone-sizeof-expression) */
    placing->order[to] = moved;
}

static void accept(struct placing *placing, bool is_best)
{
    for (int32_t i = 0; i < placing->count; i++) {
        struct buffer *buffer = &placing->buffers[i];
        buffer->offset = placing->out[buffer->number];
        buffer->best = is_best ? buffer->offset : buffer->best;
    }
}

/* Local search from the current order: keeps moves that are not worse, until little memory is
 * wasted or `tries` moves were made. */
static yk_status search(struct placing *placing, double lower_bound, int64_t tries,
                        struct yk_random *random, size_t *out_bytes)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    const size_t order_bytes = (size_t)placing->count * sizeof *placing->order;
    size_t current = SIZE_MAX;
    for (int64_t i = 0; i <= tries; i++) {
        size_t bytes = 0;
        if (*out_bytes < SIZE_MAX && (double)*out_bytes <= WASTE * lower_bound) {
            break;
        }
        memcpy(placing->accepted, placing->order, order_bytes);
        if (i > 0) {
            move_one(placing, (size_t)lower_bound, random);
        }
        YK_TRY(place_all(placing, &bytes));
        if (bytes <= current) {
            accept(placing, bytes < *out_bytes);
            current = bytes;
            *out_bytes = bytes < *out_bytes ? bytes : *out_bytes;
        } else {
            memcpy(placing->order, placing->accepted, order_bytes);
        }
    }
    return YK_OK;
}

static yk_status place_best(struct placing *placing, double lower_bound, size_t *out_bytes)
{
    static int (*const orders[])(const void *, const void *) = {compare_bytes, compare_spans};
    const int64_t tries = yk_number_min(MAX_PLACED / placing->count, MAX_TRIES);
    struct yk_random random = yk_random_from_seed(1);
    *out_bytes = SIZE_MAX;
    for (int32_t i = 0; i < placing->count; i++) {
        placing->order[i] = &placing->buffers[i];
    }
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
        qsort(placing->order, (size_t)placing->count, sizeof *placing->order, orders[i]);
        YK_TRY(search(placing, lower_bound, tries, &random, out_bytes));
    }
    for (int32_t i = 0; i < placing->count; i++) {
        placing->out[placing->buffers[i].number] = placing->buffers[i].best;
    }
    return YK_OK;
}

static yk_status find(struct yk_buffer_part_list *offsets, const struct yk_op_index *index,
                      struct yk_arena *arena, struct placing *placing, size_t *out_bytes)
{
    double lower_bound = 0;
    YK_TRY_NEW(arena, placing->buffers, offsets->count);
    YK_TRY_NEW(arena, placing->order, offsets->count);
    YK_TRY_NEW(arena, placing->accepted, offsets->count);
    placing->count = join_parts(offsets, index->list->op_count, placing->buffers);
    YK_TRY(create_index(offsets, index, arena, &placing->index));
    YK_TRY(find_lower_bound(offsets, index, arena, &lower_bound));
    return place_best(placing, lower_bound, out_bytes);
}

yk_status yk_buffer_offsets_assign(struct yk_buffer_part_list *offsets,
                                   const struct yk_op_index *index, size_t *out, size_t *out_bytes)
{
    *out_bytes = 0;
    if (offsets->failed) {
        return offsets->is_uncounted ? fail_uncounted() : yk_fail_out_of_memory();
    }
    if (offsets->count <= 0) {
        return YK_OK;
    }
    struct placing placing = {.parts = offsets->parts, .part_count = offsets->count};
    placing.out = out;
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = find(offsets, index, arena, &placing, out_bytes);
    free(placing.ranges);
    free(placing.index.entries);
    yk_arena_destroy(arena);
    return status;
}

/* ---- waits between rounds ---- */

/* The waits that are found, without duplicates: the ops of a lane end in order, so only the last op
 * of each lane counts. */
static int32_t *last_op_awaited(int32_t *last, int32_t op, int32_t lag, int32_t lane)
{
    return &last[((int64_t)op * 2 + lag) * YK_BUFFER_LIFETIME_LANES + lane];
}

static void add_waits(const struct yk_buffer_lifetime *lifetime, const struct yk_op_index *index,
                      int32_t *last)
{
    const int32_t lag = 1 - lifetime->lag_iterations;
    for (int until = 0; until < YK_BUFFER_LIFETIME_LANES; until++) {
        for (int from = 0; from < YK_BUFFER_LIFETIME_LANES; from++) {
            const int32_t end = lifetime->end[until];
            const int32_t begin = lifetime->begin[from];
            if (end != YK_OP_NONE && begin != YK_OP_NONE &&
                !yk_op_index_happens_before(index, end, begin, lag)) {
                int32_t *awaited = last_op_awaited(last, begin, lag, until);
                *awaited = end > *awaited ? end : *awaited;
            }
        }
    }
}

yk_status yk_buffer_offsets_find_reuse_waits(const struct yk_buffer_part_list *offsets,
                                             const struct yk_op_index *index,
                                             struct yk_arena *arena,
                                             struct yk_buffer_reuse_wait **out, int32_t *out_count)
{
    const int64_t max = (int64_t)index->list->op_count * 2 * YK_BUFFER_LIFETIME_LANES;
    int32_t *last = NULL; /* (ops, lags, lanes) */
    YK_TRY_NEW(arena, last, max + 1);
    YK_TRY_NEW(arena, *out, max + 1);
    yk_number_fill_int32_array(last, max, YK_OP_NONE);
    for (int32_t i = 0; i < offsets->count; i++) {
        add_waits(&offsets->parts[i].lifetime, index, last);
    }
    *out_count = 0;
    for (int32_t op = 0; op < index->list->op_count; op++) {
        for (int32_t lag = 0; lag < 2; lag++) {
            for (int32_t lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
                const int32_t after = *last_op_awaited(last, op, lag, lane);
                if (after != YK_OP_NONE) {
                    (*out)[(*out_count)++] = (struct yk_buffer_reuse_wait){op, after, lag};
                }
            }
        }
    }
    return YK_OK;
}
