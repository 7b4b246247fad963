#include "sim/sim.h"
#include "support/programs/row_program.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* Links of one byte a second without latency: a ring of two takes half a message's bytes. */
static const struct yk_link slow = {0, 1};
static const struct yk_link fast = {0, 1e9};

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

struct ran {
    struct hand_program *hand;
    struct yk_sim_result *sim;
};

static struct ran run(const struct hand_spec *spec, double slowdown)
{
    struct ran ran = {.hand = hand_program_make(spec)};
    const struct yk_sim_options options = {.slowdown = slowdown};
    assert_ok(yk_sim_run(&ran.hand->program, ran.hand->costs, &options, &ran.sim));
    return ran;
}

static void finish(struct ran *ran)
{
    yk_sim_result_destroy(ran->sim);
    hand_program_free(ran->hand);
}

static void assert_op(const struct ran *ran, int32_t rank, int32_t op, double start_s, double end_s)
{
    assert_near(ran->sim->ranks[rank].start_s[op], start_s);
    assert_near(ran->sim->ranks[rank].end_s[op], end_s);
}

static void assert_sums(const struct ran *ran, int32_t rank, double compute_s, double exposed_s,
                        double idle_s)
{
    const struct yk_sim_rank_result *reported = &ran->sim->ranks[rank];
    assert_near(reported->compute_s, compute_s);
    assert_near(reported->exposed_s, exposed_s);
    assert_near(reported->idle_s, idle_s);
    assert_near(reported->compute_s + reported->exposed_s + reported->idle_s, ran->sim->step_s);
}

/* ---- one rank ---- */

static void a_rank_alone_computes_with_no_pause(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_LOAD, .samples = 2},
        {YK_OP_FORWARD, .layer = 1, .samples = 2, .waits = "0"},
        {YK_OP_RECOMPUTE, .layer = 1, .samples = 2},
        {YK_OP_BACKWARD, .layer = 1, .samples = 2},
        {YK_OP_UPDATE, .layer = 1},
        {YK_OP_RELEASE, .layer = 1},
        HAND_END,
    };
    const struct hand_spec spec = {
        .rank_count = 1, .devices = {{.layer_s = 3, .update_s = 5}}, .lists = {list}};
    struct ran ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 6 + 6 + 12 + 5);
    assert_op(&ran, 0, 1, 0, 6);
    assert_op(&ran, 0, 2, 6, 12);
    assert_op(&ran, 0, 3, 12, 24);
    assert_op(&ran, 0, 4, 24, 29);
    assert_op(&ran, 0, 5, 29, 29);
    assert_sums(&ran, 0, 29, 0, 0);
    finish(&ran);
}

/* ---- communication beside computation ---- */

/* The parameters of the second layer travel while the first is computed. */
static const struct hand_op gathering[] = {
    {YK_OP_FORWARD, .layer = 0, .samples = 1},
    {YK_OP_ALL_GATHER, .layer = 1, .bytes = 4, .waits = "2'"},
    {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "1"},
    HAND_END,
};

static void a_gather_hides_behind_computation(void **state)
{
    (void)state;
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 4}},
                                   .within = slow,
                                   .lists = {gathering, gathering}};
    struct ran ran = run(&spec, 1);
    assert_near(ran.sim->step_s, 8);
    for (int32_t rank = 0; rank < 2; rank++) {
        assert_op(&ran, rank, 0, 0, 4);
        assert_op(&ran, rank, 1, 0, 2);
        assert_op(&ran, rank, 2, 4, 8);
        assert_near(ran.sim->ranks[rank].exposed_of_op_s[1], 0);
        assert_sums(&ran, rank, 8, 0, 0);
    }
    finish(&ran);
}

