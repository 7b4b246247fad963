#include "program/compile/sequence.h"

#include "base/array.h"
#include "program/layout.h"

#include <stdlib.h>

static enum yk_lane lane_of(enum yk_op_kind kind)
{
    switch (kind) {
    case YK_OP_LOAD:
        return YK_LANE_COPY;
    case YK_OP_ALL_GATHER:
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
    case YK_OP_SEND:
    case YK_OP_RECV:
    case YK_OP_AGREE:
        return YK_LANE_COMM;
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
    case YK_OP_UPDATE:
    case YK_OP_RELEASE:
    case YK_OP_KIND_COUNT:
    default:
        return YK_LANE_COMPUTE;
    }
}

static enum yk_sequence_phase phase_of(enum yk_op_kind kind)
{
    switch (kind) {
    case YK_OP_RELEASE:
        return YK_PHASE_RELEASE;
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
        return YK_PHASE_REDUCE;
    case YK_OP_SEND:
    case YK_OP_RECV:
        return YK_PHASE_SEND;
    case YK_OP_AGREE:
        return YK_PHASE_AGREE;
    case YK_OP_UPDATE:
        return YK_PHASE_UPDATE;
    case YK_OP_ALL_GATHER:
        return YK_PHASE_ALL_GATHER;
    case YK_OP_LOAD:
        return YK_PHASE_LOAD;
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
    case YK_OP_KIND_COUNT:
    default:
        return YK_PHASE_COMPUTE;
    }
}

yk_status yk_sequence_add(struct yk_sequence *script, struct yk_sequence_entry entry)
{
    YK_TRY(
        yk_array_grow((void **)&script->entries, &script->capacity, script->count, sizeof entry));
    entry.sequence = script->count;
    entry.op.match = entry.op.lane == YK_LANE_COMM ? script->match_count++ : YK_NO_MATCH;
    script->entries[script->count++] = entry;
    return YK_OK;
}

static int by_time(const void *left, const void *right)
{
    const struct yk_sequence_entry *a = left;
    const struct yk_sequence_entry *b = right;
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    if (a->phase != b->phase) {
        return a->phase < b->phase ? -1 : 1;
    }
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence ? 1 : 0;
}

void yk_sequence_sort(struct yk_sequence *script)
{
    if (script->count > 0) {
        qsort(script->entries, (size_t)script->count, sizeof *script->entries, by_time);
    }
}

void yk_sequence_free(struct yk_sequence *script)
{
    free(script->entries);
    *script = (struct yk_sequence){0};
}

struct yk_sequence_entry yk_sequence_entry(const struct yk_program *program, enum yk_op_kind kind,
                                           int32_t layer, int32_t micro_batch)
{
    return (struct yk_sequence_entry){
        .phase = phase_of(kind),
        .op =
            {
                .kind = kind,
                .lane = lane_of(kind),
                .layer = layer,
                .micro_batch = micro_batch,
                .bucket = -1,
                .group = -1,
                .peer = -1,
            },
        .group = layer == YK_LAYER_NONE ? -1 : program->plan->layers[layer].group,
        .sender = -1,
        .receiver = -1,
    };
}

struct yk_sequence_entry yk_sequence_blocks(const struct yk_program *program, enum yk_op_kind kind,
                                            int32_t layer, int32_t first_block, int32_t block_count)
{
    struct yk_sequence_entry entry = yk_sequence_entry(program, kind, layer, 0);
    const struct yk_program_layer *message = &program->layers[layer];
    const bool all = kind == YK_OP_ALL_GATHER && !yk_layout_is_refreshed(program, layer);
    entry.op.group = entry.group;
    entry.op.first_block = first_block;
    entry.op.block_count = block_count;
    entry.op.bytes = yk_block_bytes(all ? message->weight_bytes : message->gradient_bytes,
                                    message->block_count, block_count);
    return entry;
}

bool yk_sequence_goes_backward(const struct yk_program *program, int32_t layer)
{
    return yk_model_sizes_whole_batch(program->sizes)->layers[layer].backward.count > 0;
}

bool yk_sequence_reduces(const struct yk_program *program, int32_t micro_batch)
{
    const struct yk_plan *plan = program->plan;
    return !plan->no_sync || micro_batch == plan->micro_batches - 1;
}

static bool wants_samples(const struct yk_program *program, int32_t group)
{
    const struct yk_plan *plan = program->plan;
    const struct yk_model *model = yk_model_sizes_whole_batch(program->sizes);
    for (int32_t l = 0; l < plan->layer_count; l++) {
        bool fed = false;
        for (int32_t e = 0; e < model->edge_count; e++) {
            fed = fed || model->edges[e].to == l;
        }
        if (plan->layers[l].group == group && (!fed || l == plan->layer_count - 1)) {
            return true;
        }
    }
    return false;
}

yk_status yk_sequence_add_loads(const struct yk_program *program, const int64_t *times,
                                struct yk_sequence *script)
{
    for (int32_t g = 0; g < program->plan->group_count; g++) {
        const int32_t loads = wants_samples(program, g) ? program->plan->micro_batches : 0;
        for (int32_t m = 0; m < loads; m++) {
            struct yk_sequence_entry entry =
                yk_sequence_entry(program, YK_OP_LOAD, YK_LAYER_NONE, m);
            /* While the micro-batch that goes forward before it does. */
            const int32_t before = program->plan->pipeline == YK_NESTED ? m + 1 : m - 1;
            const bool first = before < 0 || before == program->plan->micro_batches;
            entry.time = first || times[m] < times[before] ? times[m] : times[before];
            entry.group = g;
            YK_TRY(yk_sequence_add(script, entry));
        }
    }
    return YK_OK;
}
