/* Step ops of a plan with transfers: one group, one micro-batch, communication in the slots of the
 * plan. The time of an op is the number of its slot. */
#include "base/number.h"
#include "program/compile/step_ops.h"
#include "program/message_layout.h"

struct slotting {
    const struct yk_program_facts *facts;
    const struct yk_program *program;
    struct yk_step_ops *step_ops;
    /* (L) Slots are counted from the layer's backward pass, modulo the number of slots: */
    int32_t
        *last_reduction; /* slot of its last reduce_scatter or all_reduce; −1: none is planned */
    int32_t *first_gather; /* slot of its first all_gather for forward; −1: none */
};

static int32_t backward_slot(const struct yk_plan *plan, int32_t layer)
{
    return 2 * plan->layer_count - layer;
}

/* The number of slots from the layer's backward pass to `slot`, modulo the number of slots. */
static int32_t after_backward(const struct yk_plan *plan, int32_t layer, int32_t slot)
{
    const int32_t slots = yk_plan_slot_count(plan);
    return (slot - backward_slot(plan, layer) + slots) % slots;
}

static bool is_for_backward(const struct yk_plan *plan, const struct yk_plan_transfer *transfer)
{
    return transfer->kind == YK_TRANSFER_ALL_GATHER && transfer->slot > transfer->layer &&
           transfer->slot < backward_slot(plan, transfer->layer);
}

static yk_status add_passes(const struct slotting *slotting)
{
    const struct yk_program *program = slotting->program;
    const struct yk_plan *plan = program->plan;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        struct yk_step_ops_entry entry = yk_step_ops_make_entry(program, YK_OP_FORWARD, l, 0);
        entry.time = l;
        YK_TRY(yk_step_ops_add(slotting->step_ops, entry));
        if (!slotting->facts->goes_backward[l]) {
            continue;
        }
        entry = yk_step_ops_make_entry(program, YK_OP_RECOMPUTE, l, 0);
        entry.time = backward_slot(plan, l);
        entry.op.backward = true;
        if (plan->layers[l].recompute) {
            YK_TRY(yk_step_ops_add(slotting->step_ops, entry));
        }
        entry.op.kind = YK_OP_BACKWARD;
        YK_TRY(yk_step_ops_add(slotting->step_ops, entry));
    }
    return YK_OK;
}

/* The slot of the last pass of the step that uses a layer's weights: its own backward pass, or the
 * last pass of the last layer that uses them. */
static int32_t last_use_slot(const struct yk_program_facts *facts, int32_t layer)
{
    const int32_t user = facts->program->layers[layer].last_user;
    if (facts->goes_backward[layer]) {
        return backward_slot(facts->plan, layer);
    }
    return facts->goes_backward[user] ? backward_slot(facts->plan, user) : user;
}

static yk_status add_release(const struct slotting *slotting, int32_t layer, int32_t slot,
                             bool backward)
{
    struct yk_step_ops_entry entry =
        yk_step_ops_make_entry(slotting->program, YK_OP_RELEASE, layer, 0);
    entry.time = slot;
    entry.phase = YK_STEP_PHASE_RELEASE_IN_SLOT;
    entry.op.backward = backward;
    return yk_step_ops_add(slotting->step_ops, entry);
}

static yk_status add_releases(const struct slotting *slotting)
{
    const struct yk_program *program = slotting->program;
    for (int32_t l = 0; l < program->plan->layer_count; l++) {
        const int32_t last = last_use_slot(slotting->facts, l);
        if (!yk_message_layout_gathers_layer_weights(program, l)) {
            continue;
        }
        if (!yk_message_layout_keeps_gathered_weights(program, l) && last != l) {
            YK_TRY(add_release(slotting, l, l, false));
        }
        YK_TRY(add_release(slotting, l, last, last != l));
    }
    return YK_OK;
}

