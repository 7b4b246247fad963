#include "program/compile/waits.h"

#include "program/layout.h"

#include <string.h>

/* Where in the rounds an op is; the later of two has the larger number. */
struct moment {
    int32_t round; /* −1 before there was any */
    int32_t op;
};

struct knowing {
    struct yk_program *program;
    struct yk_program_rank *list;
    struct yk_arena *arena;
    int32_t round;
    struct moment computed; /* the last op of the compute lane */
    struct moment agreed;
    struct moment *loaded;              /* (M) */
    struct moment *forward;             /* (L, M) */
    struct moment *backward;            /* (L, M) */
    struct moment *output_sent;         /* (L, M) to the last of those who take it */
    struct moment *output_received;     /* (L, M) the last block of a layer's output */
    struct moment *gradient_received;   /* (L, M) and of its gradient */
    struct moment *gathered;            /* (L) the last block */
    struct moment *reduced;             /* (L) likewise, scattered or reduced */
    struct moment *updated;             /* (L) */
    struct moment needs[YK_LANE_COUNT]; /* of the op at hand */
    int32_t *first_edge;                /* (L + 1) of the model's edges, by consumer */
};

static bool is_later(struct moment a, struct moment b)
{
    return a.round != b.round ? a.round > b.round : a.op > b.op;
}

static void need(struct knowing *knowing, struct moment moment)
{
    if (moment.round < 0) {
        return;
    }
    struct moment *known = &knowing->needs[knowing->list->ops[moment.op].lane];
    if (known->round < 0 || is_later(moment, *known)) {
        *known = moment;
    }
}

static int64_t cell(const struct knowing *knowing, const struct yk_op *op)
{
    return (int64_t)op->layer * knowing->program->plan->micro_batches + op->micro_batch;
}

/* Everything that a layer takes in, if it came from other ranks. */
static void need_inputs(struct knowing *knowing, const struct yk_op *op)
{
    const struct yk_model *model = yk_model_sizes_whole_batch(knowing->program->sizes);
    const int64_t M = knowing->program->plan->micro_batches;
    for (int32_t e = knowing->first_edge[op->layer]; e < knowing->first_edge[op->layer + 1]; e++) {
        need(knowing, knowing->output_received[model->edges[e].from * M + op->micro_batch]);
    }
    need(knowing, knowing->loaded[op->micro_batch]);
}

static void need_weights(struct knowing *knowing, const struct yk_op *op)
{
    need(knowing, knowing->gathered[op->layer]);
    need(knowing, knowing->gathered[knowing->program->layers[op->layer].leader]);
}

/* Where a replicated gradient is reduced in every micro-batch, it is summed up where that of the
 * one before was: what is held besides what the rank keeps is never more than one gradient of a
 * layer. */
static void need_sums(struct knowing *knowing, const struct yk_op *op)
{
    const struct yk_program *program = knowing->program;
    const int32_t layers[] = {op->layer, program->layers[op->layer].leader};
    const bool each = !program->plan->no_sync && program->plan->micro_batches > 1;
    for (int32_t i = 0; i < 2 && each; i++) {
        const struct moment reduced = knowing->reduced[layers[i]];
        if (reduced.round == knowing->round && !yk_layout_is_reduce_scattered(program, layers[i])) {
            need(knowing, reduced);
        }
    }
}

/* A gradient goes back when the layer that took the output has gone backward; that is the last op
 * of the lane then. */
static void need_what_is_sent(struct knowing *knowing, const struct yk_op *op)
{
    need(knowing, op->backward ? knowing->computed : knowing->forward[cell(knowing, op)]);
}

static void find_needs(struct knowing *knowing, const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
        need_inputs(knowing, op);
        need_weights(knowing, op);
        /* Its output goes where that of the round before was. Frozen layers, which no gradient
         * comes back to, would otherwise run ahead for ever. */
        need(knowing, knowing->output_sent[cell(knowing, op)]);
        break;
    case YK_OP_BACKWARD:
        need_sums(knowing, op);
        need(knowing, knowing->gradient_received[cell(knowing, op)]);
        need_weights(knowing, op);
        break;
    case YK_OP_RECOMPUTE:
        need(knowing, knowing->gradient_received[cell(knowing, op)]);
        need_weights(knowing, op);
        break;
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
        need(knowing, knowing->backward[cell(knowing, op)]);
        break;
    case YK_OP_SEND:
        need_what_is_sent(knowing, op);
        break;
    case YK_OP_UPDATE:
        need(knowing, knowing->reduced[op->layer]);
        if (yk_plan_has_barrier(knowing->program->plan)) {
            need(knowing, knowing->agreed);
        }
        break;
    case YK_OP_ALL_GATHER:
        /* Not before the ops in front of it: where it stands is when it may begin. */
        need(knowing, knowing->updated[op->layer]);
        need(knowing, knowing->computed);
        break;
    case YK_OP_LOAD:
    case YK_OP_RECV:
    case YK_OP_AGREE:
        need(knowing, knowing->computed);
        break;
    case YK_OP_RELEASE:
    case YK_OP_KIND_COUNT:
    default:
        break;
    }
}

static void learn_reduced(struct knowing *knowing, const struct yk_op *op, struct moment now)
{
    if (op->kind == YK_OP_REDUCE_SCATTER) {
        knowing->reduced[op->layer] = now;
        return;
    }
    const struct yk_bucket *bucket = &knowing->program->buckets[op->bucket];
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        knowing->reduced[bucket->layers[i]] = now;
    }
}

