#include "support/pretend.h"

#include "base/random.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum {
    STEPS = 3,
    ABSENT = -1,
    ON_ITS_WAY = -2,
    NOBODY = -1,
};

/* What a rank has of a layer. Weights that went through k updates are k old. */
struct holding {
    int32_t own;      /* age of what the rank keeps for itself */
    int32_t *blocks;  /* age of the weights that passes use, by block */
    int32_t *reduced; /* (steps, M, blocks) how often each block of the gradient was reduced */
};

/* What was done with a layer in a micro-batch of a step. */
struct progress {
    bool forward;
    bool recompute;
    bool backward;
    int64_t received;           /* samples of its output */
    int64_t gradients_received; /* samples of its output's gradient */
};

struct lane {
    int32_t *ops; /* numbers in the list */
    int32_t count;
    int32_t next;  /* of all rounds */
    bool running;  /* the next one */
    double weight; /* how likely it is to get on */
};

struct actor {
    const struct yk_program_rank *list;
    int32_t *positions; /* (ops) in their lanes */
    struct lane lanes[YK_LANE_COUNT];
    struct holding *layers;    /* (L) */
    struct progress *progress; /* (steps, L, M) */
    bool *loaded;              /* (steps, M) */
    int32_t agreed;            /* steps */
};

struct pretend {
    const struct yk_program *program;
    const struct yk_plan *plan;
    const struct yk_model *model;
    struct yk_arena *arena;
    struct yk_random random;
    struct actor *actors;
    int32_t L;
    int32_t M;
    const char *wrong;
};

static char words[256];

static void *take(struct pretend *pretend, int64_t count, size_t size)
{
    void *memory = yk_arena_take(pretend->arena, (size_t)count, size);
    assert_non_null(memory);
    return memory;
}

/* Lanes go through the rounds −1 (ahead of the first) to STEPS (after the last). */
static int32_t round_of(const struct lane *lane)
{
    return lane->count > 0 ? lane->next / lane->count - 1 : STEPS + 1;
}

static bool is_over(const struct lane *lane)
{
    return round_of(lane) > STEPS;
}

static const struct yk_op *next_op(const struct actor *actor, int32_t lane)
{
    const struct lane *it = &actor->lanes[lane];
    return &actor->list->ops[it->ops[it->next % it->count]];
}

/* The step that the next op of a lane is for; outside of 0 to STEPS it does nothing. */
static int32_t step_of(const struct actor *actor, int32_t lane)
{
    return round_of(&actor->lanes[lane]) + next_op(actor, lane)->step;
}

static int32_t member_of(const struct pretend *pretend, int32_t group, int32_t rank)
{
    const struct yk_plan_group *planned = &pretend->plan->groups[group];
    for (int32_t i = 0; i < planned->member_count; i++) {
        if (planned->members[i].rank == rank) {
            return i;
        }
    }
    return NOBODY;
}

static bool is_summed(const struct pretend *pretend, int32_t layer)
{
    return pretend->plan->no_sync || yk_plan_strategy(pretend->plan, layer) == YK_REPLICATED;
}

static bool is_gathered(const struct pretend *pretend, int32_t layer)
{
    const enum yk_strategy strategy = yk_plan_strategy(pretend->plan, layer);
    return strategy == YK_KEPT || strategy == YK_FULLY_SHARDED;
}

static bool goes_backward(const struct pretend *pretend, int32_t layer)
{
    return pretend->model->layers[layer].backward.count > 0;
}

static int32_t blocks_of(const struct pretend *pretend, int32_t layer)
{
    const int32_t blocks = pretend->program->layers[layer].block_count;
    return blocks > 0 ? blocks : 1;
}

static struct progress *progress_of(const struct pretend *pretend, int32_t rank, int32_t step,
                                    int32_t layer, int32_t micro_batch)
{
    const int64_t cell = ((int64_t)step * pretend->L + layer) * pretend->M + micro_batch;
    return &pretend->actors[rank].progress[cell];
}

