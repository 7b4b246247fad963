/*
 * Memory that buffers share: whatever the lanes do that the program lets them, none is ever filled
 * where another is still alive. Programs are run by chance here, op by op, without computing.
 */
#include "train/executor/buffer_offsets.h"

#include "base/random.h"
#include "program/program.h"
#include "support/plans/valid_plan.h"
#include "support/support.h"

#include <stdlib.h>

enum {
    ROUNDS = 6,
    MAX_LEAD = 3, /* rounds that lanes may be apart, as the executor puts them */
    MAX_BUFFERS = 30,
    MAX_PARTS = 3 * MAX_BUFFERS,
};

struct walk {
    const struct yk_op_index *index;
    const struct yk_buffer_part_list *buffers;
    const size_t *offsets;
    const struct yk_buffer_reuse_wait *waits;
    int32_t wait_count;
    struct yk_random random;
    int32_t *of_lane[YK_LANE_COUNT]; /* ops, in order */
    int64_t next[YK_LANE_COUNT];     /* place in the lane, counted on through the rounds */
    bool running[YK_LANE_COUNT];     /* the op there has started and not ended */
    int8_t *ended;                   /* (ROUNDS, ops) */
    int8_t *left;                    /* (ROUNDS, parts) ends still to come; −1: not begun */
};

static int32_t op_at(const struct walk *walk, int32_t lane, int32_t *round)
{
    const int32_t count = walk->index->lanes.count[lane];
    *round = count > 0 ? (int32_t)(walk->next[lane] / count) : ROUNDS;
    return count > 0 ? walk->of_lane[lane][walk->next[lane] % count] : YK_OP_NONE;
}

static bool has_ended(const struct walk *walk, int32_t round, int32_t op)
{
    return round < 0 || walk->ended[round * walk->index->list->op_count + op];
}

static bool can_start(const struct walk *walk, int32_t round, int32_t op)
{
    const struct yk_op *started = &walk->index->list->ops[op];
    for (int32_t w = 0; w < started->wait_count; w++) {
        const struct yk_op_wait *wait = &walk->index->list->waits[started->first_wait + w];
        if (!has_ended(walk, round - wait->lag, wait->op)) {
            return false;
        }
    }
    for (int32_t w = 0; w < walk->wait_count; w++) {
        if (walk->waits[w].op == op &&
            !has_ended(walk, round - walk->waits[w].lag, walk->waits[w].after)) {
            return false;
        }
    }
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        int32_t other = 0;
        (void)op_at(walk, lane, &other);
        if (round - other >= MAX_LEAD) {
            return false;
        }
    }
    return round < ROUNDS;
}

static int32_t count_ends(const struct yk_buffer_lifetime *lifetime)
{
    return (lifetime->end[0] != YK_OP_NONE) + (lifetime->end[1] != YK_OP_NONE);
}

static size_t offset_of(const struct yk_buffer_part *part, const size_t *offsets)
{
    return offsets[part->lifetime.buffer] + part->at;
}

/* Fails where the memory of a part is not free. */
static void begin(struct walk *walk, int32_t round, int32_t number)
{
    const struct yk_buffer_part_list *buffers = walk->buffers;
    const struct yk_buffer_part *part = &buffers->parts[number];
    const size_t offset = offset_of(part, walk->offsets);
    int8_t *left = &walk->left[round * buffers->count + number];
    if (*left >= 0) {
        return; /* the other lane has begun it */
    }
    for (int32_t r = 0; r < ROUNDS; r++) {
        for (int32_t i = 0; i < buffers->count; i++) {
            const struct yk_buffer_part *other = &buffers->parts[i];
            const size_t at = offset_of(other, walk->offsets);
            if (walk->left[r * buffers->count + i] > 0 && at < offset + part->bytes &&
                offset < at + other->bytes) {
                fail_msg("part %d of round %d is filled where part %d of round %d is alive",
                         (int)number, (int)round, (int)i, (int)r);
            }
        }
    }
    *left = (int8_t)count_ends(&part->lifetime);
}

