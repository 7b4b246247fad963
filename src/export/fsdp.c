/* FSDP: a Python file that shards a Hugging Face model with torch.distributed.fsdp.fully_shard, a
 * layer at a time, as planned. */
#include "base/number.h"
#include "base/units.h"
#include "export/data_parallel.h"
#include "export/export.h"
#include "export/export_job.h"
#include "export/python.h"

#include <inttypes.h>

/*
 * The order of all_gathers as FSDP knows it, where one starts with the pass of another layer.
 * Layers that share weights are one with the model itself there ("in the root"): gathered when the
 * model's forward begins, kept until it ends.
 */
struct prefetch {
    bool *in_root;      /* (L) */
    int32_t *forward;   /* (L) with whose forward the layer's gather for forward starts, or −1 */
    int32_t *backward;  /* (L) likewise for backward */
    int32_t root_first; /* the first and last layers in the root, or −1 */
    int32_t root_last;
};

enum {
    NONE = -1
};

struct finding {
    const struct yk_plan *plan;
    struct prefetch *out;
    int32_t *gathered; /* (L) those gathered so far, in the order of the pass */
    int32_t early;     /* gathers that are planned before the pass they are for has begun */
    int32_t late;      /* scatters that are planned later than right after backward */
};

static void find_root(const struct yk_plan *plan, const struct yk_model *model,
                      struct prefetch *out)
{
    out->root_first = NONE;
    out->root_last = NONE;
    for (int32_t i = 0; i < plan->layer_count; i++) {
        const int32_t shares = model->layers[i].shares_weights_of;
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
    const struct prefetch *out = finding->out;
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
    const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(finding->plan, layer);
    return !finding->out->in_root[layer] &&
           (backward ? strategy == YK_SHARDING_FULLY_SHARDED : strategy != YK_SHARDING_REPLICATED);
}

/* Without an order, a gather starts with the layer whose gather is `prefetch` before it. */
static void find_default(struct finding *finding, bool backward)
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

/* Adds one planned gather, unless another of the same layer has come before. */
static void add_gather(struct finding *finding, const struct yk_plan_transfer *transfer)
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
        finding->early +=
            transfer->slot == L ? 0 : 1; /* the middle slot is where backward begins */
    }
    if (*source == transfer->layer) {
        *source = NONE;
    }
}