static struct yk_step_ops_entry entry_of(const struct slotting *slotting,
                                         const struct yk_plan_transfer *transfer)
{
    const struct yk_program *program = slotting->program;
    if (transfer->kind == YK_TRANSFER_ALL_REDUCE) {
        return yk_step_ops_make_bucket_entry(program, slotting->facts->bucket[transfer->layer], 0);
    }
    const int32_t joined = program->layers[transfer->layer].plan_blocks;
    return yk_step_ops_make_block_entry(
        program, transfer->kind == YK_TRANSFER_ALL_GATHER ? YK_OP_ALL_GATHER : YK_OP_REDUCE_SCATTER,
        transfer->layer, transfer->first_block / joined, transfer->block_count / joined);
}

/* A reduction in a forward slot belongs to the previous step. A gather for forward in a backward
 * slot belongs to the next step. */
static int8_t step_of(const struct yk_plan *plan, const struct yk_plan_transfer *transfer)
{
    const bool in_forward = transfer->slot <= plan->layer_count;
    if (transfer->kind == YK_TRANSFER_ALL_GATHER) {
        return in_forward || is_for_backward(plan, transfer) ? 0 : 1;
    }
    return in_forward ? -1 : 0;
}

static void note(struct slotting *slotting, const struct yk_plan_transfer *transfer)
{
    const struct yk_plan *plan = slotting->program->plan;
    const int32_t after = after_backward(plan, transfer->layer, transfer->slot);
    int32_t *last = &slotting->last_reduction[transfer->layer];
    int32_t *first = &slotting->first_gather[transfer->layer];
    if (transfer->kind != YK_TRANSFER_ALL_GATHER) {
        *last = after > *last ? after : *last;
    } else if (!is_for_backward(plan, transfer)) {
        *first = *first < 0 || after < *first ? after : *first;
    }
}

/*
 * The slot of a transfer. All blocks of a layer are updated together. So its new weights are
 * gathered after the slot of its last reduction, or in the slot of the agreement if there is one,
 * even if the plan has an earlier slot for some blocks.
 */
static int32_t slot_of(const struct slotting *slotting, const struct yk_plan_transfer *transfer)
{
    const struct yk_plan *plan = slotting->program->plan;
    const int32_t slots = yk_plan_slot_count(plan);
    const int32_t backward = backward_slot(plan, transfer->layer);
    const int32_t scattered = slotting->last_reduction[transfer->layer];
    if (transfer->kind != YK_TRANSFER_ALL_GATHER || is_for_backward(plan, transfer) ||
        scattered < 0) {
        return transfer->slot;
    }
    const int32_t soonest = yk_plan_has_update_barrier(plan) ? slots - 1 - backward : scattered + 1;
    const int32_t planned = after_backward(plan, transfer->layer, transfer->slot);
    return planned < soonest ? (backward + soonest) % slots : transfer->slot;
}

static yk_status add_transfer(struct slotting *slotting, struct yk_plan_transfer transfer)
{
    const struct yk_plan *plan = slotting->program->plan;
    transfer.slot = slot_of(slotting, &transfer);
    struct yk_step_ops_entry entry = entry_of(slotting, &transfer);
    entry.time = transfer.slot;
    entry.op.step = step_of(plan, &transfer);
    entry.op.backward = is_for_backward(plan, &transfer);
    /* In one slot, transfers keep the order of the plan; reductions precede an agreement. */
    entry.phase = yk_plan_has_update_barrier(plan) && transfer.kind != YK_TRANSFER_ALL_GATHER
                      ? YK_STEP_PHASE_REDUCE
                      : YK_STEP_PHASE_ALL_GATHER;
    note(slotting, &transfer);
    return yk_step_ops_add(slotting->step_ops, entry);
}

static yk_status add_transfers(struct slotting *slotting)
{
    const struct yk_plan *plan = slotting->program->plan;
    for (int32_t i = 0; i < plan->transfer_count; i++) {
        if (plan->transfers[i].kind != YK_TRANSFER_ALL_GATHER) {
            note(slotting, &plan->transfers[i]);
        }
    }
    for (int32_t i = 0; i < plan->transfer_count; i++) {
        const struct yk_plan_transfer *transfer = &plan->transfers[i];
        const bool bucketed = transfer->kind == YK_TRANSFER_ALL_REDUCE;
        /* A layer that is not trained has no bucket. */
        if (!bucketed || slotting->facts->bucket[transfer->layer] >= 0) {
            YK_TRY(add_transfer(slotting, *transfer));
        }
    }
    return YK_OK;
}

