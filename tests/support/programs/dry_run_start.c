/* What an op must find when it starts. */
#include "support/programs/dry_run_state.h"

static bool is_summed(const struct pretend *pretend)
{
    return pretend->plan->no_sync;
}

static bool goes_backward(const struct pretend *pretend, int32_t layer)
{
    return pretend->model->layers[layer].backward.count > 0;
}

static bool has_weights(const struct pretend *pretend, int32_t rank, int32_t layer, int32_t age)
{
    const struct pretend_holding *holding = &pretend->actors[rank].layers[layer];
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
    const int32_t member = pretend_member_of(pretend, group, rank);
    const int32_t other_member = pretend_member_of(pretend, other, rank);
    int64_t common = 0;
    if (member != PRETEND_NOBODY && other_member != PRETEND_NOBODY) {
        int64_t first = 0;
        int64_t other_first = 0;
        const int64_t count =
            yk_plan_member_sample_range(pretend->plan, group, member, micro_batch, &first);
        const int64_t used = yk_plan_member_sample_range(pretend->plan, other, other_member,
                                                         micro_batch, &other_first);
        for (int64_t s = first; s < first + count; s++) {
            common += s >= other_first && s < other_first + used ? 1 : 0;
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
    const struct pretend_progress *there =
        pretend_progress_of(pretend, rank, step, from, op->micro_batch);
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
            !pretend_progress_of(pretend, rank, step, edge->to, op->micro_batch)->backward) {
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
                pretend_complain(pretend, rank, op, "lacks its input");
            }
        }
    }
    if ((!fed || op->layer == pretend->L - 1) && op->samples > 0 &&
        !pretend->actors[rank].loaded[step * pretend->M + op->micro_batch]) {
        pretend_complain(pretend, rank, op, "lacks its samples");
    }
}

/* All layers that took its output on this rank have gone backward, and all gradients came. */
static void start_backward(struct pretend *pretend, int32_t rank, int32_t step,
                           const struct yk_op *op)
{
    const struct yk_plan *plan = pretend->plan;
    const struct pretend_progress *here =
        pretend_progress_of(pretend, rank, step, op->layer, op->micro_batch);
    const int32_t group = plan->layers[op->layer].group;
    int64_t wanted = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        bool reads = false;
        for (int32_t e = 0; e < pretend->model->edge_count; e++) {
            const struct yk_layer_edge *edge = &pretend->model->edges[e];
            if (edge->from != op->layer || plan->layers[edge->to].group != g ||
                !goes_backward(pretend, edge->to)) {
                continue;
            }
            reads = true;
        }
        if (reads && g == group && !has_returned(pretend, rank, step, op, g)) {
            pretend_complain(pretend, rank, op, "lacks a gradient of its own group");
        }
        if (reads && g != group) {
            const int64_t own = count_common(pretend, rank, group, g, op->micro_batch);
            wanted += op->samples - own;
            if (own > 0 && !has_returned(pretend, rank, step, op, g)) {
                pretend_complain(pretend, rank, op, "lacks a gradient of its own");
            }
        }
    }
    if (here->gradients_received != wanted) {
        pretend_complain(pretend, rank, op, "lacks a gradient of another group");
    }
    if (!here->forward || (plan->layers[op->layer].recompute && !here->recompute)) {
        pretend_complain(pretend, rank, op, "lacks what forward saved");
    }
}

static void start_pass(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    const int32_t leader = pretend->program->layers[op->layer].weights_owner;
    if (!has_weights(pretend, rank, op->layer, step) || !has_weights(pretend, rank, leader, step)) {
        pretend_complain(pretend, rank, op, "lacks weights, or has old ones");
    }
    if (op->kind == YK_OP_FORWARD) {
        start_forward(pretend, rank, step, op);
    } else if (op->kind == YK_OP_BACKWARD) {
        start_backward(pretend, rank, step, op);
    } else if (!pretend_progress_of(pretend, rank, step, op->layer, op->micro_batch)->forward) {
        pretend_complain(pretend, rank, op, "comes before forward");
    }
}

/* Everything that adds to a layer's gradient in a micro-batch has. */
static bool is_complete(const struct pretend *pretend, int32_t rank, int32_t step, int32_t layer,
                        int32_t micro_batch)
{
    for (int32_t l = 0; l < pretend->L; l++) {
        if ((l == layer || pretend->program->layers[l].weights_owner == layer) &&
            goes_backward(pretend, l) &&
            !pretend_progress_of(pretend, rank, step, l, micro_batch)->backward) {
            return false;
        }
    }
    return true;
}

