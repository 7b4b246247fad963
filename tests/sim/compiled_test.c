/*
 * Programs of random plans, simulated, against what must hold for any of them; and against another
 * way to find their times: where nothing slows anything down, an op starts when the last of what it
 * waits for has ended, which needs no events.
 */
#include "cost/communication.h"
#include "sim/sim.h"
#include "support/clusters/stated_times.h"
#include "support/plans/compiled_plan.h"
#include "support/programs/row_program.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLANS = 150,
    ROUNDS = 8,
};

static void assert_near(double actual, double expected, double scale)
{
    if (!(fabs(actual - expected) <= 1e-9 * scale)) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static struct yk_cluster *one_node(void)
{
    static const struct made_up_device devices[] = {{"1GiB", 1e-3, 3e-3, 1e-4, 2e-3},
                                                    {"1GiB", 1e-3, 3e-3, 1e-4, 2e-3},
                                                    {"1GiB", 5e-4, 1e-3, 1e-4, 1e-3},
                                                    {"1GiB", 2e-3, 4e-3, 1e-4, 2e-3}};
    return made_up_cluster(devices, COMPILED_PLAN_RANKS, "20MB/s");
}

static struct yk_cluster *two_nodes(void)
{
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_parse_line("2x(2xa30 @ 1GB/s) @ 100MB/s", &cluster));
    return cluster;
}

static struct yk_sim_result *simulate(const struct compiled_plan *made, double slowdown)
{
    const struct yk_sim_options options = {.slowdown = slowdown};
    struct yk_sim_result *sim = NULL;
    assert_ok(yk_sim_run(made->program, made->costs, &options, &sim));
    return sim;
}

/* ---- seconds of an op alone ---- */

static double compute_s(const struct compiled_plan *made, int32_t rank, const struct yk_op *op)
{
    const struct yk_plan *plan = made->plan;
    const int32_t group = op->layer >= 0 ? plan->layers[op->layer].group : 0;
    double seconds = 0;
    double kept = 1;
    switch (op->kind) {
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        assert_ok(yk_layer_costs_seconds(
            made->costs, rank, op->layer, op->samples,
            op->kind == YK_OP_BACKWARD ? YK_COST_PASS_BACKWARD : YK_COST_PASS_FORWARD, &seconds));
        return seconds;
    case YK_OP_UPDATE:
        for (int32_t i = 0; i < plan->groups[group].member_count; i++) {
            const struct yk_plan_group_member *member = &plan->groups[group].members[i];
            if (member->rank == rank &&
                plan->layers[op->layer].strategy != YK_SHARDING_REPLICATED &&
                plan->groups[group].member_count > 1) {
                kept = member->shard_fraction;
            }
        }
        assert_ok(
            yk_layer_costs_seconds(made->costs, rank, op->layer, 0, YK_COST_PASS_UPDATE, &seconds));
        return seconds * kept;
    default:
        return 0;
    }
}

/* Within one node, so that the order of a ring does not matter. */
static double message_s(const struct compiled_plan *made, int32_t rank, const struct yk_op *op)
{
    int32_t devices[COMPILED_PLAN_RANKS] = {0, 1, 2, 3};
    struct yk_ring_devices ranks = {devices, made->plan->rank_count};
    struct yk_cost_time_estimate time = {0};
    enum yk_collective collective = YK_COLLECTIVE_ALL_REDUCE;
    double largest = 0;
    if (op->kind == YK_OP_SEND || op->kind == YK_OP_RECV) {
        assert_ok(yk_communication_send_time(&made->sources, rank, op->peer, op->bytes, &time));
        return time.seconds;
    }
    if (op->kind != YK_OP_AGREE) {
        const struct yk_plan_group *group = &made->plan->groups[op->group];
        ranks.count = group->member_count;
        for (int32_t i = 0; i < group->member_count; i++) {
            devices[i] = group->members[i].rank;
            largest = fmax(largest, group->members[i].shard_fraction * op->bytes);
        }
    }
    if (op->kind == YK_OP_ALL_GATHER || op->kind == YK_OP_REDUCE_SCATTER) {
        collective =
            op->kind == YK_OP_ALL_GATHER ? YK_COLLECTIVE_ALL_GATHER : YK_COLLECTIVE_REDUCE_SCATTER;
    } else {
        largest = 0;
    }
    assert_ok(yk_communication_collective_time(&made->sources, collective, &ranks, op->bytes,
                                               largest, &time));
    return time.seconds;
}