static void follow_order(struct finding *finding)
{
    const struct yk_plan *plan = finding->plan;
    const int32_t slots = yk_plan_slot_count(plan);
    /* Gathers that are planned before forward begins stand in the last slots, and come first. */
    for (int32_t begin = 1; begin >= 0; begin--) {
        for (int32_t i = 0; i < plan->transfer_count; i++) {
            const struct yk_plan_transfer *transfer = &plan->transfers[i];
            if (transfer->kind == YK_TRANSFER_ALL_GATHER &&
                (transfer->slot >= 2 * plan->layer_count - transfer->layer) == (begin == 1)) {
                add_gather(finding, transfer);
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

static void note_order(const struct finding *finding, const struct yk_export_job *job)
{
    yk_export_job_add_note_if(job, finding->early > 0,
                              "%" PRId32
                              " gathers are planned before the pass that they are for has "
                              "begun; they start with its first layer.",
                              finding->early);
    yk_export_job_add_note_if(job, finding->late > 0,
                              "%" PRId32
                              " scatters and reductions are put off in the plan; FSDP starts "
                              "each as soon as its gradient is there.",
                              finding->late);
    yk_export_job_add_note_if(job, finding->plan->transfer_count > 0,
                              "The order of gathers is kept layer by layer: FSDP gathers a layer "
                              "whole, with the first of its blocks that is planned.");
}

/* What is planned and cannot be done goes to the notes. */
static yk_status find_prefetch(const struct yk_export_job *job, struct prefetch *out)
{
    const struct yk_plan *plan = job->plan;
    struct finding finding = {.plan = plan, .out = out};
    YK_TRY_NEW(job->arena, out->in_root, plan->layer_count);
    YK_TRY_NEW(job->arena, out->forward, plan->layer_count);
    YK_TRY_NEW(job->arena, out->backward, plan->layer_count);
    YK_TRY_NEW(job->arena, finding.gathered, plan->layer_count);
    yk_number_fill_int32_array(out->forward, plan->layer_count, NONE);
    yk_number_fill_int32_array(out->backward, plan->layer_count, NONE);
    find_root(plan, job->model, out);
    if (plan->transfer_count > 0) {
        follow_order(&finding);
    } else {
        find_default(&finding, false);
        find_default(&finding, true);
    }
    note_order(&finding, job);
    return YK_OK;
}

/* ---- the file ---- */

static const char imports[] =
    "\nimport torch\n"
    "import torch.distributed as dist\n"
    "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper\n"
    "from torch.distributed.device_mesh import init_device_mesh\n"
    "from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard\n\n";

static const char passes[] = "        last = k == MICRO_BATCHES - 1\n"
                             "        model.set_requires_gradient_sync(last or not NO_SYNC)\n"
                             "        for unit in model.yoke_state_units:\n"
                             "            unit.set_reshard_after_backward(last)\n"
                             "        loss = loss_function(model, taken[k]) * weight\n"
                             "        (scaler.scale(loss) if scaler else loss).backward()\n";

/* The layers whose gather starts with the pass of `layer`; those of the root start with its ends.
 */
static void add_started(struct yk_text *out, const struct yk_plan *plan,
                        const struct yk_model *model, const int32_t *sources, int32_t layer)
{
    bool first = true;
    yk_text_add(out, "[");
    for (int32_t i = 0; i < plan->layer_count; i++) {
        if (sources[i] == layer) {
            yk_text_addf(out, "%s\"%s\"", first ? "" : ", ", model->layers[i].name);
            first = false;
        }
    }
    yk_text_add(out, "]");
}

static void add_layer(struct yk_text *out, const struct yk_plan *plan, const struct yk_model *model,
                      const struct prefetch *prefetch, int32_t number)
{
    const struct yk_layer *layer = &model->layers[number];
    const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(plan, number);
    yk_text_addf(out, "    {\"name\": \"%s\", \"modules\": ", layer->name);
    yk_python_add_string_list(out, layer->modules, layer->module_count);
    yk_text_addf(
        out,
        ", \"strategy\": \"%s\", \"replicated\": %s, \"reshard_after_forward\": %s, "
        "\"in_root\": %s, \"recompute\": %s, \"forward_prefetch\": ",
        yk_plan_strategy_name(strategy), yk_python_bool_text(strategy == YK_SHARDING_REPLICATED),
        yk_python_bool_text(strategy == YK_SHARDING_FULLY_SHARDED && !prefetch->in_root[number]),
        yk_python_bool_text(prefetch->in_root[number]),
        yk_python_bool_text(plan->layers[number].recompute));
    add_started(out, plan, model, prefetch->forward, number);
    yk_text_add(out, ", \"backward_prefetch\": ");
    add_started(out, plan, model, prefetch->backward, number);
    yk_text_add(out, "},\n");
}

static bool is_replicated(const struct yk_plan *plan, int32_t layer)
{
    return yk_plan_effective_strategy(plan, layer) == YK_SHARDING_REPLICATED;
}

static bool is_state_sharded(const struct yk_plan *plan, int32_t layer)
{
    return yk_plan_effective_strategy(plan, layer) == YK_SHARDING_SHARDED_STATE;
}

static void add_notes(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    yk_data_parallel_add_idle_rank_notes(job);
    yk_data_parallel_add_unequal_shards_note(job, "FSDP");
    yk_export_job_add_layers_note(
        job, is_state_sharded,
        "sharded-state keeps parameters whole all the time; FSDP drops them after the last "
        "backward and gathers them again for the next forward, which is as much traffic.");
    if (yk_python_torch_dtype_text(plan->workload.precision)) {
        yk_export_job_add_layers_note(
            job, is_replicated,
            "replicated layers are kept in fp32 and cast when they are used, 2 bytes a "
            "parameter more than planned.");
    }
    yk_export_job_add_note(
        job,
        "FSDP gathers and scatters a layer as one message, and reduces each replicated "
        "layer by itself: blocks of %s and buckets are not cut or fused.",
        YK_UNITS_FORMAT_TEMPORARY(plan->block_bytes, YK_UNIT_BYTES));
    yk_data_parallel_add_lora_note(job);
    yk_python_add_training_step_notes(job);
}

static yk_status write_fsdp(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    struct yk_text *out = job->out;
    struct prefetch prefetch = {0};
    add_notes(job);
    YK_TRY(find_prefetch(job, &prefetch));
    yk_python_add_file_head(job, imports);
    const bool root_replicated =
        prefetch.root_first >= 0 && is_replicated(plan, prefetch.root_first);
    yk_text_addf(out, "ROOT_REPLICATED = %s\nLAYERS = [\n", yk_python_bool_text(root_replicated));
    for (int32_t i = 0; i < plan->layer_count; i++) {
        add_layer(out, plan, job->model, &prefetch, i);
    }
    yk_text_add(out, "]\n");
    yk_text_addf(out, "\n\n%s\n\n%s", yk_python_shared_py, yk_python_fsdp_py);
    yk_python_add_training_step_function(out, "", passes, "        clip(model)\n");
    return YK_OK;
}

const struct yk_exporter yk_exporter_fsdp = {
    .name = "fsdp",
    .summary = "Python for PyTorch's fully_shard, a strategy for every layer",
    .file = "plan_fsdp.py",
    .write = write_fsdp,
};