static void learn(struct knowing *knowing, const struct yk_op *op, struct moment now)
{
    if (op->lane == YK_LANE_COMPUTE) {
        knowing->computed = now;
    }
    switch (op->kind) {
    case YK_OP_LOAD:
        knowing->loaded[op->micro_batch] = now;
        break;
    case YK_OP_FORWARD:
        knowing->forward[cell(knowing, op)] = now;
        break;
    case YK_OP_BACKWARD:
        knowing->backward[cell(knowing, op)] = now;
        break;
    case YK_OP_ALL_GATHER:
        knowing->gathered[op->layer] = now;
        break;
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
        learn_reduced(knowing, op, now);
        break;
    case YK_OP_RECV:
        (op->backward ? knowing->gradient_received : knowing->output_received)[cell(knowing, op)] =
            now;
        break;
    case YK_OP_AGREE:
        knowing->agreed = now;
        break;
    case YK_OP_UPDATE:
        knowing->updated[op->layer] = now;
        break;
    case YK_OP_SEND:
        if (!op->backward) {
            knowing->output_sent[cell(knowing, op)] = now;
        }
        break;
    case YK_OP_RELEASE:
    case YK_OP_RECOMPUTE:
    case YK_OP_KIND_COUNT:
    default:
        break;
    }
}

static void forget_needs(struct knowing *knowing)
{
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        knowing->needs[lane] = (struct moment){.round = -1};
    }
}

static void put_waits(struct knowing *knowing, struct yk_op *op)
{
    struct yk_program_rank *list = knowing->list;
    op->first_wait = list->wait_count;
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        const struct moment needed = knowing->needs[lane];
        if (needed.round >= 0 && lane != (int32_t)op->lane) {
            list->waits[list->wait_count++] =
                (struct yk_op_wait){.op = needed.op, .lag = knowing->round - needed.round};
        }
    }
    op->wait_count = list->wait_count - op->first_wait;
    /* Room for one wait a lane, in case memory asks for more. */
    list->wait_count = op->first_wait + YK_LANE_COUNT - 1;
}

static yk_status take_moments(struct knowing *knowing, int64_t count, struct moment **out)
{
    YK_TRY_NEW(knowing->arena, *out, count);
    for (int64_t i = 0; i < count; i++) {
        (*out)[i].round = -1;
    }
    return YK_OK;
}

static yk_status start(struct knowing *knowing)
{
    const struct yk_plan *plan = knowing->program->plan;
    const struct yk_model *model = yk_model_sizes_whole_batch(knowing->program->sizes);
    const int64_t L = plan->layer_count;
    const int64_t cells = L * plan->micro_batches;
    knowing->computed.round = -1;
    knowing->agreed.round = -1;
    YK_TRY(take_moments(knowing, plan->micro_batches, &knowing->loaded));
    YK_TRY(take_moments(knowing, cells, &knowing->forward));
    YK_TRY(take_moments(knowing, cells, &knowing->backward));
    YK_TRY(take_moments(knowing, cells, &knowing->output_sent));
    YK_TRY(take_moments(knowing, cells, &knowing->output_received));
    YK_TRY(take_moments(knowing, cells, &knowing->gradient_received));
    YK_TRY(take_moments(knowing, L, &knowing->gathered));
    YK_TRY(take_moments(knowing, L, &knowing->reduced));
    YK_TRY(take_moments(knowing, L, &knowing->updated));
    YK_TRY_NEW(knowing->arena, knowing->first_edge, L + 1);
    for (int32_t e = 0; e < model->edge_count; e++) {
        knowing->first_edge[model->edges[e].to + 1]++;
    }
    for (int32_t l = 0; l < L; l++) {
        knowing->first_edge[l + 1] += knowing->first_edge[l];
    }
    YK_TRY_NEW(knowing->program->arena, knowing->list->waits,
               (int64_t)knowing->list->op_count * (YK_LANE_COUNT - 1));
    return YK_OK;
}

/* Two rounds: what the second needs of the first are the waits that look back. */
yk_status yk_waits_make(struct yk_program *program, int32_t rank)
{
    struct knowing knowing = {.program = program, .list = &program->ranks[rank]};
    YK_TRY(yk_arena_create(&knowing.arena));
    const yk_status status = start(&knowing);
    for (knowing.round = 0; status == YK_OK && knowing.round < 2; knowing.round++) {
        knowing.list->wait_count = 0;
        for (int32_t i = 0; i < knowing.list->op_count; i++) {
            struct yk_op *op = &knowing.list->ops[i];
            forget_needs(&knowing);
            find_needs(&knowing, op);
            put_waits(&knowing, op);
            learn(&knowing, op, (struct moment){.round = knowing.round, .op = i});
        }
    }
    yk_arena_destroy(knowing.arena);
    return status;
}

void yk_waits_extend(struct yk_program_rank *rank, int32_t op, int32_t other, int32_t lag)
{
    struct yk_op *waiting = &rank->ops[op];
    for (int32_t w = 0; w < waiting->wait_count; w++) {
        struct yk_op_wait *wait = &rank->waits[waiting->first_wait + w];
        if (rank->ops[wait->op].lane == rank->ops[other].lane) {
            if (lag < wait->lag || (lag == wait->lag && other > wait->op)) {
                *wait = (struct yk_op_wait){.op = other, .lag = lag};
            }
            return;
        }
    }
    rank->waits[waiting->first_wait + waiting->wait_count++] =
        (struct yk_op_wait){.op = other, .lag = lag};
}
