/* Step ops of a plan without transfers: gathers run `prefetch` uses ahead; all other ops run as
 * early as possible. */
#include "program/compile/pipeline_schedule.h"
#include "program/compile/step_ops.h"
#include "program/message_layout.h"

/* A pass of a layer. */
struct use {
    int64_t start;
    int64_t end;
    int32_t layer;
    int32_t micro_batch;
    enum yk_op_kind kind;
};

struct writing {
    const struct yk_program_facts *facts;
    const struct yk_program *program;
    struct yk_arena *arena;
    struct yk_step_ops *step_ops;
    struct yk_pipeline_schedule table;
    struct use *uses; /* passes of the current group, in order */
    int32_t use_count;
    int32_t *used;          /* (L) number of uses of the layer's weights so far */
    int32_t *begun;         /* (L) number of micro-batches that have used them */
    int32_t *uses_of_batch; /* (L) number of uses by one micro-batch */
    int64_t *released;      /* (L) time of the last release */
    bool *resident;         /* (L) the weights are gathered */
    int64_t *openings;      /* time of the first use of each gather so far */
    int32_t opening_count;
    int64_t *begins[2]; /* (members + 1) first sample of each sender and each receiver */
};

static yk_status add_use(struct writing *writing, struct use use)
{
    struct yk_step_ops_entry entry =
        yk_step_ops_make_entry(writing->program, use.kind, use.layer, use.micro_batch);
    entry.time = use.start;
    entry.op.backward = use.kind != YK_OP_FORWARD;
    writing->uses[writing->use_count++] = use;
    return yk_step_ops_add(writing->step_ops, entry);
}

/* Adds the passes of the layers of a segment: in their order, or in reverse order for backward. */
static yk_status add_pass(struct writing *writing, const struct yk_pipeline_pass *pass)
{
    const struct yk_program *program = writing->program;
    const struct yk_pipeline_segment *segment = &writing->table.segments[pass->segment];
    const int32_t n = segment->layer_count;
    for (int32_t i = 0; i < n; i++) {
        const int32_t layer = segment->first_layer + (pass->backward ? n - 1 - i : i);
        struct use use = {
            .start = yk_pipeline_schedule_layer_start(pass, 2 * i, 2 * n),
            .end = yk_pipeline_schedule_layer_start(pass, 2 * i + 2, 2 * n),
            .layer = layer,
            .micro_batch = pass->micro_batch,
            .kind = pass->backward ? YK_OP_BACKWARD : YK_OP_FORWARD,
        };
        if (pass->backward && !writing->facts->goes_backward[layer]) {
            continue;
        }
        if (pass->backward && program->plan->layers[layer].recompute) {
            struct use again = use;
            again.kind = YK_OP_RECOMPUTE;
            again.end = use.start = yk_pipeline_schedule_layer_start(pass, 2 * i + 1, 2 * n);
            YK_TRY(add_use(writing, again));
        }
        YK_TRY(add_use(writing, use));
    }
    return YK_OK;
}

/* Counts the uses of each layer's weights by one micro-batch. */
static void count_uses(struct writing *writing)
{
    const struct yk_program *program = writing->program;
    for (int32_t l = 0; l < program->plan->layer_count; l++) {
        const int32_t leader = program->layers[l].weights_owner;
        const int32_t passes = writing->facts->goes_backward[l] ? 2 : 1;
        writing->uses_of_batch[l] += passes;
        if (leader != l) {
            writing->uses_of_batch[leader] += passes;
        }
    }
}

/* Adds a gather. It runs `prefetch` gathers ahead, but not before the last release of the layer. */
static yk_status open_weights(struct writing *writing, int32_t layer, const struct use *use)
{
    const struct yk_program *program = writing->program;
    const int32_t ahead = program->plan->prefetch;
    struct yk_step_ops_entry entry = yk_step_ops_make_block_entry(
        program, YK_OP_ALL_GATHER, layer, 0, program->layers[layer].block_count);
    const int32_t number = writing->opening_count++;
    writing->openings[number] = use->start;
    entry.time = number >= ahead ? writing->openings[number - ahead] : writing->uses[0].start;
    entry.time = entry.time < writing->released[layer] ? writing->released[layer] : entry.time;
    entry.op.micro_batch = use->micro_batch;
    entry.op.backward = use->kind != YK_OP_FORWARD;
    writing->resident[layer] = true;
    return yk_step_ops_add(writing->step_ops, entry);
}

static yk_status close_weights(struct writing *writing, int32_t layer, const struct use *use)
{
    struct yk_step_ops_entry entry =
        yk_step_ops_make_entry(writing->program, YK_OP_RELEASE, layer, use->micro_batch);
    entry.time = use->end;
    entry.op.backward = use->kind != YK_OP_FORWARD;
    writing->resident[layer] = false;
    writing->released[layer] = use->end;
    return yk_step_ops_add(writing->step_ops, entry);
}