static int32_t *reduced_of(const struct pretend *pretend, int32_t rank, int32_t step, int32_t layer,
                           int32_t micro_batch, int32_t block)
{
    const int64_t cell =
        ((int64_t)step * pretend->M + micro_batch) * blocks_of(pretend, layer) + block;
    return &pretend->actors[rank].layers[layer].reduced[cell];
}

static void set_up_rank(struct pretend *pretend, int32_t rank)
{
    struct actor *actor = &pretend->actors[rank];
    const int64_t cells = (int64_t)STEPS * pretend->L * pretend->M;
    actor->list = &pretend->program->ranks[rank];
    actor->positions = take(pretend, actor->list->op_count, sizeof *actor->positions);
    actor->layers = take(pretend, pretend->L, sizeof *actor->layers);
    actor->progress = take(pretend, cells, sizeof *actor->progress);
    actor->loaded = take(pretend, (int64_t)STEPS * pretend->M, sizeof *actor->loaded);
    for (int32_t l = 0; l < pretend->L; l++) {
        struct holding *layer = &actor->layers[l];
        const int32_t blocks = blocks_of(pretend, l);
        layer->blocks = take(pretend, blocks, sizeof *layer->blocks);
        layer->reduced =
            take(pretend, (int64_t)STEPS * pretend->M * blocks, sizeof *layer->reduced);
        for (int32_t b = 0; b < blocks; b++) {
            layer->blocks[b] = is_gathered(pretend, l) ? ABSENT : 0;
        }
    }
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        struct lane *it = &actor->lanes[lane];
        const double chance = yk_random_unit(&pretend->random);
        it->ops = take(pretend, actor->list->op_count, sizeof *it->ops);
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
static bool has_ended(const struct actor *actor, int32_t number, int32_t round)
{
    const struct lane *lane = &actor->lanes[actor->list->ops[number].lane];
    return (round + 1) * lane->count + actor->positions[number] < lane->next;
}

static bool can_start_alone(const struct actor *actor, int32_t lane)
{
    const struct lane *it = &actor->lanes[lane];
    if (is_over(it) || it->running) {
        return false;
    }
    const struct yk_op *op = next_op(actor, lane);
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
    return op->kind == YK_OP_AGREE || (op->kind == YK_OP_SEND || op->kind == YK_OP_RECV
                                           ? rank == op->peer
                                           : member_of(pretend, op->group, rank) != NOBODY);
}

static bool can_start(const struct pretend *pretend, int32_t rank, int32_t lane)
{
    const struct actor *actor = &pretend->actors[rank];
    if (!can_start_alone(actor, lane)) {
        return false;
    }
    const struct yk_op *op = next_op(actor, lane);
    for (int32_t r = 0; op->match != YK_NO_MATCH && r < pretend->program->rank_count; r++) {
        const struct actor *other = &pretend->actors[r];
        if (r == rank || !is_side(pretend, r, op)) {
            continue;
        }
        if (!can_start_alone(other, YK_LANE_COMM) ||
            next_op(other, YK_LANE_COMM)->match != op->match ||
            round_of(&other->lanes[YK_LANE_COMM]) != round_of(&actor->lanes[lane])) {
            return false;
        }
    }
    return true;
}

static void complain(struct pretend *pretend, int32_t rank, const struct yk_op *op,
                     const char *what)
{
    struct yk_text described = {0};
    yk_op_describe(pretend->program, op, &described);
    if (!pretend->wrong) {
        snprintf(words, sizeof words, "rank %d: %s %s", rank, yk_text_chars(&described), what);
        pretend->wrong = words;
    }
    yk_text_free(&described);
}

static bool has_weights(const struct pretend *pretend, int32_t rank, int32_t layer, int32_t age)
{
    const struct holding *holding = &pretend->actors[rank].layers[layer];
    const bool trained = pretend->program->layers[layer].gradient_bytes > 0;
    for (int32_t b = 0; b < pretend->program->layers[layer].block_count; b++) {
        if (trained ? holding->blocks[b] != age : holding->blocks[b] < 0) {
            return false;
        }
    }
    return true;
}

/* Samples that a rank takes as a member of one group and of another. */
static int64_t count_common(const struct pretend *pretend, int32_t rank, int32_t group,
                            int32_t other, int32_t micro_batch)
{
    const int32_t member = member_of(pretend, group, rank);
    const int32_t other_member = member_of(pretend, other, rank);
    int64_t common = 0;
    if (member != NOBODY && other_member != NOBODY) {
        int64_t first = 0;
        int64_t other_first = 0;
        const int64_t count = yk_plan_samples(pretend->plan, group, member, micro_batch, &first);
        const int64_t taken =
            yk_plan_samples(pretend->plan, other, other_member, micro_batch, &other_first);
        for (int64_t s = first; s < first + count; s++) {
            common += s >= other_first && s < other_first + taken ? 1 : 0;
        }
    }
    return common;
}

/* Samples that a rank's layer takes from the outputs of another, and that it has. */
static bool has_input(const struct pretend *pretend, int32_t rank, int32_t step,
                      const struct yk_op *op, int32_t from)
{
    const struct yk_plan *plan = pretend->plan;
    const int32_t group = plan->layers[op->layer].group;
    const int32_t other = plan->layers[from].group;
    const struct progress *there = progress_of(pretend, rank, step, from, op->micro_batch);
    if (group == other) {
        return there->forward;
    }
    const int64_t own = count_common(pretend, rank, group, other, op->micro_batch);
    return (own == 0 || there->forward) && own + there->received >= op->samples;
}

/* All layers of a group that took the output have gone backward on this rank. */
static bool has_returned(const struct pretend *pretend, int32_t rank, int32_t step,
                         const struct yk_op *op, int32_t group)
{
    for (int32_t e = 0; e < pretend->model->edge_count; e++) {
        const struct yk_layer_edge *edge = &pretend->model->edges[e];
        if (edge->from == op->layer && pretend->plan->layers[edge->to].group == group &&
            goes_backward(pretend, edge->to) &&
            !progress_of(pretend, rank, step, edge->to, op->micro_batch)->backward) {
            return false;
        }
    }
    return true;
}

static void start_forward(struct pretend *pretend, int32_t rank, int32_t step,
                          const struct yk_op *op)
{
    bool fed = false;
    for (int32_t e = 0; e < pretend->model->edge_count; e++) {
        const struct yk_layer_edge *edge = &pretend->model->edges[e];
        if (edge->to == op->layer) {
            fed = true;
            if (!has_input(pretend, rank, step, op, edge->from)) {
                complain(pretend, rank, op, "lacks its input");
            }
        }
    }
    if ((!fed || op->layer == pretend->L - 1) && op->samples > 0 &&
        !pretend->actors[rank].loaded[step * pretend->M + op->micro_batch]) {
        complain(pretend, rank, op, "lacks its samples");
    }
}

/* All layers that took its output on this rank have gone backward, and all gradients came. */
static void start_backward(struct pretend *pretend, int32_t rank, int32_t step,
                           const struct yk_op *op)
{
    const struct yk_plan *plan = pretend->plan;
    const struct progress *here = progress_of(pretend, rank, step, op->layer, op->micro_batch);
    const int32_t group = plan->layers[op->layer].group;
    int64_t wanted = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        bool takes = false;
        for (int32_t e = 0; e < pretend->model->edge_count; e++) {
            const struct yk_layer_edge *edge = &pretend->model->edges[e];
            if (edge->from != op->layer || plan->layers[edge->to].group != g ||
                !goes_backward(pretend, edge->to)) {
                continue;
            }
            takes = true;
        }
        if (takes && g == group && !has_returned(pretend, rank, step, op, g)) {
            complain(pretend, rank, op, "lacks a gradient of its own group");
        }
        if (takes && g != group) {
            const int64_t own = count_common(pretend, rank, group, g, op->micro_batch);
            wanted += op->samples - own;
            if (own > 0 && !has_returned(pretend, rank, step, op, g)) {
                complain(pretend, rank, op, "lacks a gradient of its own");
            }
        }
    }
    if (here->gradients_received != wanted) {
        complain(pretend, rank, op, "lacks a gradient of another group");
    }
    if (!here->forward || (plan->layers[op->layer].recompute && !here->recompute)) {
        complain(pretend, rank, op, "lacks what forward saved");
    }
}

