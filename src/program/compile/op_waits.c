#include "program/compile/step_ops.h"

#include "program/message_layout.h"

/* One execution of an op. */
struct moment {
    int32_t round; /* iteration; −1: the op was not executed yet */
    int32_t op;
};

struct tracking {
    const struct yk_program_facts *facts;
    const struct yk_program *program;
    struct yk_op_list *list;
    struct yk_arena *arena;
    int32_t round;
    struct moment computed; /* the last op of the compute lane */
    struct moment agreed;
    struct moment *loaded;              /* (M) */
    struct moment *forward;             /* (L, M) */
    struct moment *backward;            /* (L, M) */
    struct moment *output_sent;         /* (L, M) to the last receiver */
    struct moment *output_received;     /* (L, M) the last block of a layer's output */
    struct moment *gradient_received;   /* (L, M) and of its gradient */
    struct moment *gathered;            /* (L) the last block */
    struct moment *reduced;             /* (L) likewise, scattered or reduced */
    struct moment *updated;             /* (L) */
    struct moment needs[YK_LANE_COUNT]; /* of the op at hand */
};

static bool is_later(struct moment a, struct moment b)
{
    return a.round != b.round ? a.round > b.round : a.op > b.op;
}

static void need(struct tracking *tracking, struct moment moment)
{
    if (moment.round < 0) {
        return;
    }
    struct moment *latest = &tracking->needs[tracking->list->ops[moment.op].lane];
    if (latest->round < 0 || is_later(moment, *latest)) {
        *latest = moment;
    }
}

static int64_t cell(const struct tracking *tracking, const struct yk_op *op)
{
    return (int64_t)op->layer * tracking->program->plan->micro_batches + op->micro_batch;
}

/* The inputs of a layer that other ranks send, and the samples. */
static void need_inputs(struct tracking *tracking, const struct yk_op *op)
{
    const struct yk_program_facts *facts = tracking->facts;
    for (int32_t e = facts->first_edge_to[op->layer]; e < facts->first_edge_to[op->layer + 1];
         e++) {
        const int64_t from = facts->model->edges[e].from;
        need(tracking, tracking->output_received[from * facts->M + op->micro_batch]);
    }
    need(tracking, tracking->loaded[op->micro_batch]);
}

static void need_weights(struct tracking *tracking, const struct yk_op *op)
{
    need(tracking, tracking->gathered[op->layer]);
    need(tracking, tracking->gathered[tracking->program->layers[op->layer].weights_owner]);
}

/* If a replicated gradient is reduced in every micro-batch, it is computed in the buffer of the
 * previous micro-batch. So a rank holds at most one such gradient per layer. */
static void need_sums(struct tracking *tracking, const struct yk_op *op)
{
    const struct yk_program *program = tracking->program;
    const int32_t layers[] = {op->layer, program->layers[op->layer].weights_owner};
    const bool each = !program->plan->no_sync && program->plan->micro_batches > 1;
    for (int32_t i = 0; i < 2 && each; i++) {
        const struct moment reduced = tracking->reduced[layers[i]];
        if (reduced.round == tracking->round &&
            !yk_message_layout_reduce_scatters_gradient(program, layers[i])) {
            need(tracking, reduced);
        }
    }
}

static void find_needs(struct tracking *tracking, const struct yk_op *op)
{
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        tracking->needs[lane].round = -1;
    }
    switch (op->kind) {
    case YK_OP_FORWARD:
        need_inputs(tracking, op);
        need_weights(tracking, op);
        /* The output is written to the buffer of the previous iteration, which must be sent first.
         * Frozen layers, which receive no gradient, would otherwise run ahead without limit. */
        need(tracking, tracking->output_sent[cell(tracking, op)]);
        break;
    case YK_OP_BACKWARD:
        need_sums(tracking, op);
        need(tracking, tracking->gradient_received[cell(tracking, op)]);
        need_weights(tracking, op);
        break;
    case YK_OP_RECOMPUTE:
        need(tracking, tracking->gradient_received[cell(tracking, op)]);
        need_weights(tracking, op);
        break;
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
        need(tracking, tracking->backward[cell(tracking, op)]);
        break;
    case YK_OP_SEND:
        /* A gradient is sent after the backward pass of the layer that used the output, which is
         * then the last op of the compute lane. */
        need(tracking, op->backward ? tracking->computed : tracking->forward[cell(tracking, op)]);
        break;
    case YK_OP_UPDATE:
        need(tracking, tracking->reduced[op->layer]);
        if (yk_plan_has_update_barrier(tracking->program->plan)) {
            need(tracking, tracking->agreed);
        }
        break;
    case YK_OP_ALL_GATHER:
        /* Not before the preceding compute ops: its position in the list is when it may begin. */
        need(tracking, tracking->updated[op->layer]);
        need(tracking, tracking->computed);
        break;
    case YK_OP_LOAD:
    case YK_OP_RECV:
    case YK_OP_AGREE:
        need(tracking, tracking->computed);
        break;
    default:
        break;
    }
}