static yk_status use_weights(struct writing *writing, int32_t layer, const struct use *use)
{
    const struct yk_program *program = writing->program;
    if (!yk_message_layout_gathers_layer_weights(program, layer)) {
        return YK_OK;
    }
    if (!writing->resident[layer]) {
        YK_TRY(open_weights(writing, layer, use));
    }
    if (use->kind == YK_OP_RECOMPUTE) {
        return YK_OK;
    }
    writing->used[layer]++;
    writing->begun[layer] += use->kind == YK_OP_FORWARD && use->layer == layer ? 1 : 0;
    const bool wanted =
        yk_message_layout_keeps_gathered_weights(program, layer) &&
        writing->used[layer] < writing->begun[layer] * writing->uses_of_batch[layer];
    return wanted ? YK_OK : close_weights(writing, layer, use);
}

static yk_status add_gathers(struct writing *writing)
{
    for (int32_t i = 0; i < writing->use_count; i++) {
        const struct use *use = &writing->uses[i];
        const int32_t leader = writing->program->layers[use->layer].weights_owner;
        YK_TRY(use_weights(writing, use->layer, use));
        if (leader != use->layer) {
            YK_TRY(use_weights(writing, leader, use));
        }
    }
    return YK_OK;
}

/* True if the layer's gradient is the last one of its bucket. */
static bool completes_bucket(const struct yk_program_facts *facts, int32_t layer)
{
    if (facts->bucket[layer] < 0) {
        return false;
    }
    const struct yk_gradient_bucket *bucket = &facts->program->buckets[facts->bucket[layer]];
    return bucket->layers[bucket->layer_count - 1] == layer;
}

/* A layer's gradient is complete after its own backward pass: the other layers that use its weights
 * come later in the model, so their backward passes come first. */
static yk_status add_reductions(struct writing *writing)
{
    const struct yk_program *program = writing->program;
    for (int32_t i = 0; i < writing->use_count; i++) {
        const struct use *use = &writing->uses[i];
        if (use->kind != YK_OP_BACKWARD ||
            !yk_program_facts_reduces_after_micro_batch(writing->facts, use->micro_batch)) {
            continue;
        }
        struct yk_step_ops_entry entry;
        if (yk_message_layout_reduce_scatters_gradient(program, use->layer)) {
            entry = yk_step_ops_make_block_entry(program, YK_OP_REDUCE_SCATTER, use->layer, 0,
                                                 program->layers[use->layer].block_count);
            entry.op.micro_batch = use->micro_batch;
        } else if (completes_bucket(writing->facts, use->layer)) {
            entry = yk_step_ops_make_bucket_entry(program, writing->facts->bucket[use->layer],
                                                  use->micro_batch);
        } else {
            continue;
        }
        entry.time = use->end;
        YK_TRY(yk_step_ops_add(writing->step_ops, entry));
    }
    return YK_OK;
}

/* Updates come last, in the order of the gradients. Each is followed by the gather of new weights.
 */
static yk_status add_updates(struct writing *writing, int32_t group)
{
    const struct yk_program *program = writing->program;
    const bool barrier = yk_plan_has_update_barrier(program->plan);
    const int64_t end = barrier ? writing->table.end : writing->uses[writing->use_count - 1].end;
    for (int32_t l = program->plan->layer_count - 1; l >= 0; l--) {
        if (program->plan->layers[l].group != group || program->layers[l].gradient_bytes <= 0) {
            continue;
        }
        struct yk_step_ops_entry update = yk_step_ops_make_entry(program, YK_OP_UPDATE, l, 0);
        update.time = end;
        YK_TRY(yk_step_ops_add(writing->step_ops, update));
        if (yk_message_layout_gathers_updated_weights(program, l)) {
            struct yk_step_ops_entry gather = yk_step_ops_make_block_entry(
                program, YK_OP_ALL_GATHER, l, 0, program->layers[l].block_count);
            gather.time = end;
            gather.phase = YK_STEP_PHASE_UPDATE;
            gather.op.step = 1;
            YK_TRY(yk_step_ops_add(writing->step_ops, gather));
        }
    }
    return YK_OK;
}

static yk_status write_group(struct writing *writing, int32_t group)
{
    writing->use_count = 0;
    writing->opening_count = 0;
    for (int32_t i = 0; i < writing->table.pass_count; i++) {
        const struct yk_pipeline_pass *pass = &writing->table.passes[i];
        if (writing->table.segments[pass->segment].group == group) {
            YK_TRY(add_pass(writing, pass));
        }
    }
    if (writing->use_count == 0) {
        return YK_OK;
    }
    YK_TRY(add_gathers(writing));
    YK_TRY(add_reductions(writing));
    return add_updates(writing, group);
}