/* In the 2 s of the gather 2 / 1.5 s of the 4 s are done; the rest follows at full speed. */
static void computation_is_slower_while_data_moves(void **state)
{
    (void)state;
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 4}},
                                   .within = slow,
                                   .lists = {gathering, gathering}};
    struct ran ran = run(&spec, 1.5);
    const double first_s = 2 + (4 - 2 / 1.5);
    assert_op(&ran, 0, 0, 0, first_s);
    assert_op(&ran, 0, 2, first_s, first_s + 4);
    assert_sums(&ran, 0, first_s + 4, 0, 0);
    finish(&ran);
    ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 2 + (4 - 2 / YK_SIM_DEFAULT_SLOWDOWN) + 4);
    finish(&ran);
}

static void what_no_computation_hides_is_exposed(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_FORWARD, .layer = 0, .samples = 1},
        {YK_OP_ALL_GATHER, .layer = 1, .bytes = 12, .waits = "2'"},
        {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "1"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 4}},
                                   .within = slow,
                                   .lists = {list, list}};
    struct ran ran = run(&spec, 1.25); /* 5 s of computation beside 6 s of communication */
    assert_near(ran.sim->step_s, 10);
    assert_op(&ran, 1, 0, 0, 5);
    assert_op(&ran, 1, 1, 0, 6);
    assert_op(&ran, 1, 2, 6, 10);
    assert_near(ran.sim->ranks[1].exposed_of_op_s[1], 1);
    assert_sums(&ran, 1, 9, 1, 0);
    finish(&ran);
}

/* The second device ends its 2 s early, and the next gather waits for the 4 s of the first. */
static void a_collective_waits_for_the_slowest(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_ALL_GATHER, .layer = 1, .bytes = 4, .waits = "1'"},
        {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "0"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 2}},
                                   .within = slow,
                                   .lists = {list, list}};
    struct ran ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 6);
    assert_op(&ran, 0, 0, 0, 2);
    assert_op(&ran, 1, 0, 0, 2);
    assert_op(&ran, 0, 1, 2, 6);
    assert_op(&ran, 1, 1, 2, 4);
    assert_sums(&ran, 0, 4, 2, 0);
    assert_sums(&ran, 1, 2, 2, 2);
    finish(&ran);
}

/* Two rounds look alike from the second on: what was gathered for the first was there already. */
static void the_round_reported_is_one_among_many(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "2'"},
        {YK_OP_UPDATE, .layer = 0},
        {YK_OP_ALL_GATHER, .layer = 0, .bytes = 8, .waits = "1"},
        HAND_END,
    };
    const struct hand_spec spec = {
        .rank_count = 2,
        .devices = {{.layer_s = 2, .update_s = 1}, {.layer_s = 2, .update_s = 1}},
        .within = slow,
        .lists = {list, list}};
    struct ran ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 4 + 2 + 1);
    assert_op(&ran, 0, 0, 4, 6);
    assert_op(&ran, 0, 1, 6, 7);
    assert_op(&ran, 0, 2, 7, 11);
    assert_near(ran.sim->ranks[0].exposed_of_op_s[2], 4);
    assert_sums(&ran, 0, 3, 4, 0);
    finish(&ran);
}

/* Layers of 2 s and 4 s backward; what travels between the two takes 3 s. */
static void stages_wait_for_what_the_other_sends(void **state)
{
    (void)state;
    static const struct hand_op first[] = {
        {YK_OP_FORWARD, .layer = 0, .samples = 1},
        {YK_OP_SEND, .layer = 0, .bytes = 3, .peer = 1, .match = 0, .waits = "0"},
        {YK_OP_RECV, .layer = 0, .bytes = 3, .peer = 1, .match = 1},
        {YK_OP_BACKWARD, .layer = 0, .samples = 1, .waits = "2"},
        HAND_END,
    };
    static const struct hand_op second[] = {
        {YK_OP_RECV, .layer = 0, .bytes = 3, .peer = 0, .match = 0},
        {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "0"},
        {YK_OP_BACKWARD, .layer = 1, .samples = 1},
        {YK_OP_SEND, .layer = 0, .bytes = 3, .peer = 0, .match = 1, .waits = "2"},
        HAND_END,
    };
    const struct hand_spec spec = {
        .rank_count = 2,
        .devices = {{.node = 0, .layer_s = 2}, {.node = 1, .layer_s = 2}},
        .between = slow,
        .groups = {{.ranks = {0}, .count = 1}, {.ranks = {1}, .count = 1}},
        .group_count = 2,
        .lists = {first, second}};
    struct ran ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 18);
    assert_op(&ran, 0, 0, 0, 2);
    assert_op(&ran, 0, 1, 2, 5);
    assert_op(&ran, 1, 0, 2, 5);
    assert_op(&ran, 1, 1, 5, 7);
    assert_op(&ran, 1, 2, 7, 11);
    assert_op(&ran, 1, 3, 11, 14);
    assert_op(&ran, 0, 2, 11, 14);
    assert_op(&ran, 0, 3, 14, 18);
    assert_sums(&ran, 0, 6, 6, 6);
    assert_sums(&ran, 1, 6, 6, 6);
    finish(&ran);
}

