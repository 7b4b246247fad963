#include "support/programs/dry_run.h"

#include "support/programs/dry_run_state.h"
#include "support/support.h"

static void *allocate_zeroed(struct pretend *pretend, int64_t count, size_t size)
{
    void *memory = yk_arena_allocate(pretend->arena, (size_t)count, size);
    assert_non_null(memory);
    return memory;
}

/* Lanes go through the rounds −1 (ahead of the first) to PRETEND_STEPS (after the last). */
static int32_t round_of(const struct pretend_lane *lane)
{
    return lane->count > 0 ? lane->next / lane->count - 1 : PRETEND_STEPS + 1;
}

static bool is_over(const struct pretend_lane *lane)
{
    return round_of(lane) > PRETEND_STEPS;
}

/* The step that the next op of a lane is for; outside of 0 to PRETEND_STEPS it does nothing. */
static int32_t step_of(const struct pretend_actor *actor, int32_t lane)
{
    return round_of(&actor->lanes[lane]) + pretend_next_op(actor, lane)->step;
}

static void set_up_rank(struct pretend *pretend, int32_t rank)
{
    struct pretend_actor *actor = &pretend->actors[rank];
    const int64_t cells = (int64_t)PRETEND_STEPS * pretend->L * pretend->M;
    actor->list = &pretend->program->ranks[rank];
    actor->positions = allocate_zeroed(pretend, actor->list->op_count, sizeof *actor->positions);
    actor->layers = allocate_zeroed(pretend, pretend->L, sizeof *actor->layers);
    actor->progress = allocate_zeroed(pretend, cells, sizeof *actor->progress);
    actor->loaded =
        allocate_zeroed(pretend, (int64_t)PRETEND_STEPS * pretend->M, sizeof *actor->loaded);
    for (int32_t l = 0; l < pretend->L; l++) {
        struct pretend_holding *layer = &actor->layers[l];
        const int32_t blocks = pretend_blocks_of(pretend, l);
        layer->blocks = allocate_zeroed(pretend, blocks, sizeof *layer->blocks);
        layer->reduced = allocate_zeroed(pretend, (int64_t)PRETEND_STEPS * pretend->M * blocks,
                                         sizeof *layer->reduced);
        for (int32_t b = 0; b < blocks; b++) {
            layer->blocks[b] = pretend_is_gathered(pretend, l) ? PRETEND_ABSENT : 0;
        }
    }
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        struct pretend_lane *it = &actor->lanes[lane];
        const double chance = yk_random_uniform(&pretend->random);
        it->ops = allocate_zeroed(pretend, actor->list->op_count, sizeof *it->ops);
        it->weight = chance * chance * chance + 0.001; /* some are very slow */
        for (int32_t i = 0; i < actor->list->op_count; i++) {
            if ((int32_t)actor->list->ops[i].lane == lane) {
                actor->positions[i] = it->count;
                it->ops[it->count++] = i;
            }
        }
    }
}

/* Whether op `number` of the list has ended in a round. */
static bool has_ended(const struct pretend_actor *actor, int32_t number, int32_t round)
{
    const struct pretend_lane *lane = &actor->lanes[actor->list->ops[number].lane];
    return (round + 1) * lane->count + actor->positions[number] < lane->next;
}

static bool can_start_alone(const struct pretend_actor *actor, int32_t lane)
{
    const struct pretend_lane *it = &actor->lanes[lane];
    if (is_over(it) || it->running) {
        return false;
    }
    const struct yk_op *op = pretend_next_op(actor, lane);
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &actor->list->waits[op->first_wait + w];
        const int32_t round = round_of(it) - wait->lag;
        if (round >= -1 && !has_ended(actor, wait->op, round)) {
            return false;
        }
    }
    return true;
}

/* A communication starts when it is next on all ranks that have it. */
static bool is_side(const struct pretend *pretend, int32_t rank, const struct yk_op *op)
{
    return op->kind == YK_OP_AGREE ||
           (op->kind == YK_OP_SEND || op->kind == YK_OP_RECV
                ? rank == op->peer
                : pretend_member_of(pretend, op->group, rank) != PRETEND_NOBODY);
}