static double alone_s(const struct compiled_plan *made, int32_t rank, const struct yk_op *op)
{
    return op->lane == YK_LANE_COMM ? message_s(made, rank, op) : compute_s(made, rank, op);
}

/* ---- what must hold ---- */

static void assert_lanes_in_order(const struct compiled_plan *made, const struct yk_sim_result *sim,
                                  int32_t rank)
{
    const struct yk_op_list *list = &made->program->ranks[rank];
    const struct yk_sim_rank_result *times = &sim->ranks[rank];
    double free_s[YK_LANE_COUNT] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < list->op_count; i++) {
        assert_true(times->start_s[i] >= free_s[list->ops[i].lane]);
        assert_true(times->end_s[i] >= times->start_s[i]);
        free_s[list->ops[i].lane] = times->end_s[i];
    }
}

/* What waits for the round before compares with the same times a step earlier. */
static void assert_waits_kept(const struct compiled_plan *made, const struct yk_sim_result *sim,
                              int32_t rank)
{
    const struct yk_op_list *list = &made->program->ranks[rank];
    const struct yk_sim_rank_result *times = &sim->ranks[rank];
    for (int32_t i = 0; i < list->op_count; i++) {
        for (int32_t k = 0; k < list->ops[i].wait_count; k++) {
            const struct yk_op_wait *wait = &list->waits[list->ops[i].first_wait + k];
            const double ended_s = times->end_s[wait->op] - wait->lag * sim->step_s;
            assert_true(times->start_s[i] >= ended_s - wait->lag * 1e-3 * sim->step_s);
        }
    }
}

static void assert_messages_meet(const struct compiled_plan *made, const struct yk_sim_result *sim)
{
    double *starts = calloc((size_t)made->program->match_count + 1, sizeof *starts);
    double *ends = calloc((size_t)made->program->match_count + 1, sizeof *ends);
    bool *observed = calloc((size_t)made->program->match_count + 1, sizeof *observed);
    for (int32_t rank = 0; rank < made->program->rank_count; rank++) {
        const struct yk_op_list *list = &made->program->ranks[rank];
        for (int32_t i = 0; i < list->op_count; i++) {
            const int32_t match = list->ops[i].match;
            if (match != YK_OP_NO_MATCH && !observed[match]) {
                observed[match] = true;
                starts[match] = sim->ranks[rank].start_s[i];
                ends[match] = sim->ranks[rank].end_s[i];
            } else if (match != YK_OP_NO_MATCH) {
                assert_true(sim->ranks[rank].start_s[i] == starts[match]);
                assert_true(sim->ranks[rank].end_s[i] == ends[match]);
            }
        }
    }
    free(starts);
    free(ends);
    free(observed);
}

/* Nothing is faster than alone, and computation not slower than the slowdown. */
static void assert_lengths(const struct compiled_plan *made, const struct yk_sim_result *sim,
                           int32_t rank, double slowdown)
{
    const struct yk_op_list *list = &made->program->ranks[rank];
    double computing_s = 0;
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        const double took_s = sim->ranks[rank].end_s[i] - sim->ranks[rank].start_s[i];
        const double shortest_s = op->lane == YK_LANE_COMM ? 0 : compute_s(made, rank, op);
        assert_true(took_s >= shortest_s - 1e-9 * sim->step_s);
        assert_true(op->lane == YK_LANE_COMM ||
                    took_s <= shortest_s * slowdown + 1e-9 * sim->step_s);
        computing_s += op->lane == YK_LANE_COMPUTE ? took_s : 0;
    }
    assert_near(sim->ranks[rank].compute_s / computing_s, 1, 1e6); /* within a thousandth */
}

static void assert_sums(const struct compiled_plan *made, const struct yk_sim_result *sim,
                        int32_t rank)
{
    const struct yk_sim_rank_result *reported = &sim->ranks[rank];
    double exposed_s = 0;
    for (int32_t i = 0; i < made->program->ranks[rank].op_count; i++) {
        const double took_s = reported->end_s[i] - reported->start_s[i];
        assert_true(reported->exposed_of_op_s[i] >= 0);
        assert_true(reported->exposed_of_op_s[i] <= took_s + 1e-12);
        exposed_s += reported->exposed_of_op_s[i];
    }
    assert_near(exposed_s, reported->exposed_s, 1e6 * sim->step_s);
    assert_true(reported->compute_s >= 0 && reported->exposed_s >= 0 && reported->idle_s >= 0);
    assert_near(reported->compute_s + reported->exposed_s + reported->idle_s, sim->step_s,
                1e-3 * sim->step_s);
}