/* ---- what communication costs ---- */

/* Gather and scatter wait for the largest part, a reduction has equal ones; α = 1 s, β = 1 s/B:
 * 1 + 6, 1 + 6 and 2 (1 + 4). */
static void collectives_cost_what_their_ring_says(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_ALL_GATHER, .layer = 0, .bytes = 8, .match = 0, .waits = "4'"},
        {YK_OP_REDUCE_SCATTER, .layer = 0, .bytes = 8, .match = 1},
        {YK_OP_ALL_REDUCE, .layer = 0, .bytes = 8, .match = 2},
        {YK_OP_AGREE, .layer = YK_LAYER_NONE, .bytes = 8, .match = 3},
        {YK_OP_UPDATE, .layer = 0, .waits = "3"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.update_s = 4}, {.update_s = 4}},
                                   .within = {1, 1},
                                   .groups = {{.ranks = {0, 1}, .count = 2, .parts = {0.25, 0.75}}},
                                   .group_count = 1,
                                   .strategy = YK_SHARDING_KEPT_AFTER_FORWARD,
                                   .lists = {list, list}};
    struct ran ran = run(&spec, 0);
    assert_op(&ran, 0, 0, 0, 7);
    assert_op(&ran, 0, 1, 7, 14);
    assert_op(&ran, 0, 2, 14, 24);
    assert_op(&ran, 0, 3, 24, 34);
    /* Each updates the part it keeps. */
    assert_op(&ran, 0, 4, 34, 35);
    assert_op(&ran, 1, 4, 34, 37);
    assert_near(ran.sim->step_s, 37);
    finish(&ran);
}

/* A gather of 4 B over links of 1 s and 1 B/s takes 1 + 2 s; of two blocks each takes 1 + 1 s. */
static void blocks_travel_one_by_one(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_ALL_GATHER, .layer = 0, .bytes = 4, .waits = "1'"},
        {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "0"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 1}, {.layer_s = 1}},
                                   .within = {1, 1},
                                   .strategy = YK_SHARDING_KEPT_AFTER_FORWARD,
                                   .lists = {list, list}};
    for (int32_t blocks = 1; blocks <= 2; blocks++) {
        struct ran ran = {.hand = hand_program_make(&spec)};
        ran.hand->program.layers[0].block_count = blocks;
        ran.hand->program.ranks[0].ops[0].block_count = blocks;
        ran.hand->program.ranks[1].ops[0].block_count = blocks;
        assert_ok(
            yk_sim_run(&ran.hand->program, ran.hand->costs, &(struct yk_sim_options){0}, &ran.sim));
        assert_near(ran.sim->step_s, blocks == 1 ? 3 + 1 : 4 + 1);
        finish(&ran);
    }
}

static void a_replicated_layer_is_updated_whole(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_AGREE, .layer = YK_LAYER_NONE, .waits = "1'"},
        {YK_OP_UPDATE, .layer = 0, .waits = "0"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.update_s = 4}, {.update_s = 4}},
                                   .within = fast,
                                   .groups = {{.ranks = {0, 1}, .count = 2, .parts = {0.25, 0.75}}},
                                   .group_count = 1,
                                   .strategy = YK_SHARDING_REPLICATED,
                                   .lists = {list, list}};
    struct ran ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 4);
    assert_sums(&ran, 0, 4, 0, 0);
    assert_sums(&ran, 1, 4, 0, 0);
    finish(&ran);
}