static void start(struct walk *walk, int32_t round, int32_t op)
{
    for (int32_t i = 0; i < walk->buffers->count; i++) {
        const struct yk_buffer_lifetime *lifetime = &walk->buffers->parts[i].lifetime;
        if (lifetime->begin[0] == op || lifetime->begin[1] == op) {
            begin(walk, round, i);
        }
    }
}

static void end(struct walk *walk, int32_t round, int32_t op)
{
    walk->ended[round * walk->index->list->op_count + op] = 1;
    for (int32_t i = 0; i < walk->buffers->count; i++) {
        const struct yk_buffer_lifetime *lifetime = &walk->buffers->parts[i].lifetime;
        const int32_t begun = round - lifetime->lag_iterations;
        if ((lifetime->end[0] == op || lifetime->end[1] == op) && begun >= 0) {
            walk->left[begun * walk->buffers->count + i]--;
        }
    }
}

/* One lane, by chance, starts its next op or ends the one it is in; false when all are through. */
static bool go(struct walk *walk)
{
    const int32_t first = (int32_t)yk_random_below(&walk->random, YK_LANE_COUNT);
    for (int32_t i = 0; i < YK_LANE_COUNT; i++) {
        const int32_t lane = (first + i) % YK_LANE_COUNT;
        int32_t round = 0;
        const int32_t op = op_at(walk, lane, &round);
        if (op == YK_OP_NONE || round >= ROUNDS) {
            continue;
        }
        if (walk->running[lane]) {
            end(walk, round, op);
            walk->running[lane] = false;
            walk->next[lane]++;
            return true;
        }
        if (can_start(walk, round, op)) {
            start(walk, round, op);
            walk->running[lane] = true;
            return true;
        }
    }
    return false;
}

static bool is_through(const struct walk *walk)
{
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        int32_t round = 0;
        if (op_at(walk, lane, &round) != YK_OP_NONE && round < ROUNDS) {
            return false;
        }
    }
    return true;
}

static void walk_once(struct walk *walk, struct yk_arena *arena)
{
    const struct yk_op_list *list = walk->index->list;
    walk->ended = yk_arena_allocate(arena, (size_t)ROUNDS * (size_t)list->op_count + 1, 1);
    walk->left = yk_arena_allocate(arena, (size_t)ROUNDS * (size_t)walk->buffers->count + 1, 1);
    assert_true(walk->ended && walk->left);
    for (int32_t i = 0; i < ROUNDS * walk->buffers->count; i++) {
        walk->left[i] = -1;
    }
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        int32_t count = 0;
        walk->next[lane] = 0;
        walk->running[lane] = false;
        walk->of_lane[lane] =
            yk_arena_allocate(arena, (size_t)list->op_count + 1, sizeof *walk->of_lane[lane]);
        assert_non_null(walk->of_lane[lane]);
        for (int32_t i = 0; i < list->op_count; i++) {
            if ((int32_t)list->ops[i].lane == lane) {
                walk->of_lane[lane][count++] = i;
            }
        }
    }
    while (go(walk)) {
    }
    /* Waits of one round for the one before never hold anybody up for good. */
    assert_true(is_through(walk));
}

static int32_t draw_op(struct yk_random *random, const struct yk_op_index *index)
{
    for (;;) {
        const int32_t op = (int32_t)yk_random_below(random, index->list->op_count);
        if (index->list->ops[op].lane != YK_LANE_COPY) {
            return op;
        }
    }
}

/* What ends a buffer comes after what begins it, as in all programs; and what lives into the next
 * round has ended before it begins again there. */
static bool follows(const struct yk_op_index *index, int32_t from, int32_t until, int32_t lag)
{
    return lag > 0 ? yk_op_index_happens_before(index, from, until, lag) &&
                         yk_op_index_happens_before(index, until, from, 0)
                   : from == until || yk_op_index_happens_before(index, from, until, 0);
}

/* From one op, or one on each lane, to others that come after them; some into the next round. False
 * where the ops that were drawn do not follow each other. */