static yk_status add_send(struct writing *writing, int64_t time, struct yk_step_ops_entry entry,
                          int32_t from_group, int32_t to_group)
{
    const struct yk_plan *plan = writing->program->plan;
    const struct yk_plan_group *from = &plan->groups[from_group];
    const struct yk_plan_group *to = &plan->groups[to_group];
    const int64_t *sent = writing->begins[0];
    const int64_t *received = writing->begins[1];
    entry.time = time;
    entry.group = -1;
    yk_plan_group_sample_ranges(plan, from_group, entry.op.micro_batch, writing->begins[0]);
    yk_plan_group_sample_ranges(plan, to_group, entry.op.micro_batch, writing->begins[1]);
    for (int32_t i = 0, first = 0; i < from->member_count; i++) {
        while (first < to->member_count && received[first + 1] <= sent[i]) {
            first++; /* receives nothing from this member or a later one */
        }
        for (int32_t j = first; j < to->member_count && received[j] < sent[i + 1]; j++) {
            const int64_t begin = sent[i] > received[j] ? sent[i] : received[j];
            const int64_t end = sent[i + 1] < received[j + 1] ? sent[i + 1] : received[j + 1];
            entry.sender = from->members[i].rank;
            entry.receiver = to->members[j].rank;
            entry.op.samples = end - begin;
            if (end > begin && entry.sender != entry.receiver) {
                YK_TRY(yk_step_ops_add(writing->step_ops, entry));
            }
        }
    }
    return yk_deadline_check(writing->program->deadline);
}

/* The output of a layer is sent right after its forward pass to each other group that uses it. Its
 * gradient is sent back after the backward pass of the first consumer. */
static yk_status add_sends(struct writing *writing, const struct use *use)
{
    const struct yk_program *program = writing->program;
    for (int32_t c = 0; c < writing->facts->crossing_count; c++) {
        const struct yk_rank_group_crossing *crossing = &writing->facts->crossings[c];
        const bool forward = use->kind == YK_OP_FORWARD && crossing->producer == use->layer;
        const bool backward = use->kind == YK_OP_BACKWARD && crossing->consumer == use->layer &&
                              writing->facts->goes_backward[crossing->producer];
        if (forward || backward) {
            struct yk_step_ops_entry entry =
                yk_step_ops_make_entry(program, YK_OP_SEND, crossing->producer, use->micro_batch);
            const int32_t producer = program->plan->layers[crossing->producer].group;
            entry.op.backward = backward;
            entry.op.crossing = c;
            YK_TRY(add_send(writing, use->end, entry, forward ? producer : crossing->group,
                            forward ? crossing->group : producer));
        }
    }
    return YK_OK;
}

static yk_status allocate_arrays(struct writing *writing)
{
    const struct yk_plan *plan = writing->program->plan;
    const int64_t L = plan->layer_count;
    for (int i = 0; i < 2; i++) {
        YK_TRY_NEW(writing->arena, writing->begins[i], plan->rank_count + 1);
    }
    YK_TRY_NEW(writing->arena, writing->uses, 3 * L * plan->micro_batches);
    YK_TRY_NEW(writing->arena, writing->openings, 6 * L * plan->micro_batches);
    YK_TRY_NEW(writing->arena, writing->used, L);
    YK_TRY_NEW(writing->arena, writing->begun, L);
    YK_TRY_NEW(writing->arena, writing->uses_of_batch, L);
    YK_TRY_NEW(writing->arena, writing->released, L);
    YK_TRY_NEW(writing->arena, writing->resident, L);
    return YK_OK;
}

static yk_status add_all_loads(struct writing *writing)
{
    const int32_t M = writing->program->plan->micro_batches;
    int64_t *times = NULL;
    YK_TRY_NEW(writing->arena, times, M);
    for (int32_t i = 0; i < writing->table.pass_count; i++) {
        const struct yk_pipeline_pass *pass = &writing->table.passes[i];
        if (pass->segment == 0 && !pass->backward) {
            times[pass->micro_batch] = pass->start;
        }
    }
    return yk_step_ops_add_load_ops(writing->facts, times, writing->step_ops);
}

yk_status yk_step_ops_add_all_from_pipeline(const struct yk_program_facts *facts,
                                            struct yk_arena *arena, struct yk_step_ops *step_ops)
{
    struct writing writing = {
        .facts = facts, .program = facts->program, .arena = arena, .step_ops = step_ops};
    YK_TRY(yk_pipeline_schedule_make(facts->program, arena, &writing.table));
    YK_TRY(allocate_arrays(&writing));
    count_uses(&writing);
    for (int32_t g = 0; g < facts->plan->group_count; g++) {
        YK_TRY(write_group(&writing, g));
        for (int32_t i = 0; i < writing.use_count; i++) {
            YK_TRY(add_sends(&writing, &writing.uses[i]));
        }
    }
    YK_TRY(yk_step_ops_add_agree_op(facts->program, writing.table.end, step_ops));
    return add_all_loads(&writing);
}
