#include "program/compile/step_ops.h"

#include "base/array.h"
#include "base/number.h"
#include "program/message_layout.h"

#include <stdlib.h>

static const enum yk_step_ops_phase phases[YK_OP_KIND_COUNT] = {
    [YK_OP_LOAD] = YK_STEP_PHASE_LOAD,
    [YK_OP_FORWARD] = YK_STEP_PHASE_COMPUTE,
    [YK_OP_RECOMPUTE] = YK_STEP_PHASE_COMPUTE,
    [YK_OP_BACKWARD] = YK_STEP_PHASE_COMPUTE,
    [YK_OP_ALL_GATHER] = YK_STEP_PHASE_ALL_GATHER,
    [YK_OP_REDUCE_SCATTER] = YK_STEP_PHASE_REDUCE,
    [YK_OP_ALL_REDUCE] = YK_STEP_PHASE_REDUCE,
    [YK_OP_SEND] = YK_STEP_PHASE_SEND,
    [YK_OP_RECV] = YK_STEP_PHASE_SEND,
    [YK_OP_AGREE] = YK_STEP_PHASE_AGREE,
    [YK_OP_UPDATE] = YK_STEP_PHASE_UPDATE,
    [YK_OP_RELEASE] = YK_STEP_PHASE_RELEASE,
};

yk_status yk_step_ops_add(struct yk_step_ops *step_ops, struct yk_step_ops_entry entry)
{
    YK_TRY_GROW_ARRAY(step_ops->entries, step_ops->capacity, step_ops->count);
    entry.number = step_ops->count;
    entry.op.match = entry.op.lane == YK_LANE_COMM ? step_ops->match_count++ : YK_OP_NO_MATCH;
    step_ops->entries[step_ops->count++] = entry;
    return YK_OK;
}

static int by_time(const void *left, const void *right)
{
    const struct yk_step_ops_entry *a = left;
    const struct yk_step_ops_entry *b = right;
    int order = yk_number_compare(a->time, b->time);
    order = order != 0 ? order : yk_number_compare((int64_t)a->phase, (int64_t)b->phase);
    return order != 0 ? order : yk_number_compare(a->number, b->number);
}

void yk_step_ops_sort(struct yk_step_ops *step_ops)
{
    if (step_ops->count > 0) {
        qsort(step_ops->entries, (size_t)step_ops->count, sizeof *step_ops->entries, by_time);
    }
}

void yk_step_ops_free(struct yk_step_ops *step_ops)
{
    free(step_ops->entries);
    *step_ops = (struct yk_step_ops){0};
}

struct yk_step_ops_entry yk_step_ops_make_entry(const struct yk_program *program,
                                                enum yk_op_kind kind, int32_t layer,
                                                int32_t micro_batch)
{
    return (struct yk_step_ops_entry){
        .phase = phases[kind],
        .op =
            {
                .kind = kind,
                .lane = yk_op_kind_lane(kind),
                .layer = layer,
                .micro_batch = micro_batch,
                .bucket = -1,
                .group = -1,
                .peer = -1,
                .crossing = -1,
            },
        .group = layer == YK_LAYER_NONE ? -1 : program->plan->layers[layer].group,
        .sender = -1,
        .receiver = -1,
    };
}

struct yk_step_ops_entry yk_step_ops_make_block_entry(const struct yk_program *program,
                                                      enum yk_op_kind kind, int32_t layer,
                                                      int32_t first_block, int32_t block_count)
{
    struct yk_step_ops_entry entry = yk_step_ops_make_entry(program, kind, layer, 0);
    const struct yk_program_layer_messages *message = &program->layers[layer];
    const bool all =
        kind == YK_OP_ALL_GATHER && !yk_message_layout_gathers_updated_weights(program, layer);
    entry.op.group = entry.group;
    entry.op.first_block = first_block;
    entry.op.block_count = block_count;
    if (message->block_count > 0) {
        entry.op.bytes = (all ? message->weight_bytes : message->gradient_bytes) * block_count /
                         message->block_count;
    }
    return entry;
}

struct yk_step_ops_entry yk_step_ops_make_bucket_entry(const struct yk_program *program,
                                                       int32_t bucket, int32_t micro_batch)
{
    const struct yk_gradient_bucket *reduced = &program->buckets[bucket];
    struct yk_step_ops_entry entry = yk_step_ops_make_entry(
        program, YK_OP_ALL_REDUCE, reduced->layers[reduced->layer_count - 1], micro_batch);
    entry.op.group = entry.group;
    entry.op.bucket = bucket;
    entry.op.bytes = reduced->bytes;
    return entry;
}

yk_status yk_step_ops_add_agree_op(const struct yk_program *program, int64_t time,
                                   struct yk_step_ops *step_ops)
{
    struct yk_step_ops_entry entry = yk_step_ops_make_entry(program, YK_OP_AGREE, YK_LAYER_NONE, 0);
    entry.time = time;
    entry.op.bytes = YK_OP_AGREE_BYTES;
    return yk_plan_has_update_barrier(program->plan) ? yk_step_ops_add(step_ops, entry) : YK_OK;
}

static bool reads_samples(const struct yk_program_facts *facts, int32_t group)
{
    for (int32_t l = 0; l < facts->L; l++) {
        if (facts->plan->layers[l].group == group && yk_program_facts_layer_reads_batch(facts, l)) {
            return true;
        }
    }
    return false;
}

yk_status yk_step_ops_add_load_ops(const struct yk_program_facts *facts, const int64_t *times,
                                   struct yk_step_ops *step_ops)
{
    const struct yk_plan *plan = facts->plan;
    for (int32_t g = 0; g < plan->group_count; g++) {
        const int32_t loads = reads_samples(facts, g) ? facts->M : 0;
        for (int32_t m = 0; m < loads; m++) {
            struct yk_step_ops_entry entry =
                yk_step_ops_make_entry(facts->program, YK_OP_LOAD, YK_LAYER_NONE, m);
            /* At the start of the micro-batch that precedes it in the forward passes. */
            const int32_t before = plan->pipeline == YK_PIPELINE_NESTED ? m + 1 : m - 1;
            const bool first = before < 0 || before == facts->M;
            entry.time = first ? times[m] : yk_number_min(times[m], times[before]);
            entry.group = g;
            YK_TRY(yk_step_ops_add(step_ops, entry));
        }
    }
    return YK_OK;
}
