/*
 * Memory that things share: whatever the lanes do that the program lets them, nothing is ever put
 * where something else still lies. Programs are run by chance here, op by op, without computing.
 */
#include "train/things.h"

#include "base/random.h"
#include "program/shuffle.h"
#include "support/sound_plan.h"
#include "support/support.h"

#include <stdlib.h>

enum {
    ROUNDS = 6,
    MOST_AHEAD = 3, /* rounds that lanes may be apart, as the executor puts them */
    MOST_THINGS = 40,
};

struct walk {
    const struct yk_rank_view *view;
    const struct yk_things *things;
    const struct yk_thing_wait *waits;
    int32_t wait_count;
    struct yk_random random;
    int32_t *of_lane[YK_LANE_COUNT]; /* ops, in order */
    int64_t next[YK_LANE_COUNT];     /* place in the lane, counted on through the rounds */
    bool running[YK_LANE_COUNT];     /* the op there has started and not ended */
    int8_t *ended;                   /* (ROUNDS, ops) */
    int8_t *left;                    /* (ROUNDS, things) ends still to come; −1: not begun */
};

static int32_t op_at(const struct walk *walk, int32_t lane, int32_t *round)
{
    const int32_t count = walk->view->lane_count[lane];
    *round = count > 0 ? (int32_t)(walk->next[lane] / count) : ROUNDS;
    return count > 0 ? walk->of_lane[lane][walk->next[lane] % count] : YK_OP_NONE;
}

static bool has_ended(const struct walk *walk, int32_t round, int32_t op)
{
    return round < 0 || walk->ended[round * walk->view->list->op_count + op];
}

static bool can_start(const struct walk *walk, int32_t round, int32_t op)
{
    const struct yk_op *started = &walk->view->list->ops[op];
    for (int32_t w = 0; w < started->wait_count; w++) {
        const struct yk_op_wait *wait = &walk->view->list->waits[started->first_wait + w];
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
        if (round - other >= MOST_AHEAD) {
            return false;
        }
    }
    return round < ROUNDS;
}

static int32_t count_ends(const struct yk_thing *thing)
{
    return (thing->until[0] != YK_OP_NONE) + (thing->until[1] != YK_OP_NONE);
}

/* Fails where the thing's place is not free. */
static void begin(struct walk *walk, int32_t round, int32_t number)
{
    const struct yk_things *things = walk->things;
    const struct yk_thing *thing = &things->items[number];
    int8_t *left = &walk->left[round * things->count + number];
    if (*left >= 0) {
        return; /* the other lane has begun it */
    }
    for (int32_t r = 0; r < ROUNDS; r++) {
        for (int32_t i = 0; i < things->count; i++) {
            const struct yk_thing *other = &things->items[i];
            if (walk->left[r * things->count + i] > 0 &&
                other->offset < thing->offset + thing->bytes &&
                thing->offset < other->offset + other->bytes) {
                fail_msg("thing %d of round %d is put where thing %d of round %d lies", (int)number,
                         (int)round, (int)i, (int)r);
            }
        }
    }
    *left = (int8_t)count_ends(thing);
}

static void start(struct walk *walk, int32_t round, int32_t op)
{
    for (int32_t i = 0; i < walk->things->count; i++) {
        const struct yk_thing *thing = &walk->things->items[i];
        if (thing->from[0] == op || thing->from[1] == op) {
            begin(walk, round, i);
        }
    }
}

