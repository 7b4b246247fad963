/* The most that lanes can hold, against every moment that they can come to. */
#include "program/memory/memory_sweep.h"

#include "base/random.h"
#include "program/memory/memory.h"
#include "support/programs/random_walk.h"
#include "support/support.h"

#include <string.h>

enum {
    MOST_OPS = 8,
    MOST_LIFETIMES = 7,
    ROUNDS = 7, /* that brute force lays out */
    MIDDLE = 3, /* the one it looks at */
    MOST_POINTS = 2 * ROUNDS * MOST_OPS + 1,
    CASES = 20000,
};

struct list {
    struct yk_op ops[MOST_OPS];
    struct yk_op_wait waits[2 * MOST_OPS];
    struct yk_buffer_lifetime lifetimes[MOST_LIFETIMES];
    struct yk_op_list rank;
    struct yk_program program;
    struct yk_program_memory memory;
    int32_t count[YK_LANE_COUNT];
    int32_t number[MOST_OPS]; /* in its lane */
};

static void add_op(struct list *list, enum yk_lane lane)
{
    const int32_t op = list->rank.op_count++;
    list->number[op] = list->count[lane]++;
    list->ops[op] =
        (struct yk_op){.lane = lane, .match = YK_OP_NO_MATCH, .first_wait = list->rank.wait_count};
}

/* The op that was put last waits. */
static void add_wait(struct list *list, int32_t other, int32_t lag)
{
    list->waits[list->rank.wait_count++] = (struct yk_op_wait){.op = other, .lag = lag};
    list->ops[list->rank.op_count - 1].wait_count++;
}

/* Some bytes from the start of one op to the end of another, `lag` rounds later. */
static struct yk_buffer_lifetime *add_lifetime(struct list *list, double bytes, int32_t from,
                                               int32_t until, int32_t lag)
{
    struct yk_buffer_lifetime *lifetime = &list->lifetimes[list->memory.lifetime_count++];
    *lifetime = yk_buffer_lifetime_make_empty();
    lifetime->bytes = bytes;
    lifetime->lag_iterations = lag;
    lifetime->begin[list->ops[from].lane] = from;
    lifetime->end[list->ops[until].lane] = until;
    return lifetime;
}

static void finish(struct list *list)
{
    list->rank.ops = list->ops;
    list->rank.waits = list->waits;
    list->memory.lifetimes = list->lifetimes;
    list->program.ranks = &list->rank;
    list->program.rank_count = 1;
}

/* Waits look at ops before, or at any of the round before: nothing ever waits on itself. */
static void add_random_waits(struct list *list, int32_t ops, struct yk_random *random)
{
    const int32_t op = list->rank.op_count - 1;
    for (int32_t count = (int32_t)yk_random_below(random, 3); count > 0; count--) {
        const int32_t lag = op == 0 ? 1 : (int32_t)yk_random_below(random, 2);
        add_wait(list, (int32_t)yk_random_below(random, lag > 0 ? ops : op), lag);
    }
}

/* From an op to a later one, or to one of the next round that stands before it; some begin or end
 * on either lane. */
static void add_random_lifetime(struct list *list, int32_t ops, struct yk_random *random)
{
    const double bytes = (double)yk_random_below(random, 100);
    const int32_t from = (int32_t)yk_random_below(random, ops);
    const int32_t until = (int32_t)yk_random_below(random, ops);
    const int32_t other = (int32_t)yk_random_below(random, ops);
    struct yk_buffer_lifetime *lifetime =
        add_lifetime(list, bytes, from, until, until < from ? 1 : 0);
    lifetime->memory = (enum yk_memory_kind)yk_random_below(random, YK_MEMORY_KIND_COUNT);
    const int64_t chance = yk_random_below(random, 4);
    if (chance == 0 && list->ops[other].lane != list->ops[from].lane) {
        lifetime->begin[list->ops[other].lane] = other;
    } else if (chance == 1 && list->ops[other].lane != list->ops[until].lane) {
        lifetime->end[list->ops[other].lane] = other;
    }
}