/* ---- what is shared ---- */

static const struct hand_op first_pair[] = {
    {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "2'"},
    {YK_OP_ALL_GATHER, .layer = 0, .bytes = 8, .group = 0, .match = 0, .waits = "0"},
    {YK_OP_AGREE, .layer = YK_LAYER_NONE, .match = 2},
    {YK_OP_UPDATE, .layer = 0, .waits = "2"},
    HAND_END,
};
static const struct hand_op second_pair[] = {
    {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "2'"},
    {YK_OP_ALL_GATHER, .layer = 0, .bytes = 8, .group = 1, .match = 1, .waits = "0"},
    {YK_OP_AGREE, .layer = YK_LAYER_NONE, .match = 2},
    {YK_OP_UPDATE, .layer = 0, .waits = "2"},
    HAND_END,
};

/* Two nodes of two devices; the gathers of 4 s start at 2 s and at 4 s. */
static struct hand_spec two_pairs(int32_t partner_of_0)
{
    return (struct hand_spec){
        .rank_count = 4,
        .devices = {{.node = 0, .layer_s = 2, .update_s = 1},
                    {.node = partner_of_0 == 1 ? 0 : 1, .layer_s = 2, .update_s = 1},
                    {.node = partner_of_0 == 1 ? 1 : 0, .layer_s = 4, .update_s = 1},
                    {.node = 1, .layer_s = 4, .update_s = 1}},
        .within = slow,
        .between = slow,
        .groups = {{.ranks = {0, 1}, .count = 2}, {.ranks = {2, 3}, .count = 2}},
        .group_count = 2,
        .lists = {first_pair, first_pair, second_pair, second_pair}};
}

/* Both leave both nodes. From 4 s on each has half of the way; the first has 2 of its 4 s left and
 * needs 4 s for them, and the second, which then has 2 of its 4 s left, goes on alone. */
static void two_groups_share_the_way_out_of_a_node(void **state)
{
    (void)state;
    const struct hand_spec spec = two_pairs(2);
    struct ran ran = run(&spec, 1);
    assert_op(&ran, 0, 0, 0, 2);
    assert_op(&ran, 2, 0, 0, 4);
    assert_op(&ran, 0, 1, 2, 8);
    assert_op(&ran, 2, 1, 4, 10);
    assert_op(&ran, 0, 3, 10, 11);
    assert_near(ran.sim->step_s, 11);
    assert_sums(&ran, 0, 3, 6, 2);
    assert_sums(&ran, 2, 5, 6, 0);
    finish(&ran);
}

static void groups_within_a_node_do_not_meet(void **state)
{
    (void)state;
    const struct hand_spec spec = two_pairs(1);
    struct ran ran = run(&spec, 1);
    assert_op(&ran, 0, 1, 2, 6);
    assert_op(&ran, 2, 1, 4, 8);
    assert_near(ran.sim->step_s, 9);
    finish(&ran);
}