static void end(struct walk *walk, int32_t round, int32_t op)
{
    walk->ended[round * walk->view->list->op_count + op] = 1;
    for (int32_t i = 0; i < walk->things->count; i++) {
        const struct yk_thing *thing = &walk->things->items[i];
        const int32_t begun = round - thing->lag;
        if ((thing->until[0] == op || thing->until[1] == op) && begun >= 0) {
            walk->left[begun * walk->things->count + i]--;
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
    const struct yk_program_rank *list = walk->view->list;
    walk->ended = yk_arena_take(arena, (size_t)ROUNDS * (size_t)list->op_count + 1, 1);
    walk->left = yk_arena_take(arena, (size_t)ROUNDS * (size_t)walk->things->count + 1, 1);
    assert_true(walk->ended && walk->left);
    for (int32_t i = 0; i < ROUNDS * walk->things->count; i++) {
        walk->left[i] = -1;
    }
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        int32_t count = 0;
        walk->next[lane] = 0;
        walk->running[lane] = false;
        walk->of_lane[lane] =
            yk_arena_take(arena, (size_t)list->op_count + 1, sizeof *walk->of_lane[lane]);
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

static int32_t draw_op(struct yk_random *random, const struct yk_rank_view *view)
{
    for (;;) {
        const int32_t op = (int32_t)yk_random_below(random, view->list->op_count);
        if (view->list->ops[op].lane != YK_LANE_COPY) {
            return op;
        }
    }
}

/* What ends a thing comes after what begins it, as with all that is held; and what is held into the
 * next round has ended before it begins again there. */
static bool follows(const struct yk_rank_view *view, int32_t from, int32_t until, int32_t lag)
{
    return lag > 0 ? yk_rank_view_knows(view, from, until, lag) &&
                         yk_rank_view_knows(view, until, from, 0)
                   : from == until || yk_rank_view_knows(view, from, until, 0);
}

/* Held from one op, or one on each lane, to others that come after them; some into the next round.
 */
static void add_things(struct yk_random *random, const struct yk_rank_view *view, size_t *offsets,
                       struct yk_things *things)
{
    for (int32_t tries = 0; tries < 50 * MOST_THINGS && things->count < MOST_THINGS; tries++) {
        const size_t bytes = 64 * (1 + (size_t)yk_random_below(random, 9));
        struct yk_thing thing = yk_thing_new(bytes, &offsets[things->count]);
        const int32_t from = draw_op(random, view);
        const int32_t until = draw_op(random, view);
        const int32_t other_from = draw_op(random, view);
        const int32_t other_until = draw_op(random, view);
        thing.lag = from > until;
        if (!follows(view, from, until, thing.lag)) {
            continue;
        }
        yk_thing_begin(&thing, view, from);
        yk_thing_end(&thing, view, until);
        if (follows(view, other_from, until, thing.lag) &&
            follows(view, other_from, other_until, thing.lag) &&
            follows(view, from, other_until, thing.lag)) {
            yk_thing_begin(&thing, view, other_from);
            yk_thing_end(&thing, view, other_until);
        }
        yk_things_add(things, thing);
    }
}

/* ---- against looking at every pair ---- */

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

static bool can_meet(const struct yk_rank_view *view, const struct yk_thing *a,
                     const struct yk_thing *b)
{
    for (int32_t rounds = -MOST_AHEAD; rounds <= MOST_AHEAD; rounds++) {
        if (!ends_before(view, a, b, rounds) && !ends_before(view, b, a, -rounds)) {
            return true;
        }
    }
    return false;
}

/* Whether the thing would be clear, at that place, of all before it that it may meet. */
static bool fits(const struct yk_rank_view *view, const struct yk_things *things, int32_t number,
                 size_t at)
{
    const struct yk_thing *thing = &things->items[number];
    for (int32_t i = 0; i < number; i++) {
        const struct yk_thing *other = &things->items[i];
        if (at < other->offset + other->bytes && other->offset < at + thing->bytes &&
            can_meet(view, thing, other)) {
            return false;
        }
    }
    return true;
}

/* In the order of placing, each lies at the lowest place where it fits: 0, or where another one
 * ends. */
static void expect_lowest(const struct yk_rank_view *view, const struct yk_things *things)
{
    for (int32_t i = 0; i < things->count; i++) {
        const size_t at = things->items[i].offset;
        assert_true(fits(view, things, i, at));
        assert_false(at > 0 && fits(view, things, i, 0));
        for (int32_t j = 0; j < i; j++) {
            const size_t end = things->items[j].offset + things->items[j].bytes;
            assert_false(end < at && fits(view, things, i, end));
        }
    }
}

static void try_rank(const struct yk_program *program, int32_t rank, uint64_t seed)
{
    struct yk_arena *arena = NULL;
    struct yk_facts *facts = NULL;
    struct yk_rank_view *view = NULL;
    struct yk_things things = {0};
    size_t offsets[MOST_THINGS];
    size_t bytes = 0;
    struct walk walk = {.random = yk_random_from_seed(seed)};
    struct yk_thing_wait *waits = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_facts_make(program, arena, &facts));
    assert_ok(yk_rank_view_make(facts, rank, arena, &view));
    if (view->list->op_count > 0) {
        add_things(&walk.random, view, offsets, &things);
        assert_true(things.count > 0);
        assert_ok(yk_things_place(&things, view, &bytes));
        expect_lowest(view, &things);
        assert_ok(yk_things_find_waits(&things, view, arena, &waits, &walk.wait_count));
        walk.view = view;
        walk.things = &things;
        walk.waits = waits;
        for (int i = 0; i < 10; i++) {
            walk_once(&walk, arena);
        }
    }
    yk_things_free(&things);
    yk_arena_destroy(arena);
}

static void nothing_lies_on_top_of_anything_else_whatever_lanes_do(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_program *program = NULL;
        struct yk_program *shuffled = NULL;
        assert_ok(yk_program_compile(sound.plan, sound.cluster, sound.sizes, &program));
        assert_ok(yk_program_shuffle(program, seed, &shuffled));
        for (int32_t rank = 0; rank < program->rank_count; rank++) {
            try_rank(program, rank, seed);
            try_rank(shuffled, rank, seed);
        }
        yk_program_destroy(shuffled);
        yk_program_destroy(program);
        sound_plan_free(&sound);
    }
}

/* Else the test above would pass for a piece of memory for each. */
static void things_that_follow_each_other_share_a_place(void **state)
{
    (void)state;
    struct sound_plan sound = sound_plan_make(0);
    struct yk_arena *arena = NULL;
    struct yk_program *program = NULL;
    struct yk_facts *facts = NULL;
    struct yk_rank_view *view = NULL;
    struct yk_things things = {0};
    size_t offsets[MOST_THINGS];
    size_t bytes = 0;
    int32_t count = 0;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_program_compile(sound.plan, sound.cluster, sound.sizes, &program));
    assert_ok(yk_facts_make(program, arena, &facts));
    assert_ok(yk_rank_view_make(facts, 0, arena, &view));
    for (int32_t i = 0; i < view->list->op_count && count < MOST_THINGS; i++) {
        if (view->list->ops[i].lane == YK_LANE_COMPUTE) {
            struct yk_thing thing = yk_thing_new(64, &offsets[count++]);
            yk_thing_begin(&thing, view, i);
            yk_thing_end(&thing, view, i);
            yk_things_add(&things, thing);
        }
    }
    assert_true(count > 3);
    assert_ok(yk_things_place(&things, view, &bytes));
    assert_int_equal(bytes, 64);
    yk_things_free(&things);
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
    struct yk_facts *facts = NULL;
    struct yk_rank_view *view = NULL;
    /* One that no multiple of the alignment holds, and two that are too many together. */
    static const size_t sizes[][2] = {{SIZE_MAX, 0}, {SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1}};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_program_compile(sound.plan, sound.cluster, sound.sizes, &program));
    assert_ok(yk_facts_make(program, arena, &facts));
    assert_ok(yk_rank_view_make(facts, 0, arena, &view));
    for (int i = 0; i < 2; i++) {
        struct yk_things things = {0};
        size_t offset = 0;
        size_t bytes = 0;
        for (int j = 0; j < 2; j++) {
            struct yk_thing thing = yk_thing_new(sizes[i][j], &offset);
            struct yk_random random = yk_random_from_seed(1);
            const int32_t op = draw_op(&random, view);
            yk_thing_begin(&thing, view, op);
            yk_thing_end(&thing, view, op);
            yk_things_add(&things, thing);
        }
        assert_int_equal(yk_things_place(&things, view, &bytes), YK_ERROR_INPUT);
        yk_things_free(&things);
    }
    yk_program_destroy(program);
    yk_arena_destroy(arena);
    sound_plan_free(&sound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_lies_on_top_of_anything_else_whatever_lanes_do),
        cmocka_unit_test(things_that_follow_each_other_share_a_place),
        cmocka_unit_test(bytes_that_cannot_be_counted_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