static void start_pass(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    const int32_t leader = pretend->program->layers[op->layer].leader;
    if (!has_weights(pretend, rank, op->layer, step) || !has_weights(pretend, rank, leader, step)) {
        complain(pretend, rank, op, "lacks weights, or has old ones");
    }
    if (op->kind == YK_OP_FORWARD) {
        start_forward(pretend, rank, step, op);
    } else if (op->kind == YK_OP_BACKWARD) {
        start_backward(pretend, rank, step, op);
    } else if (!progress_of(pretend, rank, step, op->layer, op->micro_batch)->forward) {
        complain(pretend, rank, op, "comes before forward");
    }
}

/* Everything that adds to a layer's gradient in a micro-batch has. */
static bool is_complete(const struct pretend *pretend, int32_t rank, int32_t step, int32_t layer,
                        int32_t micro_batch)
{
    for (int32_t l = 0; l < pretend->L; l++) {
        if ((l == layer || pretend->program->layers[l].leader == layer) &&
            goes_backward(pretend, l) &&
            !progress_of(pretend, rank, step, l, micro_batch)->backward) {
            return false;
        }
    }
    return true;
}

static void start_reduction(struct pretend *pretend, int32_t rank, int32_t step, int32_t layer,
                            const struct yk_op *op)
{
    const int32_t first = is_summed(pretend, layer) ? 0 : op->micro_batch;
    for (int32_t m = first; m <= op->micro_batch; m++) {
        if (!is_complete(pretend, rank, step, layer, m)) {
            complain(pretend, rank, op, "reduces a gradient that is not complete");
        }
    }
}