static bool draw_lifetime(struct yk_random *random, const struct yk_op_index *index,
                          struct yk_buffer_lifetime *out)
{
    const int32_t from = draw_op(random, index);
    const int32_t until = draw_op(random, index);
    const int32_t other_from = draw_op(random, index);
    const int32_t other_until = draw_op(random, index);
    *out = yk_buffer_lifetime_make_empty();
    out->lag_iterations = from > until;
    if (!follows(index, from, until, out->lag_iterations)) {
        return false;
    }
    yk_buffer_lifetime_add_begin_op(out, index->list, from);
    yk_buffer_lifetime_add_end_op(out, index->list, until);
    if (follows(index, other_from, until, out->lag_iterations) &&
        follows(index, other_from, other_until, out->lag_iterations) &&
        follows(index, from, other_until, out->lag_iterations)) {
        yk_buffer_lifetime_add_begin_op(out, index->list, other_from);
        yk_buffer_lifetime_add_end_op(out, index->list, other_until);
    }
    return true;
}

/* Buffers of one to three parts. */
static void add_buffers(struct yk_random *random, const struct yk_op_index *index,
                        struct yk_buffer_part_list *buffers)
{
    int32_t buffer = 0;
    int64_t parts = 1 + yk_random_below(random, 3);
    size_t at = 0;
    for (int32_t tries = 0; tries < 50 * MAX_PARTS && buffer < MAX_BUFFERS; tries++) {
        const size_t bytes = 1 + (size_t)yk_random_below(random, 600);
        struct yk_buffer_lifetime lifetime;
        if (!draw_lifetime(random, index, &lifetime)) {
            continue;
        }
        lifetime.buffer = buffer;
        yk_buffer_offsets_add_part(buffers, &lifetime, at, bytes);
        at += bytes;
        if (--parts == 0) {
            buffer++;
            parts = 1 + yk_random_below(random, 3);
            at = 0;
        }
    }
}

/* ---- against looking at every pair ---- */

static bool ends_before(const struct yk_op_index *index, const struct yk_buffer_lifetime *a,
                        const struct yk_buffer_lifetime *b, int32_t rounds)
{
    for (int until = 0; until < YK_BUFFER_LIFETIME_LANES; until++) {
        for (int from = 0; from < YK_BUFFER_LIFETIME_LANES; from++) {
            if (a->end[until] != YK_OP_NONE && b->begin[from] != YK_OP_NONE &&
                !yk_op_index_happens_before(index, a->end[until], b->begin[from],
                                            rounds - a->lag_iterations)) {
                return false;
            }
        }
    }
    return true;
}

static bool can_meet(const struct yk_op_index *index, const struct yk_buffer_lifetime *a,
                     const struct yk_buffer_lifetime *b)
{
    for (int32_t rounds = -MAX_LEAD; rounds <= MAX_LEAD; rounds++) {
        if (!ends_before(index, a, b, rounds) && !ends_before(index, b, a, -rounds)) {
            return true;
        }
    }
    return false;
}

/* A buffer as the buffers orders them: the largest first, of equal ones the earlier. */
struct ordered {
    int32_t buffer;
    int32_t begin;
    size_t bytes;
};

static int compare(const void *a, const void *b)
{
    const struct ordered *left = a;
    const struct ordered *right = b;
    if (left->bytes != right->bytes) {
        return left->bytes > right->bytes ? -1 : 1;
    }
    if (left->begin != right->begin) {
        return left->begin < right->begin ? -1 : 1;
    }
    return left->buffer < right->buffer ? -1 : 1;
}

static int32_t order_buffers(const struct yk_buffer_part_list *buffers, struct ordered *out)
{
    int32_t count = 0;
    for (int32_t i = 0; i < buffers->count; i++) {
        const struct yk_buffer_part *part = &buffers->parts[i];
        const int32_t buffer = part->lifetime.buffer;
        for (; count <= buffer; count++) {
            out[count] = (struct ordered){.buffer = count, .begin = INT32_MAX};
        }
        for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
            const int32_t op = part->lifetime.begin[lane];
            out[buffer].begin = op != YK_OP_NONE && op < out[buffer].begin ? op : out[buffer].begin;
        }
        const size_t end = (part->at + part->bytes + 63) / 64 * 64;
        out[buffer].bytes = end > out[buffer].bytes ? end : out[buffer].bytes;
    }
    qsort(out, (size_t)count, sizeof *out, compare);
    return count;
}