static bool can_start(const struct pretend *pretend, int32_t rank, int32_t lane)
{
    const struct pretend_actor *actor = &pretend->actors[rank];
    if (!can_start_alone(actor, lane)) {
        return false;
    }
    const struct yk_op *op = pretend_next_op(actor, lane);
    for (int32_t r = 0; op->match != YK_OP_NO_MATCH && r < pretend->program->rank_count; r++) {
        const struct pretend_actor *other = &pretend->actors[r];
        if (r == rank || !is_side(pretend, r, op)) {
            continue;
        }
        if (!can_start_alone(other, YK_LANE_COMM) ||
            pretend_next_op(other, YK_LANE_COMM)->match != op->match ||
            round_of(&other->lanes[YK_LANE_COMM]) != round_of(&actor->lanes[lane])) {
            return false;
        }
    }
    return true;
}

/* Starts or ends the next op of a lane, on all its ranks if it communicates. */
static void turn(struct pretend *pretend, int32_t rank, int32_t lane)
{
    const struct yk_op *op = pretend_next_op(&pretend->actors[rank], lane);
    for (int32_t r = 0; r < pretend->program->rank_count; r++) {
        struct pretend_actor *actor = &pretend->actors[r];
        if (r != rank && (op->match == YK_OP_NO_MATCH || !is_side(pretend, r, op))) {
            continue;
        }
        struct pretend_lane *it = &actor->lanes[lane];
        const struct yk_op *own = pretend_next_op(actor, lane);
        const int32_t step = step_of(actor, lane);
        const bool real = step >= 0 && step < PRETEND_STEPS;
        if (real && !it->running) {
            pretend_start(pretend, r, step, own);
        } else if (real) {
            pretend_end(pretend, r, step, own);
        }
        it->next += it->running ? 1 : 0;
        it->running = !it->running;
    }
}

/* A lane that can get on, by chance; false when there is none. */
static bool choose(struct pretend *pretend, int32_t *rank, int32_t *lane)
{
    double best = 0;
    for (int32_t r = 0; r < pretend->program->rank_count; r++) {
        for (int32_t i = 0; i < YK_LANE_COUNT; i++) {
            const struct pretend_lane *it = &pretend->actors[r].lanes[i];
            if (it->running || can_start(pretend, r, i)) {
                const double score = it->weight * yk_random_uniform(&pretend->random) + 1e-9;
                *rank = score > best ? r : *rank;
                *lane = score > best ? i : *lane;
                best = score > best ? score : best;
            }
        }
    }
    return best > 0;
}

static void finish(struct pretend *pretend)
{
    for (int32_t r = 0; r < pretend->program->rank_count && !pretend->wrong; r++) {
        for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
            if (!is_over(&pretend->actors[r].lanes[lane])) {
                pretend_complain(pretend, r, pretend_next_op(&pretend->actors[r], lane),
                                 "waits for ever");
            }
        }
        for (int32_t l = 0; l < pretend->L; l++) {
            const bool held =
                pretend_member_of(pretend, pretend->plan->layers[l].group, r) != PRETEND_NOBODY;
            const struct yk_op update = {.kind = YK_OP_UPDATE, .layer = l};
            if (held && pretend->program->layers[l].gradient_bytes > 0 &&
                pretend->actors[r].layers[l].own != PRETEND_STEPS) {
                pretend_complain(pretend, r, &update, "was left out");
            }
        }
    }
}

const char *pretend_run(const struct yk_program *program, uint64_t seed)
{
    struct pretend pretend = {
        .program = program,
        .plan = program->plan,
        .model = yk_model_cache_get_whole_batch(program->cache),
        .random = yk_random_from_seed(seed),
        .L = program->plan->layer_count,
        .M = program->plan->micro_batches,
    };
    int32_t rank = 0;
    int32_t lane = 0;
    assert_ok(yk_arena_create(&pretend.arena));
    pretend.actors = allocate_zeroed(&pretend, program->rank_count, sizeof *pretend.actors);
    for (int32_t r = 0; r < program->rank_count; r++) {
        set_up_rank(&pretend, r);
    }
    while (!pretend.wrong && choose(&pretend, &rank, &lane)) {
        turn(&pretend, rank, lane);
    }
    finish(&pretend);
    yk_arena_destroy(pretend.arena);
    return pretend.wrong;
}