static void assert_memory_bounded(const struct compiled_plan *made, const struct yk_sim_result *sim,
                                  int32_t rank)
{
    struct yk_arena *arena = NULL;
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_program_memory_count_for_rank(made->program, rank, arena, &memory));
    assert_ok(yk_program_memory_find_peak(made->program, rank, memory, &peak));
    assert_true(sim->ranks[rank].peak_bytes <= peak.bytes * (1 + 1e-12));
    yk_arena_destroy(arena);
}

static void check_plans(struct yk_cluster *cluster, double slowdown, uint64_t seed)
{
    struct yk_random random = yk_random_from_seed(seed);
    for (int trial = 0; trial < PLANS; trial++) {
        struct compiled_plan *made = compiled_plan_make(&random, cluster);
        struct yk_sim_result *sim = simulate(made, slowdown);
        assert_messages_meet(made, sim);
        for (int32_t rank = 0; rank < made->program->rank_count; rank++) {
            assert_lanes_in_order(made, sim, rank);
            assert_waits_kept(made, sim, rank);
            assert_lengths(made, sim, rank, slowdown);
            assert_sums(made, sim, rank);
            assert_memory_bounded(made, sim, rank);
        }
        yk_sim_result_destroy(sim);
        compiled_plan_free(made);
    }
    yk_cluster_destroy(cluster);
}

static void any_program_keeps_to_its_waits_and_adds_up(void **state)
{
    (void)state;
    check_plans(one_node(), 1, 1);
    check_plans(one_node(), 1.2, 2);
    check_plans(two_nodes(), 1.3, 3);
}

static void programs_that_are_folded_say_what_they_say_apart(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(4);
    struct yk_cluster *clusters[] = {one_node(), two_nodes()};
    for (int trial = 0; trial < PLANS; trial++) {
        struct compiled_plan *made = compiled_plan_make(&random, clusters[trial % 2]);
        struct yk_sim_result *folded = simulate(made, 0);
        row_program_separate(made->program, made->arena);
        struct yk_sim_result *apart = simulate(made, 0);
        assert_true(folded->step_s == apart->step_s);
        for (int32_t rank = 0; rank < made->program->rank_count; rank++) {
            const size_t size = (size_t)made->program->ranks[rank].op_count * sizeof(double);
            assert_memory_equal(folded->ranks[rank].start_s, apart->ranks[rank].start_s, size);
            assert_memory_equal(folded->ranks[rank].end_s, apart->ranks[rank].end_s, size);
            assert_true(folded->ranks[rank].exposed_s == apart->ranks[rank].exposed_s);
            assert_true(folded->ranks[rank].peak_bytes == apart->ranks[rank].peak_bytes);
        }
        yk_sim_result_destroy(folded);
        yk_sim_result_destroy(apart);
        compiled_plan_free(made);
    }
    yk_cluster_destroy(clusters[0]);
    yk_cluster_destroy(clusters[1]);
}

/* ---- the other way ---- */

/* Where a lane of a rank is, and the times of all ops of all rounds. */
struct unrolled {
    const struct compiled_plan *made;
    int32_t position[COMPILED_PLAN_RANKS][YK_LANE_COUNT]; /* in rounds of the whole list */
    double free_s[COMPILED_PLAN_RANKS][YK_LANE_COUNT];
    double *starts[COMPILED_PLAN_RANKS]; /* (ROUNDS, ops); NAN: not known yet */
    double *ends[COMPILED_PLAN_RANKS];
};

/* The next op of the lane, of all rounds; the number past the last when there is none. */
static int32_t next_on_lane(struct unrolled *unrolled, int32_t rank, int lane)
{
    const struct yk_op_list *list = &unrolled->made->program->ranks[rank];
    int32_t *position = &unrolled->position[rank][lane];
    while (*position < ROUNDS * list->op_count &&
           (int)list->ops[*position % list->op_count].lane != lane) {
        (*position)++;
    }
    return *position;
}