static void start_reduction(struct pretend *pretend, int32_t rank, int32_t step, int32_t layer,
                            const struct yk_op *op)
{
    const int32_t first = is_summed(pretend) ? 0 : op->micro_batch;
    for (int32_t m = first; m <= op->micro_batch; m++) {
        if (!is_complete(pretend, rank, step, layer, m)) {
            pretend_complain(pretend, rank, op, "reduces a gradient that is not complete");
        }
    }
}

/* The gradient is all there to be used: summed up over ranks and micro-batches. */
static bool is_ready(const struct pretend *pretend, int32_t rank, int32_t step, int32_t layer)
{
    const struct yk_plan_group *group = &pretend->plan->groups[pretend->plan->layers[layer].group];
    for (int32_t m = 0; m < pretend->M; m++) {
        const bool travels = !is_summed(pretend) || m == pretend->M - 1;
        if (!is_complete(pretend, rank, step, layer, m)) {
            return false;
        }
        for (int32_t b = 0; group->member_count > 1 && b < pretend_blocks_of(pretend, layer); b++) {
            if (*pretend_reduced_of(pretend, rank, step, layer, m, b) != (travels ? 1 : 0)) {
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
           (op->layer == layer || pretend->program->layers[op->layer].weights_owner == layer);
}

static void start_gather(struct pretend *pretend, int32_t rank, int32_t step,
                         const struct yk_op *op)
{
    const struct pretend_actor *actor = &pretend->actors[rank];
    const struct pretend_lane *compute = &actor->lanes[YK_LANE_COMPUTE];
    struct pretend_holding *holding = &actor->layers[op->layer];
    const bool trained = pretend->program->layers[op->layer].gradient_bytes > 0;
    if (trained && holding->own != step) {
        pretend_complain(pretend, rank, op, "gathers parts of the wrong age");
    }
    if (compute->running && uses(pretend, pretend_next_op(actor, YK_LANE_COMPUTE), op->layer)) {
        pretend_complain(pretend, rank, op, "writes into weights in use");
    }
    for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
        if (pretend_is_gathered(pretend, op->layer) && holding->blocks[b] != PRETEND_ABSENT) {
            pretend_complain(pretend, rank, op, "gathers what is there");
        }
        holding->blocks[b] = PRETEND_ON_ITS_WAY;
    }
}

static void start_update(struct pretend *pretend, int32_t rank, int32_t step,
                         const struct yk_op *op)
{
    const struct pretend_actor *actor = &pretend->actors[rank];
    if (!is_ready(pretend, rank, step, op->layer)) {
        pretend_complain(pretend, rank, op, "lacks its gradient");
    }
    if (yk_plan_has_update_barrier(pretend->plan) && actor->agreed != step + 1) {
        pretend_complain(pretend, rank, op, "comes before the agreement");
    }
    if (actor->layers[op->layer].own != step) {
        pretend_complain(pretend, rank, op, "comes in the wrong step");
    }
}

static void start_send(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    const struct pretend_progress *here =
        pretend_progress_of(pretend, rank, step, op->layer, op->micro_batch);
    if (!op->backward && !here->forward) {
        pretend_complain(pretend, rank, op, "sends what is not computed");
    }
    int32_t senders = 0;
    bool returned = true;
    for (int32_t g = 0; op->backward && g < pretend->plan->group_count; g++) {
        if (g != pretend->plan->layers[op->layer].group &&
            pretend_member_of(pretend, g, rank) != PRETEND_NOBODY) {
            senders++;
            returned = has_returned(pretend, rank, step, op, g);
        }
    }
    /* Of a rank in several groups it is not known which one sends. */
    if (senders == 1 && !returned) {
        pretend_complain(pretend, rank, op, "sends a gradient that is not computed");
    }
}

static void start_agreement(struct pretend *pretend, int32_t rank, int32_t step,
                            const struct yk_op *op)
{
    for (int32_t l = 0; l < pretend->L; l++) {
        if (pretend_member_of(pretend, pretend->plan->layers[l].group, rank) != PRETEND_NOBODY &&
            pretend->program->layers[l].gradient_bytes > 0 && !is_ready(pretend, rank, step, l)) {
            pretend_complain(pretend, rank, op, "lacks a gradient");
        }
    }
}

void pretend_start(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        start_pass(pretend, rank, step, op);
        break;
    case YK_OP_ALL_GATHER:
        start_gather(pretend, rank, step, op);
        break;
    case YK_OP_REDUCE_SCATTER:
        start_reduction(pretend, rank, step, op->layer, op);
        break;
    case YK_OP_ALL_REDUCE:
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