/* One message out of a node and one into it use different directions of the way. */
static void ways_out_and_in_are_apart(void **state)
{
    (void)state;
    static const struct hand_op sender[] = {
        {YK_OP_SEND, .layer = 0, .bytes = 3, .peer = 2, .match = 0, .waits = "1'"},
        {YK_OP_UPDATE, .layer = 0, .waits = "0"},
        HAND_END,
    };
    static const struct hand_op receiver[] = {
        {YK_OP_RECV, .layer = 0, .bytes = 3, .peer = 3, .match = 1, .waits = "1'"},
        {YK_OP_UPDATE, .layer = 0, .waits = "0"},
        HAND_END,
    };
    static const struct hand_op other_receiver[] = {
        {YK_OP_RECV, .layer = 0, .bytes = 3, .peer = 0, .match = 0, .waits = "1'"},
        {YK_OP_UPDATE, .layer = 0, .waits = "0"},
        HAND_END,
    };
    static const struct hand_op other_sender[] = {
        {YK_OP_SEND, .layer = 0, .bytes = 3, .peer = 1, .match = 1, .waits = "1'"},
        {YK_OP_UPDATE, .layer = 0, .waits = "0"},
        HAND_END,
    };
    static const struct hand_op sends_too[] = {
        {YK_OP_SEND, .layer = 0, .bytes = 3, .peer = 3, .match = 1, .waits = "1'"},
        {YK_OP_UPDATE, .layer = 0, .waits = "0"},
        HAND_END,
    };
    static const struct hand_op receives_too[] = {
        {YK_OP_RECV, .layer = 0, .bytes = 3, .peer = 1, .match = 1, .waits = "1'"},
        {YK_OP_UPDATE, .layer = 0, .waits = "0"},
        HAND_END,
    };
    struct hand_spec spec = {.rank_count = 4,
                             .devices = {{0, 0, 1}, {0, 0, 1}, {1, 0, 1}, {1, 0, 1}},
                             .within = slow,
                             .between = slow,
                             .groups = {{.ranks = {0}, .count = 1}},
                             .group_count = 1,
                             .lists = {sender, receiver, other_receiver, other_sender}};
    struct ran ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 3 + 1);
    finish(&ran);
    spec.lists[1] = sends_too;
    spec.lists[3] = receives_too;
    ran = run(&spec, 0);
    assert_near(ran.sim->step_s, 6 + 1);
    finish(&ran);
}

/* ---- folding ---- */

static const struct hand_op busy[] = {
    {YK_OP_ALL_GATHER, .layer = 0, .bytes = 3, .match = 0, .waits = "7'"},
    {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "0"},
    {YK_OP_ALL_GATHER, .layer = 1, .bytes = 5, .match = 1, .waits = "7'"},
    {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "2"},
    {YK_OP_BACKWARD, .layer = 1, .samples = 1},
    {YK_OP_REDUCE_SCATTER, .layer = 1, .bytes = 7, .match = 2, .waits = "4"},
    {YK_OP_BACKWARD, .layer = 0, .samples = 1},
    {YK_OP_UPDATE, .layer = 1, .waits = "5"},
    HAND_END,
};

static struct hand_spec busy_spec(void)
{
    return (struct hand_spec){
        .rank_count = 5,
        .devices = {{0, 1.1, 0.3}, {1, 1.1, 0.3}, {0, 1.1, 0.3}, {1, 0.7, 0.3}, {1, 1.1, 0.3}},
        .within = {0.01, 3},
        .between = {0.02, 0.9},
        .strategy = YK_SHARDING_FULLY_SHARDED,
        .lists = {busy, busy, busy, busy, busy}};
}

static void assert_same(const struct ran *a, const struct ran *b)
{
    assert_true(a->sim->step_s == b->sim->step_s);
    for (int32_t rank = 0; rank < a->hand->program.rank_count; rank++) {
        const struct yk_sim_rank_result *one = &a->sim->ranks[rank];
        const struct yk_sim_rank_result *other = &b->sim->ranks[rank];
        const size_t size = (size_t)a->hand->program.ranks[rank].op_count * sizeof(double);
        assert_true(one->compute_s == other->compute_s && one->exposed_s == other->exposed_s);
        assert_true(one->idle_s == other->idle_s && one->peak_bytes == other->peak_bytes);
        assert_memory_equal(one->start_s, other->start_s, size);
        assert_memory_equal(one->end_s, other->end_s, size);
        assert_memory_equal(one->exposed_of_op_s, other->exposed_of_op_s, size);
    }
}