/* When the next op of a lane can start as far as its rank goes; NAN: not known yet. */
static double ready_s(struct unrolled *unrolled, int32_t rank, int lane)
{
    const struct yk_op_list *list = &unrolled->made->program->ranks[rank];
    const int32_t at = next_on_lane(unrolled, rank, lane);
    if (at == ROUNDS * list->op_count) {
        return NAN;
    }
    const struct yk_op *op = &list->ops[at % list->op_count];
    double ready = unrolled->free_s[rank][lane];
    for (int32_t k = 0; k < op->wait_count; k++) {
        const struct yk_op_wait *wait = &list->waits[op->first_wait + k];
        const int32_t round = at / list->op_count - wait->lag;
        const double ended =
            round < 0 ? 0 : unrolled->ends[rank][round * list->op_count + wait->op];
        ready = isnan(ended) ? NAN : fmax(ready, ended);
        if (isnan(ready)) {
            return NAN;
        }
    }
    return ready;
}

static void set_times(struct unrolled *unrolled, int32_t rank, int lane, double start_s)
{
    const struct yk_op_list *list = &unrolled->made->program->ranks[rank];
    const int32_t at = next_on_lane(unrolled, rank, lane);
    const double end_s = start_s + alone_s(unrolled->made, rank, &list->ops[at % list->op_count]);
    unrolled->starts[rank][at] = start_s;
    unrolled->ends[rank][at] = end_s;
    unrolled->free_s[rank][lane] = end_s;
    unrolled->position[rank][lane]++;
}

/* Whether all ranks that have an op of this match have come to it, and when the last can start. */
static bool all_there(struct unrolled *unrolled, int32_t match, double *start_s)
{
    const struct yk_program *program = unrolled->made->program;
    double latest = 0;
    for (int32_t rank = 0; rank < program->rank_count; rank++) {
        const struct yk_op_list *list = &program->ranks[rank];
        bool participates = false;
        for (int32_t i = 0; i < list->op_count; i++) {
            participates = participates || list->ops[i].match == match;
        }
        if (!participates) {
            continue;
        }
        const double ready = ready_s(unrolled, rank, YK_LANE_COMM);
        const int32_t at = next_on_lane(unrolled, rank, YK_LANE_COMM);
        if (isnan(ready) || list->ops[at % list->op_count].match != match) {
            return false;
        }
        latest = fmax(latest, ready);
    }
    *start_s = latest;
    return true;
}

static bool advance(struct unrolled *unrolled, int32_t rank, int lane)
{
    const struct yk_program *program = unrolled->made->program;
    const double ready = ready_s(unrolled, rank, lane);
    double start_s = 0;
    if (isnan(ready)) {
        return false;
    }
    if (lane != YK_LANE_COMM) {
        set_times(unrolled, rank, lane, ready);
        return true;
    }
    const int32_t at = next_on_lane(unrolled, rank, lane);
    const int32_t match = program->ranks[rank].ops[at % program->ranks[rank].op_count].match;
    if (!all_there(unrolled, match, &start_s)) {
        return false;
    }
    for (int32_t other = 0; other < program->rank_count; other++) {
        const struct yk_op_list *list = &program->ranks[other];
        const int32_t next = next_on_lane(unrolled, other, lane);
        if (next < ROUNDS * list->op_count && list->ops[next % list->op_count].match == match) {
            set_times(unrolled, other, lane, start_s);
        }
    }
    return true;
}

static void unroll(const struct compiled_plan *made, struct unrolled *out)
{
    *out = (struct unrolled){.made = made};
    for (int32_t rank = 0; rank < COMPILED_PLAN_RANKS; rank++) {
        const bool used = rank < made->program->rank_count;
        const int32_t count = used ? ROUNDS * made->program->ranks[rank].op_count : 0;
        out->starts[rank] = malloc(((size_t)count + 1) * sizeof(double));
        out->ends[rank] = malloc(((size_t)count + 1) * sizeof(double));
        assert_non_null(out->starts[rank]);
        assert_non_null(out->ends[rank]);
        for (int32_t i = 0; i < count; i++) {
            out->starts[rank][i] = NAN;
            out->ends[rank][i] = NAN;
        }
    }
    bool moved = true;
    while (moved) {
        moved = false;
        for (int32_t rank = 0; rank < made->program->rank_count; rank++) {
            for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
                while (advance(out, rank, lane)) {
                    moved = true;
                }
            }
        }
    }
}

static void free_unrolled(struct unrolled *unrolled)
{
    for (int32_t rank = 0; rank < COMPILED_PLAN_RANKS; rank++) {
        free(unrolled->starts[rank]);
        free(unrolled->ends[rank]);
    }
}