/* The gradient is all there to be used: summed up over ranks and micro-batches. */
static bool is_ready(const struct pretend *pretend, int32_t rank, int32_t step, int32_t layer)
{
    const struct yk_plan_group *group = &pretend->plan->groups[pretend->plan->layers[layer].group];
    for (int32_t m = 0; m < pretend->M; m++) {
        const bool travels = !is_summed(pretend, layer) || m == pretend->M - 1;
        if (!is_complete(pretend, rank, step, layer, m)) {
            return false;
        }
        for (int32_t b = 0; group->member_count > 1 && b < blocks_of(pretend, layer); b++) {
            if (*reduced_of(pretend, rank, step, layer, m, b) != (travels ? 1 : 0)) {
                return false;
            }
        }
    }
    return true;
}

static bool uses(const struct pretend *pretend, const struct yk_op *op, int32_t layer)
{
    return (op->kind == YK_OP_FORWARD || op->kind == YK_OP_RECOMPUTE ||
            op->kind == YK_OP_BACKWARD) &&
           (op->layer == layer || pretend->program->layers[op->layer].leader == layer);
}

static void start_gather(struct pretend *pretend, int32_t rank, int32_t step,
                         const struct yk_op *op)
{
    const struct actor *actor = &pretend->actors[rank];
    const struct lane *compute = &actor->lanes[YK_LANE_COMPUTE];
    struct holding *holding = &actor->layers[op->layer];
    const bool trained = pretend->program->layers[op->layer].gradient_bytes > 0;
    if (trained && holding->own != step) {
        complain(pretend, rank, op, "gathers parts of the wrong age");
    }
    if (compute->running && uses(pretend, next_op(actor, YK_LANE_COMPUTE), op->layer)) {
        complain(pretend, rank, op, "writes into weights in use");
    }
    for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
        if (is_gathered(pretend, op->layer) && holding->blocks[b] != ABSENT) {
            complain(pretend, rank, op, "gathers what is there");
        }
        holding->blocks[b] = ON_ITS_WAY;
    }
}

