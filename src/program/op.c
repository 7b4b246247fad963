#include "program/program.h"

const char *yk_op_kind_name(enum yk_op_kind kind)
{
    static const char *const names[YK_OP_KIND_COUNT] = {
        [YK_OP_LOAD] = "load",           [YK_OP_FORWARD] = "forward",
        [YK_OP_RECOMPUTE] = "recompute", [YK_OP_BACKWARD] = "backward",
        [YK_OP_ALL_GATHER] = "gather",   [YK_OP_REDUCE_SCATTER] = "scatter",
        [YK_OP_ALL_REDUCE] = "reduce",   [YK_OP_SEND] = "send",
        [YK_OP_RECV] = "recv",           [YK_OP_AGREE] = "agree",
        [YK_OP_UPDATE] = "update",       [YK_OP_RELEASE] = "release",
    };
    return names[kind];
}

static const char *layer_name(const struct yk_program *program, int32_t layer)
{
    return yk_model_sizes_whole_batch(program->sizes)->layers[layer].name;
}

static void describe_layer(const struct yk_program *program, const struct yk_op *op,
                           struct yk_text *out)
{
    if (op->kind == YK_OP_ALL_REDUCE && program->buckets[op->bucket].layer_count > 1) {
        yk_text_addf(out, " %s to", layer_name(program, program->buckets[op->bucket].layers[0]));
    }
    if (op->layer != YK_LAYER_NONE) {
        yk_text_addf(out, " %s", layer_name(program, op->layer));
    }
    if ((op->kind == YK_OP_SEND || op->kind == YK_OP_RECV) && op->backward) {
        yk_text_add(out, " gradient");
    }
}

void yk_op_describe(const struct yk_program *program, const struct yk_op *op, struct yk_text *out)
{
    const bool once = op->kind == YK_OP_UPDATE || op->kind == YK_OP_AGREE;
    yk_text_add(out, yk_op_kind_name(op->kind));
    describe_layer(program, op, out);
    if (program->plan->micro_batches > 1 && !once) {
        yk_text_addf(out, " #%d", op->micro_batch);
    }
    if (op->kind != YK_OP_ALL_GATHER && op->kind != YK_OP_REDUCE_SCATTER) {
        return;
    }
    const int32_t all = program->layers[op->layer].block_count;
    if (op->block_count == 1 && all > 1) {
        yk_text_addf(out, " block %d of %d", op->first_block, all);
    } else if (op->block_count < all) {
        yk_text_addf(out, " blocks %d-%d of %d", op->first_block,
                     op->first_block + op->block_count - 1, all);
    }
}