struct placed {
    const struct yk_buffer_part_list *buffers;
    const size_t *offsets;
    bool meets[MAX_PARTS][MAX_PARTS];
    bool is_there[MAX_BUFFERS + 1]; /* it has its offset by now */
};

/* Whether the buffer would be clear, at that offset, of all before it that it may meet. */
static bool fits(const struct placed *placed, int32_t buffer, size_t offset)
{
    const struct yk_buffer_part *parts = placed->buffers->parts;
    for (int32_t i = 0; i < placed->buffers->count; i++) {
        for (int32_t j = 0; j < placed->buffers->count && parts[i].lifetime.buffer == buffer; j++) {
            const size_t begin = offset + parts[i].at;
            const size_t other = offset_of(&parts[j], placed->offsets);
            if (placed->is_there[parts[j].lifetime.buffer] && placed->meets[i][j] &&
                begin < other + parts[j].bytes && other < begin + parts[i].bytes) {
                return false;
            }
        }
    }
    return true;
}

/* Those that may meet are clear of each other; and not more is taken than by putting the largest
 * first, each at the lowest offset where it fits; true where it is less. */
static bool expect_packed(const struct yk_op_index *index,
                          const struct yk_buffer_part_list *buffers, const size_t *offsets,
                          size_t bytes)
{
    struct ordered order[MAX_BUFFERS + 1];
    size_t lowest[MAX_BUFFERS + 1] = {0};
    size_t max = 0;
    const int32_t count = order_buffers(buffers, order);
    struct placed placed = {.buffers = buffers, .offsets = offsets};
    struct placed plain = {.buffers = buffers, .offsets = lowest};
    for (int32_t i = 0; i < buffers->count; i++) {
        for (int32_t j = 0; j < buffers->count; j++) {
            placed.meets[i][j] =
                can_meet(index, &buffers->parts[i].lifetime, &buffers->parts[j].lifetime);
            plain.meets[i][j] = placed.meets[i][j];
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t buffer = order[i].buffer;
        assert_int_equal(offsets[buffer] % 64, 0);
        assert_true(fits(&placed, buffer, offsets[buffer]));
        assert_true(offsets[buffer] + order[i].bytes <= bytes);
        while (!fits(&plain, buffer, lowest[buffer])) {
            lowest[buffer] += 64;
        }
        placed.is_there[buffer] = true;
        plain.is_there[buffer] = true;
        max = lowest[buffer] + order[i].bytes > max ? lowest[buffer] + order[i].bytes : max;
    }
    assert_true(bytes <= max);
    return bytes < max;
}

static bool try_rank(const struct yk_program *program, int32_t rank, uint64_t seed)
{
    struct yk_arena *arena = NULL;
    struct yk_program_facts *facts = NULL;
    struct yk_op_index *index = NULL;
    struct yk_buffer_part_list buffers = {0};
    size_t offsets[MAX_BUFFERS + 1];
    size_t bytes = 0;
    bool less = false;
    struct walk walk = {.random = yk_random_from_seed(seed)};
    struct yk_buffer_reuse_wait *waits = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_program_facts_make(program, arena, &facts));
    assert_ok(yk_op_index_make_with_order(facts, rank, arena, &index));
    if (index->list->op_count > 0) {
        add_buffers(&walk.random, index, &buffers);
        assert_true(buffers.count > 0);
        assert_ok(yk_buffer_offsets_assign(&buffers, index, offsets, &bytes));
        less = expect_packed(index, &buffers, offsets, bytes);
        assert_ok(
            yk_buffer_offsets_find_reuse_waits(&buffers, index, arena, &waits, &walk.wait_count));
        walk.index = index;
        walk.buffers = &buffers;
        walk.offsets = offsets;
        walk.waits = waits;
        for (int i = 0; i < 10; i++) {
            walk_once(&walk, arena);
        }
    }
    yk_buffer_offsets_free_parts(&buffers);
    yk_arena_destroy(arena);
    return less;
}