/* Buckets without a transfer in the plan are reduced as early as possible. */
static yk_status add_other_reductions(struct slotting *slotting)
{
    const struct yk_program *program = slotting->program;
    for (int32_t b = 0; b < program->bucket_count; b++) {
        const struct yk_gradient_bucket *bucket = &program->buckets[b];
        const int32_t last = bucket->layers[bucket->layer_count - 1];
        int32_t after = slotting->last_reduction[last];
        if (after < 0) {
            struct yk_step_ops_entry entry = yk_step_ops_make_bucket_entry(program, b, 0);
            entry.time = backward_slot(program->plan, last) + 1;
            after = 1;
            YK_TRY(yk_step_ops_add(slotting->step_ops, entry));
        }
        /* The gradients of all layers of a bucket are reduced at the same time. */
        for (int32_t i = 0; i < bucket->layer_count; i++) {
            const int32_t layer = bucket->layers[i];
            slotting->last_reduction[layer] =
                after + backward_slot(program->plan, last) - backward_slot(program->plan, layer);
        }
    }
    return YK_OK;
}

/*
 * A layer is updated as late as possible, so that computation does not wait for its gradient: at
 * the end of the iteration; or just before its new weights are gathered, if that is earlier or if
 * the gradient is reduced in the next iteration.
 */
static yk_status add_update(const struct slotting *slotting, int32_t layer)
{
    const struct yk_plan *plan = slotting->program->plan;
    const int32_t slots = yk_plan_slot_count(plan);
    const int32_t end = slots - 1 - backward_slot(plan, layer); /* after backward */
    const int32_t gather = slotting->first_gather[layer];
    const bool late = slotting->last_reduction[layer] > end;
    struct yk_step_ops_entry entry =
        yk_step_ops_make_entry(slotting->program, YK_OP_UPDATE, layer, 0);
    entry.time = yk_plan_has_update_barrier(plan) ? slots - 1 : slots;
    if (late || (gather >= 0 && gather <= end)) {
        const int32_t after = gather >= 0 ? gather : after_backward(plan, layer, layer);
        entry.time = (after + backward_slot(plan, layer)) % slots;
        entry.op.step = late ? -1 : 0;
    }
    return yk_step_ops_add(slotting->step_ops, entry);
}

static yk_status add_updates(const struct slotting *slotting)
{
    const struct yk_program *program = slotting->program;
    for (int32_t l = program->plan->layer_count - 1; l >= 0; l--) {
        if (program->layers[l].gradient_bytes > 0) {
            YK_TRY(add_update(slotting, l));
        }
    }
    return YK_OK;
}

yk_status yk_step_ops_add_all_from_slots(const struct yk_program_facts *facts,
                                         struct yk_arena *arena, struct yk_step_ops *step_ops)
{
    struct slotting slotting = {.facts = facts, .program = facts->program, .step_ops = step_ops};
    const int32_t L = facts->L;
    const int64_t begin = 0;
    YK_TRY_NEW(arena, slotting.last_reduction, L);
    YK_TRY_NEW(arena, slotting.first_gather, L);
    yk_number_fill_int32_array(slotting.last_reduction, L, -1);
    yk_number_fill_int32_array(slotting.first_gather, L, -1);
    YK_TRY(add_passes(&slotting));
    YK_TRY(add_releases(&slotting));
    YK_TRY(add_transfers(&slotting));
    YK_TRY(add_other_reductions(&slotting));
    YK_TRY(add_updates(&slotting));
    YK_TRY(yk_step_ops_add_agree_op(facts->program, yk_plan_slot_count(facts->plan) - 1, step_ops));
    return yk_step_ops_add_load_ops(facts, &begin, step_ops);
}