static void start_update(struct pretend *pretend, int32_t rank, int32_t step,
                         const struct yk_op *op)
{
    const struct actor *actor = &pretend->actors[rank];
    if (!is_ready(pretend, rank, step, op->layer)) {
        complain(pretend, rank, op, "lacks its gradient");
    }
    if (yk_plan_has_barrier(pretend->plan) && actor->agreed != step + 1) {
        complain(pretend, rank, op, "comes before the agreement");
    }
    if (actor->layers[op->layer].own != step) {
        complain(pretend, rank, op, "comes in the wrong step");
    }
}

static void start_send(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    const struct progress *here = progress_of(pretend, rank, step, op->layer, op->micro_batch);
    if (!op->backward && !here->forward) {
        complain(pretend, rank, op, "sends what is not computed");
    }
    int32_t senders = 0;
    bool returned = true;
    for (int32_t g = 0; op->backward && g < pretend->plan->group_count; g++) {
        if (g != pretend->plan->layers[op->layer].group && member_of(pretend, g, rank) != NOBODY) {
            senders++;
            returned = has_returned(pretend, rank, step, op, g);
        }
    }
    /* Of a rank in several groups it is not known which one sends. */
    if (senders == 1 && !returned) {
        complain(pretend, rank, op, "sends a gradient that is not computed");
    }
}

static void start_agreement(struct pretend *pretend, int32_t rank, int32_t step,
                            const struct yk_op *op)
{
    for (int32_t l = 0; l < pretend->L; l++) {
        if (member_of(pretend, pretend->plan->layers[l].group, rank) != NOBODY &&
            pretend->program->layers[l].gradient_bytes > 0 && !is_ready(pretend, rank, step, l)) {
            complain(pretend, rank, op, "lacks a gradient");
        }
    }
}

static void start_op(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        start_pass(pretend, rank, step, op);
        break;
    case YK_OP_GATHER:
        start_gather(pretend, rank, step, op);
        break;
    case YK_OP_SCATTER:
        start_reduction(pretend, rank, step, op->layer, op);
        break;
    case YK_OP_REDUCE:
        for (int32_t i = 0; i < pretend->program->buckets[op->bucket].layer_count; i++) {
            start_reduction(pretend, rank, step, pretend->program->buckets[op->bucket].layers[i],
                            op);
        }
        break;
    case YK_OP_SEND:
        start_send(pretend, rank, step, op);
        break;
    case YK_OP_AGREE:
        start_agreement(pretend, rank, step, op);
        break;
    case YK_OP_UPDATE:
        start_update(pretend, rank, step, op);
        break;
    case YK_OP_LOAD:
    case YK_OP_RECV:
    case YK_OP_RELEASE:
    case YK_OP_KIND_COUNT:
    default:
        break;
    }
}

static void end_release(struct pretend *pretend, int32_t rank, const struct yk_op *op)
{
    struct holding *holding = &pretend->actors[rank].layers[op->layer];
    for (int32_t b = 0; b < pretend->program->layers[op->layer].block_count; b++) {
        if (holding->blocks[b] < 0) {
            complain(pretend, rank, op, "drops what is not there");
        }
        holding->blocks[b] = ABSENT;
    }
}

static void end_update(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    struct holding *holding = &pretend->actors[rank].layers[op->layer];
    holding->own = step + 1;
    for (int32_t b = 0; b < blocks_of(pretend, op->layer); b++) {
        if (yk_plan_strategy(pretend->plan, op->layer) == YK_REPLICATED) {
            holding->blocks[b] = step + 1;
        }
    }
}

static void end_pass(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    struct progress *here = progress_of(pretend, rank, step, op->layer, op->micro_batch);
    bool *done = op->kind == YK_OP_FORWARD    ? &here->forward
                 : op->kind == YK_OP_BACKWARD ? &here->backward
                                              : &here->recompute;
    if (*done) {
        complain(pretend, rank, op, "is done twice");
    }
    *done = true;
}

