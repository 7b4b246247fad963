#include "export/fsdp_prefetch.h"

#include "export/data_parallel.h"
#include "export/text.h"

#include <inttypes.h>

enum {
    NONE = -1
};

struct finding {
    const struct yk_plan *plan;
    struct yk_fsdp_prefetch *out;
    int32_t *gathered; /* (L) those gathered so far, in the order of the pass */
    int32_t early;     /* gathers that are planned before the pass they are for has begun */
    int32_t late;      /* scatters that are planned later than right after backward */
};

static void find_root(const struct yk_plan *plan, const struct yk_model *model,
                      struct yk_fsdp_prefetch *out)
{
    out->root_first = NONE;
    out->root_last = NONE;
    for (int32_t i = 0; i < plan->layer_count; i++) {
        const int32_t shares = model->layers[i].shares;
        if (shares != YK_LAYER_NONE) {
            out->in_root[i] = true;
            out->in_root[shares] = true;
        }
    }
    for (int32_t i = 0; i < plan->layer_count; i++) {
        if (out->in_root[i]) {
            out->root_first = out->root_first == NONE ? i : out->root_first;
            out->root_last = i;
        }
    }
}

/* Whether other gathers can start with the layer's forward, or backward. */
static bool can_start(const struct finding *finding, int32_t layer, bool backward)
{
    const struct yk_fsdp_prefetch *out = finding->out;
    return !out->in_root[layer] || layer == (backward ? out->root_last : out->root_first);
}

/* The nearest layer at or before `layer`, in the order of the pass, that gathers can start with. */
static int32_t find_start(const struct finding *finding, int32_t layer, bool backward)
{
    const int32_t step = backward ? 1 : -1;
    while (layer >= 0 && layer < finding->plan->layer_count &&
           !can_start(finding, layer, backward)) {
        layer += step;
    }
    return layer >= 0 && layer < finding->plan->layer_count ? layer : NONE;
}

/* The layer that the pass begins with. */
static int32_t first_start(const struct finding *finding, bool backward)
{
    const int32_t L = finding->plan->layer_count;
    for (int32_t i = 0; i < L; i++) {
        const int32_t layer = backward ? L - 1 - i : i;
        if (can_start(finding, layer, backward)) {
            return layer;
        }
    }
    return NONE;
}

static bool is_gathered(const struct finding *finding, int32_t layer, bool backward)
{
    const enum yk_strategy strategy = yk_plan_strategy(finding->plan, layer);
    return !finding->out->in_root[layer] &&
           (backward ? strategy == YK_FULLY_SHARDED : strategy != YK_REPLICATED);
}

/* Without an order, a gather starts with the layer whose gather is `prefetch` before it. */
static void find_ahead(struct finding *finding, bool backward)
{
    const struct yk_plan *plan = finding->plan;
    int32_t *sources = backward ? finding->out->backward : finding->out->forward;
    int32_t count = 0;
    for (int32_t i = 0; i < plan->layer_count; i++) {
        const int32_t layer = backward ? plan->layer_count - 1 - i : i;
        if (!is_gathered(finding, layer, backward)) {
            continue;
        }
        const int32_t source = count >= plan->prefetch ? finding->gathered[count - plan->prefetch]
                                                       : first_start(finding, backward);
        sources[layer] = source == layer ? NONE : source;
        finding->gathered[count++] = layer;
    }
}

static bool is_for_backward(const struct yk_plan *plan, const struct yk_plan_transfer *transfer)
{
    return transfer->slot > transfer->layer &&
           transfer->slot < 2 * plan->layer_count - transfer->layer;
}

/* Takes one planned gather over, unless another of the same layer has come before. */
static void take_gather(struct finding *finding, const struct yk_plan_transfer *transfer)
{
    const int32_t L = finding->plan->layer_count;
    const bool backward = is_for_backward(finding->plan, transfer);
    int32_t *source = &(backward ? finding->out->backward : finding->out->forward)[transfer->layer];
    if (finding->out->in_root[transfer->layer] || *source != NONE) {
        return;
    }
    const bool in_pass = backward ? transfer->slot > L : transfer->slot < L;
    if (in_pass) {
        *source = find_start(finding, backward ? 2 * L - transfer->slot : transfer->slot, backward);
    } else {
        *source = first_start(finding, backward);
        finding->early += transfer->slot == L ? 0 : 1; /* the turn is where backward begins */
    }
    if (*source == transfer->layer) {
        *source = NONE;
    }
}

static void take_order(struct finding *finding)
{
    const struct yk_plan *plan = finding->plan;
    const int32_t slots = yk_plan_slot_count(plan);
    /* Gathers that are planned before forward begins stand in the last slots, and come first. */
    for (int32_t begin = 1; begin >= 0; begin--) {
        for (int32_t i = 0; i < plan->transfer_count; i++) {
            const struct yk_plan_transfer *transfer = &plan->transfers[i];
            if (transfer->kind == YK_TRANSFER_ALL_GATHER &&
                (transfer->slot >= 2 * plan->layer_count - transfer->layer) == (begin == 1)) {
                take_gather(finding, transfer);
            }
        }
    }
    for (int32_t i = 0; i < plan->transfer_count; i++) {
        const struct yk_plan_transfer *transfer = &plan->transfers[i];
        const int32_t after =
            (transfer->slot - (2 * plan->layer_count - transfer->layer) + slots) % slots;
        finding->late += transfer->kind != YK_TRANSFER_ALL_GATHER && after > 1 ? 1 : 0;
    }
}

static void note(const struct finding *finding, struct yk_text *notes)
{
    if (finding->early > 0) {
        yk_export_text_note(notes,
                            "%" PRId32 " gathers are planned before the pass that they are for has "
                            "begun; they start with its first layer.",
                            finding->early);
    }
    if (finding->late > 0) {
        yk_export_text_note(notes,
                            "%" PRId32
                            " scatters and reductions are put off in the plan; FSDP starts "
                            "each as soon as its gradient is there.",
                            finding->late);
    }
    if (finding->plan->transfer_count > 0) {
        yk_export_text_note(notes,
                            "The order of gathers is kept layer by layer: FSDP gathers a layer "
                            "whole, with the first of its blocks that is planned.");
    }
}

yk_status yk_fsdp_prefetch_find(const struct yk_plan *plan, const struct yk_model *model,
                                struct yk_arena *arena, struct yk_text *notes,
                                struct yk_fsdp_prefetch *out)
{
    struct finding finding = {.plan = plan, .out = out};
    YK_TRY_NEW(arena, out->in_root, plan->layer_count);
    YK_TRY_NEW(arena, out->forward, plan->layer_count);
    YK_TRY_NEW(arena, out->backward, plan->layer_count);
    YK_TRY_NEW(arena, finding.gathered, plan->layer_count);
    for (int32_t i = 0; i < plan->layer_count; i++) {
        out->forward[i] = NONE;
        out->backward[i] = NONE;
    }
    find_root(plan, model, out);
    if (plan->transfer_count > 0) {
        take_order(&finding);
    } else {
        find_ahead(&finding, false);
        find_ahead(&finding, true);
    }
    note(&finding, notes);
    return YK_OK;
}