/* The end of the last computation of a round. */
static double end_of_round(const struct unrolled *unrolled, int32_t round)
{
    double end_s = 0;
    for (int32_t rank = 0; rank < unrolled->made->program->rank_count; rank++) {
        const struct yk_op_list *list = &unrolled->made->program->ranks[rank];
        for (int32_t i = 0; i < list->op_count; i++) {
            if (list->ops[i].lane == YK_LANE_COMPUTE) {
                end_s = fmax(end_s, unrolled->ends[rank][round * list->op_count + i]);
            }
        }
    }
    return end_s;
}

/* The first round as long as the one before it, of those from the third on. */
static int32_t steady_round(const struct unrolled *unrolled)
{
    for (int32_t round = 2; round < ROUNDS; round++) {
        const double last_s = end_of_round(unrolled, round) - end_of_round(unrolled, round - 1);
        const double before_s =
            end_of_round(unrolled, round - 1) - end_of_round(unrolled, round - 2);
        if (fabs(last_s - before_s) <= 1e-4 * last_s) {
            return round;
        }
    }
    return ROUNDS - 1;
}

static void ops_start_when_what_they_wait_for_has_ended(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(5);
    struct yk_cluster *cluster = one_node();
    for (int trial = 0; trial < PLANS; trial++) {
        struct compiled_plan *made = compiled_plan_make(&random, cluster);
        struct yk_sim_result *sim = simulate(made, 1);
        struct unrolled unrolled;
        unroll(made, &unrolled);
        const int32_t round = steady_round(&unrolled);
        const double origin_s = end_of_round(&unrolled, round - 1);
        const double step_s = end_of_round(&unrolled, round) - origin_s;
        assert_near(sim->step_s, step_s, step_s);
        for (int32_t rank = 0; rank < made->program->rank_count; rank++) {
            const struct yk_op_list *list = &made->program->ranks[rank];
            for (int32_t i = 0; i < list->op_count; i++) {
                if (list->ops[i].lane != YK_LANE_COPY) {
                    const int32_t at = round * list->op_count + i;
                    assert_near(sim->ranks[rank].start_s[i], unrolled.starts[rank][at] - origin_s,
                                step_s);
                    assert_near(sim->ranks[rank].end_s[i], unrolled.ends[rank][at] - origin_s,
                                step_s);
                }
            }
        }
        free_unrolled(&unrolled);
        yk_sim_result_destroy(sim);
        compiled_plan_free(made);
    }
    yk_cluster_destroy(cluster);
}

/* Seconds that rank 0's comm lane is busy with reductions. */
static double reducing_s(const struct yk_program *program, const struct yk_sim_result *sim)
{
    double seconds = 0;
    for (int32_t i = 0; i < program->ranks[0].op_count; i++) {
        if (program->ranks[0].ops[i].kind == YK_OP_ALL_REDUCE) {
            seconds += sim->ranks[0].end_s[i] - sim->ranks[0].start_s[i];
        }
    }
    return seconds;
}

/* Replicated gradients that travel in every one of M micro-batches take M times as long on the way,
 * and a step is no shorter for it. */
static void reductions_in_every_micro_batch_last_as_many_times(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(11);
    struct yk_cluster *cluster = one_node();
    int32_t compared = 0;
    for (int32_t p = 0; p < PLANS; p++) {
        struct compiled_plan *made = compiled_plan_make(&random, cluster);
        struct yk_plan *plan = made->plan;
        for (int32_t l = 0; l < plan->layer_count; l++) {
            plan->layers[l].strategy = YK_SHARDING_REPLICATED;
        }
        double busy_s[2];
        double step_s[2];
        for (int32_t once = 0; once < 2 && plan->group_count == 1; once++) {
            yk_program_destroy(made->program);
            plan->no_sync = once == 1;
            assert_ok(yk_program_compile(plan, cluster, made->cache, &made->program));
            struct yk_sim_result *sim = simulate(made, 1);
            busy_s[once] = reducing_s(made->program, sim);
            step_s[once] = sim->step_s;
            yk_sim_result_destroy(sim);
        }
        if (plan->group_count == 1 && plan->rank_count > 1 && plan->micro_batches > 1) {
            assert_near(busy_s[0], plan->micro_batches * busy_s[1], busy_s[0]);
            assert_true(step_s[0] >= step_s[1] * (1 - 1e-9));
            compared++;
        }
        compiled_plan_free(made);
    }
    assert_true(compared > PLANS / 10);
    yk_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_program_keeps_to_its_waits_and_adds_up),
        cmocka_unit_test(programs_that_are_folded_say_what_they_say_apart),
        cmocka_unit_test(reductions_in_every_micro_batch_last_as_many_times),
        cmocka_unit_test(ops_start_when_what_they_wait_for_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