/* Whole bytes, so that sums are exact whatever their order. */
static void make_random(struct list *list, struct yk_random *random)
{
    *list = (struct list){0};
    const int32_t ops = 1 + (int32_t)yk_random_below(random, MOST_OPS);
    for (int32_t i = 0; i < ops; i++) {
        add_op(list, yk_random_below(random, 2) == 0 ? YK_LANE_COMPUTE : YK_LANE_COMM);
        add_random_waits(list, ops, random);
    }
    for (int64_t count = yk_random_below(random, MOST_LIFETIMES + 1); count > 0; count--) {
        add_random_lifetime(list, ops, random);
    }
    list->memory.permanent_bytes[yk_random_below(random, YK_MEMORY_KIND_COUNT)] =
        (double)yk_random_below(random, 100);
    finish(list);
}

/* At point 2p a lane is before its op p, at 2p + 1 in it; an op may start there when all it waits
 * for is behind the points. */
static bool can_start(const struct list *list, enum yk_lane lane, const int32_t *points)
{
    const int32_t number = points[lane] / 2;
    const int32_t round = number / list->count[lane];
    int32_t op = 0;
    while (list->ops[op].lane != lane || list->number[op] != number % list->count[lane]) {
        op++;
    }
    for (int32_t w = 0; w < list->ops[op].wait_count; w++) {
        const struct yk_op_wait *wait = &list->waits[list->ops[op].first_wait + w];
        const enum yk_lane other = list->ops[wait->op].lane;
        const int32_t waited = (round - wait->lag) * list->count[other] + list->number[wait->op];
        if (round >= wait->lag && points[other] < 2 * (waited + 1)) {
            return false;
        }
    }
    return true;
}

static int32_t point_count(const struct list *list, enum yk_lane lane)
{
    return 2 * ROUNDS * list->count[lane] + 1;
}

/* Which pairs of points the lanes can come to from the first. */
static void find_reachable(const struct list *list, bool (*reached)[MOST_POINTS])
{
    memset(reached, 0, MOST_POINTS * sizeof *reached);
    reached[0][0] = true;
    for (int32_t i = 0; i < point_count(list, YK_LANE_COMPUTE); i++) {
        for (int32_t j = 0; j < point_count(list, YK_LANE_COMM); j++) {
            const int32_t points[YK_LANE_COUNT] = {[YK_LANE_COMPUTE] = i, [YK_LANE_COMM] = j};
            if (!reached[i][j]) {
                continue;
            }
            if (i + 1 < point_count(list, YK_LANE_COMPUTE) &&
                (i % 2 == 1 || can_start(list, YK_LANE_COMPUTE, points))) {
                reached[i + 1][j] = true;
            }
            if (j + 1 < point_count(list, YK_LANE_COMM) &&
                (j % 2 == 1 || can_start(list, YK_LANE_COMM, points))) {
                reached[i][j + 1] = true;
            }
        }
    }
}

static double bytes_at(const struct list *list, int32_t compute_point, int32_t comm_point)
{
    const struct walk_place place = {
        .started =
            {[YK_LANE_COMPUTE] = (compute_point + 1) / 2, [YK_LANE_COMM] = (comm_point + 1) / 2},
        .ended = {[YK_LANE_COMPUTE] = compute_point / 2, [YK_LANE_COMM] = comm_point / 2},
    };
    return walk_bytes(&list->rank, &list->memory, &place);
}

/* The largest sum while the compute lane is in the middle round. False when the comm lane can be
 * further from there than the round before and after, which lists of programs do not allow. */
static bool find_most(const struct list *list, double *out)
{
    static bool reached[MOST_POINTS][MOST_POINTS];
    const int32_t compute = list->count[YK_LANE_COMPUTE];
    const int32_t comm = list->count[YK_LANE_COMM];
    *out = 0;
    find_reachable(list, reached);
    for (int32_t i = 2 * MIDDLE * compute; i <= 2 * (MIDDLE + 1) * compute; i++) {
        for (int32_t j = 0; j < point_count(list, YK_LANE_COMM); j++) {
            if (reached[i][j] && (j < 2 * (MIDDLE - 1) * comm || j > 2 * (MIDDLE + 2) * comm)) {
                return false;
            }
        }
    }
    for (int32_t i = 2 * MIDDLE * compute; i <= 2 * (MIDDLE + 1) * compute; i++) {
        for (int32_t j = 0; j < point_count(list, YK_LANE_COMM); j++) {
            const double bytes = reached[i][j] ? bytes_at(list, i, j) : 0;
            *out = bytes > *out ? bytes : *out;
        }
    }
    return true;
}

static struct yk_memory_peak peak_of(const struct list *list)
{
    struct yk_memory_peak peak = {0};
    assert_ok(yk_program_memory_find_peak(&list->program, 0, &list->memory, &peak));
    return peak;
}

