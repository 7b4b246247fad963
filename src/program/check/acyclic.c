/*
 * The rule acyclic. One iteration is executed as the lanes of all ranks would do, with ops that
 * take no time. If ops are left over, they wait for each other. One iteration is sufficient: waits
 * for the previous iteration are always satisfied.
 */
#include "program/check/rule.h"

struct walk {
    const struct yk_program *program;
    struct yk_op_lane_lists *lanes; /* (ranks) */
    int32_t *next;       /* (ranks, lanes) number in the lane of the first op that is not done */
    bool **done;         /* (ranks) of each op */
    int32_t *wanted;     /* (matches) ranks */
    int32_t *there;      /* (matches) ranks that have come to it */
    int32_t *first_side; /* (matches + 1) in `sides` */
    int32_t *sides;      /* ranks of each match */
    int32_t *queue;      /* (ranks) that may go on */
    bool *queued;        /* (ranks) */
    bool *arrived;       /* (ranks) at the communication that is next */
    int32_t queue_count;
};

static int32_t cell(int32_t rank, int32_t lane)
{
    return rank * YK_LANE_COUNT + lane;
}

static bool is_finished(const struct walk *walk, int32_t rank, int32_t lane)
{
    return walk->next[cell(rank, lane)] == walk->lanes[rank].count[lane];
}

/* The first op of a lane that is not done. */
static int32_t head_of(const struct walk *walk, int32_t rank, int32_t lane)
{
    return walk->lanes[rank].ops[lane][walk->next[cell(rank, lane)]];
}

static yk_status allocate_lanes(struct walk *walk, struct yk_arena *arena)
{
    const struct yk_program *program = walk->program;
    const int32_t ranks = program->rank_count;
    YK_TRY_NEW(arena, walk->lanes, ranks);
    YK_TRY_NEW(arena, walk->done, ranks);
    YK_TRY_NEW(arena, walk->next, ranks * YK_LANE_COUNT);
    for (int32_t r = 0; r < ranks; r++) {
        YK_TRY_NEW(arena, walk->done[r], program->ranks[r].op_count);
        YK_TRY(yk_op_lane_lists_make(&program->ranks[r], arena, &walk->lanes[r]));
    }
    return YK_OK;
}

static yk_status allocate_matches(struct walk *walk, struct yk_arena *arena)
{
    const struct yk_program *program = walk->program;
    const int32_t matches = program->match_count;
    YK_TRY_NEW(arena, walk->wanted, matches + 1);
    YK_TRY_NEW(arena, walk->there, matches + 1);
    YK_TRY_NEW(arena, walk->first_side, matches + 2);
    YK_TRY_NEW(arena, walk->queue, program->rank_count);
    YK_TRY_NEW(arena, walk->queued, program->rank_count);
    YK_TRY_NEW(arena, walk->arrived, program->rank_count);
    int64_t sides = 0;
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_op_lane_lists *lanes = &walk->lanes[r];
        for (int32_t i = 0; i < lanes->count[YK_LANE_COMM]; i++) {
            walk->wanted[program->ranks[r].ops[lanes->ops[YK_LANE_COMM][i]].match]++;
            sides++;
        }
    }
    YK_TRY_NEW(arena, walk->sides, sides);
    for (int32_t m = 0; m < matches; m++) {
        walk->first_side[m + 1] = walk->first_side[m] + walk->wanted[m];
    }
    return YK_OK;
}

static void enqueue(struct walk *walk, int32_t rank)
{
    if (!walk->queued[rank]) {
        walk->queued[rank] = true;
        walk->queue[walk->queue_count++] = rank;
    }
}

/* An op that a rank's op waits for and that is not done; −1: none. */
static int32_t missing_wait(const struct walk *walk, int32_t rank, int32_t number)
{
    const struct yk_op_list *list = &walk->program->ranks[rank];
    const struct yk_op *op = &list->ops[number];
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &list->waits[op->first_wait + w];
        if (wait->lag == 0 && !walk->done[rank][wait->op]) {
            return wait->op;
        }
    }
    return -1;
}

static void finish(struct walk *walk, int32_t rank, int32_t lane)
{
    walk->done[rank][head_of(walk, rank, lane)] = true;
    walk->next[cell(rank, lane)]++;
}