static void no_buffer_is_filled_where_another_is_alive_whatever_lanes_do(void **state)
{
    (void)state;
    int less = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_program *program = NULL;
        struct yk_program *shuffled = NULL;
        assert_ok(yk_program_compile(sound.plan, sound.cluster, sound.cache, &program));
        assert_ok(yk_program_shuffle(program, seed, &shuffled));
        for (int32_t rank = 0; rank < program->rank_count; rank++) {
            less += try_rank(program, rank, seed) ? 1 : 0;
            less += try_rank(shuffled, rank, seed) ? 1 : 0;
        }
        yk_program_destroy(shuffled);
        yk_program_destroy(program);
        sound_plan_free(&sound);
    }
    assert_in_range(less, 20, INT32_MAX); /* ranks where other orders are better */
}

/* Else the test above would pass with memory of its own for each. */
static void buffers_that_follow_each_other_share_memory(void **state)
{
    (void)state;
    struct sound_plan sound = sound_plan_make(0);
    struct yk_arena *arena = NULL;
    struct yk_program *program = NULL;
    struct yk_program_facts *facts = NULL;
    struct yk_op_index *index = NULL;
    struct yk_buffer_part_list buffers = {0};
    size_t offsets[MAX_BUFFERS];
    size_t bytes = 0;
    int32_t count = 0;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_program_compile(sound.plan, sound.cluster, sound.cache, &program));
    assert_ok(yk_program_facts_make(program, arena, &facts));
    assert_ok(yk_op_index_make_with_order(facts, 0, arena, &index));
    for (int32_t i = 0; i < index->list->op_count && count < MAX_BUFFERS; i++) {
        if (index->list->ops[i].lane == YK_LANE_COMPUTE) {
            struct yk_buffer_lifetime lifetime = yk_buffer_lifetime_make_empty();
            lifetime.buffer = count++;
            yk_buffer_lifetime_add_begin_op(&lifetime, index->list, i);
            yk_buffer_lifetime_add_end_op(&lifetime, index->list, i);
            yk_buffer_offsets_add_part(&buffers, &lifetime, 0, 64);
        }
    }
    assert_true(count > 3);
    assert_ok(yk_buffer_offsets_assign(&buffers, index, offsets, &bytes));
    assert_int_equal(bytes, 64);
    yk_buffer_offsets_free_parts(&buffers);
    yk_program_destroy(program);
    yk_arena_destroy(arena);
    sound_plan_free(&sound);
}

static void bytes_that_cannot_be_counted_are_refused(void **state)
{
    (void)state;
    struct sound_plan sound = sound_plan_make(0);
    struct yk_arena *arena = NULL;
    struct yk_program *program = NULL;
    struct yk_program_facts *facts = NULL;
    struct yk_op_index *index = NULL;
    /* One that no multiple of the alignment holds, and two that are too many together. */
    static const size_t sizes[][2] = {{SIZE_MAX, 0}, {SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1}};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_program_compile(sound.plan, sound.cluster, sound.cache, &program));
    assert_ok(yk_program_facts_make(program, arena, &facts));
    assert_ok(yk_op_index_make_with_order(facts, 0, arena, &index));
    for (int i = 0; i < 2; i++) {
        struct yk_buffer_part_list buffers = {0};
        size_t offsets[2] = {0};
        size_t bytes = 0;
        for (int j = 0; j < 2; j++) {
            struct yk_buffer_lifetime lifetime = yk_buffer_lifetime_make_empty();
            struct yk_random random = yk_random_from_seed(1);
            const int32_t op = draw_op(&random, index);
            lifetime.buffer = j;
            yk_buffer_lifetime_add_begin_op(&lifetime, index->list, op);
            yk_buffer_lifetime_add_end_op(&lifetime, index->list, op);
            yk_buffer_offsets_add_part(&buffers, &lifetime, 0, sizes[i][j]);
        }
        assert_int_equal(yk_buffer_offsets_assign(&buffers, index, offsets, &bytes),
                         YK_ERROR_INPUT);
        yk_buffer_offsets_free_parts(&buffers);
    }
    yk_program_destroy(program);
    yk_arena_destroy(arena);
    sound_plan_free(&sound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_buffer_is_filled_where_another_is_alive_whatever_lanes_do),
        cmocka_unit_test(buffers_that_follow_each_other_share_memory),
        cmocka_unit_test(bytes_that_cannot_be_counted_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