static void folded_ranks_do_what_they_do_apart(void **state)
{
    (void)state;
    struct hand_spec spec = busy_spec();
    struct ran folded = run(&spec, 0);
    spec.apart = true;
    struct ran apart = run(&spec, 0);
    assert_ptr_equal(folded.hand->program.ranks[4].ops, folded.hand->program.ranks[0].ops);
    assert_ptr_not_equal(apart.hand->program.ranks[4].ops, apart.hand->program.ranks[0].ops);
    assert_same(&folded, &apart);
    /* The faster device is not like the others, wherever its list lies. */
    assert_true(folded.sim->ranks[3].compute_s < folded.sim->ranks[0].compute_s);
    finish(&folded);
    finish(&apart);
}

/* Parts decide how long an update takes, and how much a rank holds. */
static void ranks_of_unequal_parts_are_not_folded(void **state)
{
    (void)state;
    struct hand_spec spec = busy_spec();
    spec.groups[0] = (struct hand_group){
        .ranks = {0, 1, 2, 3, 4}, .count = 5, .parts = {0.1, 0.1, 0.4, 0.1, 0.3}};
    spec.group_count = 1;
    struct ran ran = run(&spec, 1);
    const struct yk_sim_rank_result *ranks = ran.sim->ranks;
    assert_near(ranks[0].end_s[7] - ranks[0].start_s[7], 0.03);
    assert_near(ranks[2].end_s[7] - ranks[2].start_s[7], 0.12);
    assert_near(ranks[4].end_s[7] - ranks[4].start_s[7], 0.09);
    finish(&ran);
}

static void one_input_gives_one_result(void **state)
{
    (void)state;
    const struct hand_spec spec = busy_spec();
    struct ran once = run(&spec, 0);
    struct ran again = run(&spec, 0);
    assert_same(&once, &again);
    finish(&once);
    finish(&again);
}

/* ---- what cannot be ---- */

static void a_program_that_waits_on_itself_is_refused(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_ALL_GATHER, .layer = 1, .bytes = 4, .waits = "1"},
        {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "0"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 4}},
                                   .within = slow,
                                   .lists = {list, list}};
    struct hand_program *hand = hand_program_make(&spec);
    const struct yk_sim_options options = {0};
    struct yk_sim_result *sim = NULL;
    assert_int_equal(yk_sim_run(&hand->program, hand->costs, &options, &sim), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "the program waits on itself"));
    assert_null(sim);
    hand_program_free(hand);
}

static void a_slowdown_below_one_is_refused(void **state)
{
    (void)state;
    const struct hand_spec spec = busy_spec();
    struct hand_program *hand = hand_program_make(&spec);
    const struct yk_sim_options options = {.slowdown = 0.9};
    struct yk_sim_result *sim = NULL;
    assert_fails(yk_sim_run(&hand->program, hand->costs, &options, &sim), YK_ERROR_INPUT,
                 "computation beside communication takes 0.9 times as long: at least 1, please");
    hand_program_free(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_alone_computes_with_no_pause),
        cmocka_unit_test(a_gather_hides_behind_computation),
        cmocka_unit_test(computation_is_slower_while_data_moves),
        cmocka_unit_test(what_no_computation_hides_is_exposed),
        cmocka_unit_test(a_collective_waits_for_the_slowest),
        cmocka_unit_test(the_round_reported_is_one_among_many),
        cmocka_unit_test(stages_wait_for_what_the_other_sends),
        cmocka_unit_test(collectives_cost_what_their_ring_says),
        cmocka_unit_test(blocks_travel_one_by_one),
        cmocka_unit_test(a_replicated_layer_is_updated_whole),
        cmocka_unit_test(two_groups_share_the_way_out_of_a_node),
        cmocka_unit_test(groups_within_a_node_do_not_meet),
        cmocka_unit_test(ways_out_and_in_are_apart),
        cmocka_unit_test(folded_ranks_do_what_they_do_apart),
        cmocka_unit_test(ranks_of_unequal_parts_are_not_folded),
        cmocka_unit_test(one_input_gives_one_result),
        cmocka_unit_test(a_program_that_waits_on_itself_is_refused),
        cmocka_unit_test(a_slowdown_below_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