static void end_reduction(struct pretend *pretend, int32_t rank, int32_t step,
                          const struct yk_op *op)
{
    if (op->kind == YK_OP_SCATTER) {
        for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
            ++*reduced_of(pretend, rank, step, op->layer, op->micro_batch, b);
        }
        return;
    }
    const struct yk_bucket *bucket = &pretend->program->buckets[op->bucket];
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        for (int32_t b = 0; b < blocks_of(pretend, bucket->layers[i]); b++) {
            ++*reduced_of(pretend, rank, step, bucket->layers[i], op->micro_batch, b);
        }
    }
}

static void end_op(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    struct actor *actor = &pretend->actors[rank];
    switch (op->kind) {
    case YK_OP_LOAD:
        actor->loaded[step * pretend->M + op->micro_batch] = true;
        break;
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        end_pass(pretend, rank, step, op);
        break;
    case YK_OP_GATHER:
        for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
            actor->layers[op->layer].blocks[b] = step;
        }
        break;
    case YK_OP_SCATTER:
    case YK_OP_REDUCE:
        end_reduction(pretend, rank, step, op);
        break;
    case YK_OP_RECV: {
        struct progress *here = progress_of(pretend, rank, step, op->layer, op->micro_batch);
        *(op->backward ? &here->gradients_received : &here->received) += op->samples;
        break;
    }
    case YK_OP_AGREE:
        actor->agreed = step + 1;
        break;
    case YK_OP_UPDATE:
        end_update(pretend, rank, step, op);
        break;
    case YK_OP_RELEASE:
        end_release(pretend, rank, op);
        break;
    case YK_OP_SEND:
    case YK_OP_KIND_COUNT:
    default:
        break;
    }
}

/* Starts or ends the next op of a lane, on all its ranks if it communicates. */
static void turn(struct pretend *pretend, int32_t rank, int32_t lane)
{
    const struct yk_op *op = next_op(&pretend->actors[rank], lane);
    for (int32_t r = 0; r < pretend->program->rank_count; r++) {
        struct actor *actor = &pretend->actors[r];
        if (r != rank && (op->match == YK_NO_MATCH || !is_side(pretend, r, op))) {
            continue;
        }
        struct lane *it = &actor->lanes[lane];
        const struct yk_op *own = next_op(actor, lane);
        const int32_t step = step_of(actor, lane);
        const bool real = step >= 0 && step < STEPS;
        if (real && !it->running) {
            start_op(pretend, r, step, own);
        } else if (real) {
            end_op(pretend, r, step, own);
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
            const struct lane *it = &pretend->actors[r].lanes[i];
            if (it->running || can_start(pretend, r, i)) {
                const double score = it->weight * yk_random_unit(&pretend->random) + 1e-9;
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
                complain(pretend, r, next_op(&pretend->actors[r], lane), "waits for ever");
            }
        }
        for (int32_t l = 0; l < pretend->L; l++) {
            const bool held = member_of(pretend, pretend->plan->layers[l].group, r) != NOBODY;
            const struct yk_op update = {.kind = YK_OP_UPDATE, .layer = l};
            if (held && pretend->program->layers[l].gradient_bytes > 0 &&
                pretend->actors[r].layers[l].own != STEPS) {
                complain(pretend, r, &update, "was left out");
            }
        }
    }
}

const char *pretend_run(const struct yk_program *program, uint64_t seed)
{
    struct pretend pretend = {
        .program = program,
        .plan = program->plan,
        .model = yk_sizes_whole(program->sizes),
        .random = yk_random_from_seed(seed),
        .L = program->plan->layer_count,
        .M = program->plan->micro_batches,
    };
    int32_t rank = 0;
    int32_t lane = 0;
    assert_ok(yk_arena_create(&pretend.arena));
    pretend.actors = take(&pretend, program->rank_count, sizeof *pretend.actors);
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