static void the_peak_is_that_of_every_reachable_moment(void **state)
{
    (void)state;
    int looked_at = 0;
    int looked_back = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct list list;
        double most = 0;
        make_random(&list, &random);
        if (!find_most(&list, &most)) {
            continue;
        }
        const struct yk_memory_peak peak = peak_of(&list);
        double sum = 0;
        for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
            sum += peak.by_kind[kind];
        }
        if (peak.bytes != most || sum != most) {
            fail_msg("seed %d: %g bytes, by kind %g, where %g can be held", (int)seed, peak.bytes,
                     sum, most);
        }
        looked_at++;
        for (int32_t i = 0; i < list.memory.lifetime_count; i++) {
            looked_back += list.lifetimes[i].lag_iterations;
        }
    }
    assert_in_range(looked_at, CASES / 3, CASES);
    assert_in_range(looked_back, CASES / 3, INT32_MAX);
}

static void one_op_after_the_other_never_holds_more(void **state)
{
    (void)state;
    int less = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct list list;
        make_random(&list, &random);
        const double most = walk_in_list_order(&list.rank, ROUNDS, &list.memory);
        const double peak = peak_of(&list).bytes;
        if (most > peak) {
            fail_msg("seed %d: %g bytes in the list's order, over %g", (int)seed, most, peak);
        }
        less += most < peak ? 1 : 0;
    }
    assert_in_range(less, CASES / 10, CASES);
}

/* Compute: 0 and 2. Comm: 1 and 3, which hold 10 and 20 bytes while they run; op 2 holds 5. */
static void make_crossing(struct list *list)
{
    *list = (struct list){0};
    add_op(list, YK_LANE_COMPUTE);
    add_wait(list, 3, 1);
    add_op(list, YK_LANE_COMM);
    add_wait(list, 0, 0);
    add_op(list, YK_LANE_COMPUTE);
    add_op(list, YK_LANE_COMM);
    (void)add_lifetime(list, 10, 1, 1, 0);
    (void)add_lifetime(list, 5, 2, 2, 0);
    (void)add_lifetime(list, 20, 3, 3, 0);
    finish(list);
}

static void ops_that_can_run_side_by_side_add_up(void **state)
{
    (void)state;
    struct list list;
    make_crossing(&list);
    const struct yk_memory_peak peak = peak_of(&list);
    assert_true(peak.bytes == 25);
    assert_int_equal(peak.compute_op, 2);
    assert_int_equal(peak.comm_op, 3);
}

static void ops_that_wait_for_each_other_do_not(void **state)
{
    (void)state;
    struct list list;
    make_crossing(&list);
    add_wait(&list, 2, 0); /* op 3, which was put last */
    const struct yk_memory_peak peak = peak_of(&list);
    assert_true(peak.bytes == 20);
    assert_int_equal(peak.comm_op, 3);
}

/* Compute: 0, 2 and 4, which holds 3 bytes. Comm: 1 after 0, which makes 7 bytes that 3 and 2 are
 * done with. Unless 4 waits for both lanes, the bytes may still be there. */
static void a_buffer_lives_until_both_lanes_are_done_with_it(void **state)
{
    (void)state;
    struct list list = {0};
    add_op(&list, YK_LANE_COMPUTE);
    add_wait(&list, 3, 1);
    add_op(&list, YK_LANE_COMM);
    add_wait(&list, 0, 0);
    add_op(&list, YK_LANE_COMPUTE);
    add_wait(&list, 1, 0);
    add_op(&list, YK_LANE_COMM);
    add_op(&list, YK_LANE_COMPUTE);
    struct yk_buffer_lifetime *lifetime = add_lifetime(&list, 7, 1, 2, 0);
    (void)add_lifetime(&list, 3, 4, 4, 0);
    finish(&list);
    assert_true(peak_of(&list).bytes == 7);
    lifetime->end[YK_LANE_COMM] = 3;
    assert_true(peak_of(&list).bytes == 10);
    add_wait(&list, 3, 0); /* op 4, which was put last */
    assert_true(peak_of(&list).bytes == 7);
}

/* The comm lane is a round behind: op 1 of a round ends what op 2 of the round before began, and
 * op 2 of this one may have begun the next by then. */