/* The last rank to come to a communication ends it for all of them. */
static void arrive(struct walk *walk, int32_t rank, int32_t match)
{
    walk->sides[walk->first_side[match] + walk->there[match]++] = rank;
    walk->arrived[rank] = true;
    if (walk->there[match] < walk->wanted[match]) {
        return;
    }
    for (int32_t s = walk->first_side[match]; s < walk->first_side[match + 1]; s++) {
        finish(walk, walk->sides[s], YK_LANE_COMM);
        walk->arrived[walk->sides[s]] = false;
        enqueue(walk, walk->sides[s]);
    }
}

/* One op of one lane; true when the lane got on. */
static bool advance(struct walk *walk, int32_t rank, int32_t lane)
{
    if (is_finished(walk, rank, lane)) {
        return false;
    }
    const int32_t number = head_of(walk, rank, lane);
    const struct yk_op *op = &walk->program->ranks[rank].ops[number];
    if (missing_wait(walk, rank, number) >= 0) {
        return false;
    }
    if (op->match == YK_OP_NO_MATCH) {
        finish(walk, rank, lane);
        return true;
    }
    if (!walk->arrived[rank]) {
        arrive(walk, rank, op->match);
    }
    return walk->done[rank][number];
}

static void go(struct walk *walk)
{
    for (int32_t r = 0; r < walk->program->rank_count; r++) {
        enqueue(walk, r);
    }
    while (walk->queue_count > 0) {
        const int32_t rank = walk->queue[--walk->queue_count];
        walk->queued[rank] = false;
        bool moved = true;
        while (moved) {
            moved = false;
            for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
                while (advance(walk, rank, lane)) {
                    moved = true;
                }
            }
        }
    }
}

/* A rank and one of its ops that could not be done. */
struct stuck {
    int32_t rank;
    int32_t op;
};

/* What a stuck head of a lane waits for: the head of another lane, here or on another rank. */
static struct stuck blame(const struct walk *walk, struct stuck stuck)
{
    const struct yk_program *program = walk->program;
    const int32_t wait = missing_wait(walk, stuck.rank, stuck.op);
    if (wait >= 0) {
        const int32_t lane = (int32_t)program->ranks[stuck.rank].ops[wait].lane;
        return (struct stuck){stuck.rank, head_of(walk, stuck.rank, lane)};
    }
    const int32_t match = program->ranks[stuck.rank].ops[stuck.op].match;
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_op_lane_lists *lanes = &walk->lanes[r];
        const int32_t next = walk->next[cell(r, YK_LANE_COMM)];
        for (int32_t i = next; i < lanes->count[YK_LANE_COMM]; i++) {
            const bool there = i == next && walk->arrived[r];
            if (program->ranks[r].ops[lanes->ops[YK_LANE_COMM][i]].match == match && !there) {
                return (struct stuck){r, head_of(walk, r, YK_LANE_COMM)};
            }
        }
    }
    return stuck;
}

/* Going from one to what it waits for, as often as there are lanes, ends up on the cycle. */
static yk_status refuse(const struct walk *walk, struct stuck stuck)
{
    const struct yk_program *program = walk->program;
    for (int32_t i = 0; i < program->rank_count * YK_LANE_COUNT; i++) {
        stuck = blame(walk, stuck);
    }
    const struct stuck other = blame(walk, stuck);
    char described[YK_RULE_TEXT_SIZE];
    yk_rule_describe_op(program, &program->ranks[other.rank].ops[other.op], described);
    return yk_rule_fail(program, stuck.rank, "acyclic", &program->ranks[stuck.rank].ops[stuck.op],
                        "waits for %s on %s, which waits for it in turn", described,
                        yk_rule_rank_device_name(program, other.rank));
}

static yk_status check(struct walk *walk, struct yk_arena *arena)
{
    YK_TRY(allocate_lanes(walk, arena));
    YK_TRY(allocate_matches(walk, arena));
    go(walk);
    for (int32_t r = 0; r < walk->program->rank_count; r++) {
        for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
            if (!is_finished(walk, r, lane)) {
                return refuse(walk, (struct stuck){r, head_of(walk, r, lane)});
            }
        }
    }
    return YK_OK;
}

yk_status yk_rule_check_ops_are_acyclic(const struct yk_program *program)
{
    struct walk walk = {.program = program};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, check(&walk, arena));
    return YK_OK;
}
