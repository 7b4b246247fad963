/* What an op leaves when it ends. */
#include "support/programs/dry_run_state.h"

static void end_release(struct pretend *pretend, int32_t rank, const struct yk_op *op)
{
    struct pretend_holding *holding = &pretend->actors[rank].layers[op->layer];
    for (int32_t b = 0; b < pretend->program->layers[op->layer].block_count; b++) {
        if (holding->blocks[b] < 0) {
            pretend_complain(pretend, rank, op, "drops what is not there");
        }
        holding->blocks[b] = PRETEND_ABSENT;
    }
}

static void end_update(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    struct pretend_holding *holding = &pretend->actors[rank].layers[op->layer];
    holding->own = step + 1;
    for (int32_t b = 0; b < pretend_blocks_of(pretend, op->layer); b++) {
        if (yk_plan_effective_strategy(pretend->plan, op->layer) == YK_SHARDING_REPLICATED) {
            holding->blocks[b] = step + 1;
        }
    }
}

static void end_pass(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    struct pretend_progress *here =
        pretend_progress_of(pretend, rank, step, op->layer, op->micro_batch);
    bool *done = op->kind == YK_OP_FORWARD    ? &here->forward
                 : op->kind == YK_OP_BACKWARD ? &here->backward
                                              : &here->recompute;
    if (*done) {
        pretend_complain(pretend, rank, op, "is done twice");
    }
    *done = true;
}

static void end_reduction(struct pretend *pretend, int32_t rank, int32_t step,
                          const struct yk_op *op)
{
    if (op->kind == YK_OP_REDUCE_SCATTER) {
        for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
            ++*pretend_reduced_of(pretend, rank, step, op->layer, op->micro_batch, b);
        }
        return;
    }
    const struct yk_gradient_bucket *bucket = &pretend->program->buckets[op->bucket];
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        for (int32_t b = 0; b < pretend_blocks_of(pretend, bucket->layers[i]); b++) {
            ++*pretend_reduced_of(pretend, rank, step, bucket->layers[i], op->micro_batch, b);
        }
    }
}

void pretend_end(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op)
{
    struct pretend_actor *actor = &pretend->actors[rank];
    switch (op->kind) {
    case YK_OP_LOAD:
        actor->loaded[step * pretend->M + op->micro_batch] = true;
        break;
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        end_pass(pretend, rank, step, op);
        break;
    case YK_OP_ALL_GATHER:
        for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
            actor->layers[op->layer].blocks[b] = step;
        }
        break;
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
        end_reduction(pretend, rank, step, op);
        break;
    case YK_OP_RECV: {
        struct pretend_progress *here =
            pretend_progress_of(pretend, rank, step, op->layer, op->micro_batch);
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