static void bytes_of_two_rounds_are_held_at_once(void **state)
{
    (void)state;
    struct list list = {0};
    add_op(&list, YK_LANE_COMPUTE);
    add_op(&list, YK_LANE_COMM);
    add_wait(&list, 2, 1);
    add_op(&list, YK_LANE_COMPUTE);
    (void)add_lifetime(&list, 7, 2, 1, 1);
    list.ops[0].first_wait = list.rank.wait_count;
    list.waits[list.rank.wait_count++] = (struct yk_op_wait){.op = 1, .lag = 1};
    list.ops[0].wait_count = 1;
    finish(&list);
    assert_true(peak_of(&list).bytes == 14);
    list.waits[list.ops[0].first_wait] = (struct yk_op_wait){.op = 1, .lag = 0};
    list.rank.ops = list.ops;
    /* Op 0 waits for the end of them now. (It stands before op 1, but not on its lane.) */
    assert_true(peak_of(&list).bytes == 7);
}

static void a_list_of_no_ops_holds_what_it_always_holds(void **state)
{
    (void)state;
    struct list list = {0};
    list.memory.permanent_bytes[YK_MEMORY_CONTEXT] = 3;
    list.memory.permanent_bytes[YK_MEMORY_PARAMETERS] = 4;
    finish(&list);
    const struct yk_memory_peak peak = peak_of(&list);
    assert_true(peak.bytes == 7);
    assert_int_equal(peak.compute_op, -1);
    assert_int_equal(peak.comm_op, -1);
}

/* Points of the comm lane: two ops a round, so that round 1 begins at 4. */
static void ranges_follow_the_waits_and_the_fences(void **state)
{
    (void)state;
    struct list list;
    struct yk_memory_sweep *sweep = NULL;
    int32_t first = 0;
    int32_t last = 0;
    make_crossing(&list);
    assert_ok(yk_memory_sweep_create(&list.rank, &list.memory, &sweep));
    assert_int_equal(yk_memory_sweep_middle_begin_compute_point(sweep), 4);
    assert_int_equal(yk_memory_sweep_middle_end_compute_point(sweep), 8);
    /* Before op 0 of round 1: op 0 of round 0 has run, so both ops of the comm lane may have, but
     * none of the next round; none must. */
    yk_memory_sweep_advance_compute(sweep, 4);
    yk_memory_sweep_possible_comm_range(sweep, &first, &last);
    assert_int_equal(first, 0);
    assert_int_equal(last, 4);
    /* In op 0: op 3 of the round before has ended. */
    yk_memory_sweep_advance_compute(sweep, 5);
    yk_memory_sweep_possible_comm_range(sweep, &first, &last);
    assert_int_equal(first, 4);
    assert_int_equal(last, 4);
    /* Op 0 has ended: all of the round may have run. */
    yk_memory_sweep_advance_compute(sweep, 7);
    yk_memory_sweep_possible_comm_range(sweep, &first, &last);
    assert_int_equal(first, 4);
    assert_int_equal(last, 8);
    assert_int_equal(yk_memory_sweep_comm_point_after_op(sweep, 0), 4);
    assert_int_equal(yk_memory_sweep_comm_point_after_op(sweep, 2), 6);
    /* In op 2: 5 bytes and none, 10, none, 20 and none of the comm lane. */
    assert_true(yk_memory_sweep_shrink_range_to_limit(sweep, 15, 4, &first, &last));
    assert_int_equal(first, 4);
    assert_int_equal(last, 6);
    assert_false(yk_memory_sweep_shrink_range_to_limit(sweep, 14, 5, &first, &last));
    /* Op 3 (point 6) waits until op 2 is past. */
    yk_memory_sweep_add_comm_wait(sweep, 6, 8);
    yk_memory_sweep_possible_comm_range(sweep, &first, &last);
    assert_int_equal(last, 6);
    yk_memory_sweep_advance_compute(sweep, 8);
    yk_memory_sweep_possible_comm_range(sweep, &first, &last);
    assert_int_equal(last, 8);
    yk_memory_sweep_destroy(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_that_of_every_reachable_moment),
        cmocka_unit_test(one_op_after_the_other_never_holds_more),
        cmocka_unit_test(ops_that_can_run_side_by_side_add_up),
        cmocka_unit_test(ops_that_wait_for_each_other_do_not),
        cmocka_unit_test(a_buffer_lives_until_both_lanes_are_done_with_it),
        cmocka_unit_test(bytes_of_two_rounds_are_held_at_once),
        cmocka_unit_test(a_list_of_no_ops_holds_what_it_always_holds),
        cmocka_unit_test(ranges_follow_the_waits_and_the_fences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