static void learn_reduced(struct tracking *tracking, const struct yk_op *op, struct moment now)
{
    if (op->kind == YK_OP_REDUCE_SCATTER) {
        tracking->reduced[op->layer] = now;
        return;
    }
    const struct yk_gradient_bucket *bucket = &tracking->program->buckets[op->bucket];
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        tracking->reduced[bucket->layers[i]] = now;
    }
}

static void learn(struct tracking *tracking, const struct yk_op *op, struct moment now)
{
    if (op->lane == YK_LANE_COMPUTE) {
        tracking->computed = now;
    }
    switch (op->kind) {
    case YK_OP_LOAD:
        tracking->loaded[op->micro_batch] = now;
        break;
    case YK_OP_FORWARD:
        tracking->forward[cell(tracking, op)] = now;
        break;
    case YK_OP_BACKWARD:
        tracking->backward[cell(tracking, op)] = now;
        break;
    case YK_OP_ALL_GATHER:
        tracking->gathered[op->layer] = now;
        break;
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
        learn_reduced(tracking, op, now);
        break;
    case YK_OP_RECV:
        (op->backward ? tracking->gradient_received
                      : tracking->output_received)[cell(tracking, op)] = now;
        break;
    case YK_OP_AGREE:
        tracking->agreed = now;
        break;
    case YK_OP_UPDATE:
        tracking->updated[op->layer] = now;
        break;
    case YK_OP_SEND:
        if (!op->backward) {
            tracking->output_sent[cell(tracking, op)] = now;
        }
        break;
    default:
        break;
    }
}

static void write_waits(struct tracking *tracking, struct yk_op *op)
{
    struct yk_op_list *list = tracking->list;
    op->first_wait = list->wait_count;
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        const struct moment needed = tracking->needs[lane];
        if (needed.round >= 0 && lane != (int32_t)op->lane) {
            list->waits[list->wait_count++] =
                (struct yk_op_wait){.op = needed.op, .lag = tracking->round - needed.round};
        }
    }
    op->wait_count = list->wait_count - op->first_wait;
    /* Reserves one wait per other lane for yk_memory_waits_add(). */
    list->wait_count = op->first_wait + YK_LANE_COUNT - 1;
}

static yk_status allocate_moments(struct tracking *tracking, int64_t count, struct moment **out)
{
    YK_TRY_NEW(tracking->arena, *out, count);
    for (int64_t i = 0; i < count; i++) {
        (*out)[i].round = -1;
    }
    return YK_OK;
}

static yk_status start(struct tracking *tracking)
{
    const struct yk_plan *plan = tracking->program->plan;
    const int64_t L = plan->layer_count;
    const int64_t cells = L * plan->micro_batches;
    tracking->computed.round = -1;
    tracking->agreed.round = -1;
    YK_TRY(allocate_moments(tracking, plan->micro_batches, &tracking->loaded));
    YK_TRY(allocate_moments(tracking, cells, &tracking->forward));
    YK_TRY(allocate_moments(tracking, cells, &tracking->backward));
    YK_TRY(allocate_moments(tracking, cells, &tracking->output_sent));
    YK_TRY(allocate_moments(tracking, cells, &tracking->output_received));
    YK_TRY(allocate_moments(tracking, cells, &tracking->gradient_received));
    YK_TRY(allocate_moments(tracking, L, &tracking->gathered));
    YK_TRY(allocate_moments(tracking, L, &tracking->reduced));
    YK_TRY(allocate_moments(tracking, L, &tracking->updated));
    YK_TRY_NEW(tracking->program->arena, tracking->list->waits,
               (int64_t)tracking->list->op_count * (YK_LANE_COUNT - 1));
    return YK_OK;
}

/* Two iterations: ops of the second one that need ops of the first get waits with lag 1. */
yk_status yk_op_waits_add_data_waits(const struct yk_program_facts *facts, int32_t rank)
{
    struct tracking tracking = {
        .facts = facts, .program = facts->program, .list = &facts->program->ranks[rank]};
    YK_TRY(yk_arena_create(&tracking.arena));
    const yk_status status = start(&tracking);
    for (tracking.round = 0; status == YK_OK && tracking.round < 2; tracking.round++) {
        tracking.list->wait_count = 0;
        for (int32_t i = 0; i < tracking.list->op_count; i++) {
            struct yk_op *op = &tracking.list->ops[i];
            find_needs(&tracking, op);
            write_waits(&tracking, op);
            learn(&tracking, op, (struct moment){.round = tracking.round, .op = i});
        }
    }
    yk_arena_destroy(tracking.arena);
    return status;
}

void yk_op_waits_add(struct yk_op_list *rank, int32_t op, int32_t other, int32_t lag)
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
