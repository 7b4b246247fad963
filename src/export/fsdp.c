/* FSDP: a Python file that shards a Hugging Face model with torch.distributed.fsdp.fully_shard, a
 * layer at a time, as planned. */
#include "export/data_parallel.h"
#include "export/export.h"
#include "export/fsdp_prefetch.h"
#include "export/python.h"
#include "export/text.h"

#include "base/units.h"

static const char imports[] =
    "\nimport torch\n"
    "import torch.distributed as dist\n"
    "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper\n"
    "from torch.distributed.device_mesh import init_device_mesh\n"
    "from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard\n\n";

static const char apply[] =
    "\n\ndef _modules(model, layer):\n"
    "    found = []\n"
    "    for name in layer[\"modules\"]:\n"
    "        module = model.get_submodule(name)\n"
    "        if any(True for _ in module.parameters()) and module not in found:\n"
    "            found.append(module)\n"
    "    return found\n"
    "\n\ndef apply(model, mesh=None):\n"
    "    \"\"\"Shards `model` in place over `mesh`, one dimension of RANKS; before the optimizer "
    "is\n"
    "    made. Every rank has its device set by then.\"\"\"\n"
    "    kind = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
    "    mesh = init_device_mesh(kind, (RANKS,)) if mesh is None else mesh\n"
    "    if mesh.size() != RANKS:\n"
    "        raise ValueError(f\"the plan is for {RANKS} ranks, not for {mesh.size()}\")\n"
    "    torch.backends.cuda.matmul.allow_tf32 = TF32\n"
    "    copies = None\n"
    "    if ROOT_REPLICATED or any(layer[\"replicated\"] for layer in LAYERS):\n"
    "        # As many copies as ranks, each in one part: replicated.\n"
    "        copies = init_device_mesh(\n"
    "            mesh.device_type, (RANKS, 1), mesh_dim_names=(\"replicate\", \"shard\")\n"
    "        )\n"
    "    policy = MixedPrecisionPolicy(param_dtype=DTYPE, reduce_dtype=DTYPE)\n"
    "    recompute(model, [n for layer in LAYERS if layer[\"recompute\"] for n in "
    "layer[\"modules\"]])\n"
    "    units = {}\n"
    "    for layer in LAYERS:\n"
    "        modules = [] if layer[\"in_root\"] else _modules(model, layer)\n"
    "        if modules:\n"
    "            fully_shard(\n"
    "                modules if len(modules) > 1 else modules[0],\n"
    "                mesh=copies if layer[\"replicated\"] else mesh,\n"
    "                reshard_after_forward=layer[\"reshard_after_forward\"],\n"
    "                mp_policy=policy,\n"
    "            )\n"
    "            units[layer[\"name\"]] = modules[0]\n"
    "    fully_shard(\n"
    "        model,\n"
    "        mesh=copies if ROOT_REPLICATED else mesh,\n"
    "        reshard_after_forward=False,\n"
    "        mp_policy=policy,\n"
    "    )\n"
    "    for layer in LAYERS:\n"
    "        unit = model if layer[\"in_root\"] else units.get(layer[\"name\"])\n"
    "        ahead = [units[name] for name in layer[\"forward_prefetch\"] if name in units]\n"
    "        behind = [units[name] for name in layer[\"backward_prefetch\"] if name in units]\n"
    "        if unit is not None and ahead:\n"
    "            unit.set_modules_to_forward_prefetch(ahead)\n"
    "        if unit is not None and behind:\n"
    "            unit.set_modules_to_backward_prefetch(behind)\n"
    "    for module in model.modules():\n"
    "        # Averages are not the same on every backend; sums that are divided are.\n"
    "        if isinstance(module, FSDPModule) and hasattr(\n"
    "            module, \"set_force_sum_reduction_for_comms\"\n"
    "        ):\n"
    "            module.set_force_sum_reduction_for_comms(True)\n"
    "    model.yoke_state_units = [\n"
    "        units[layer[\"name\"]]\n"
    "        for layer in LAYERS\n"
    "        if layer[\"strategy\"] == \"sharded-state\" and layer[\"name\"] in units\n"
    "    ]\n"
    "    return model\n";

static const char clip[] =
    "\n\ndef clip(model):\n"
    "    \"\"\"Clips by the norm over all layers, which are on two meshes where some are "
    "replicated.\"\"\"\n"
    "    meshes = {}\n"
    "    for parameter in model.parameters():\n"
    "        if parameter.grad is not None:\n"
    "            meshes.setdefault(parameter.grad.device_mesh, []).append(parameter)\n"
    "    norms = [\n"
    "        torch.nn.utils.get_total_norm([p.grad for p in parameters]).full_tensor()\n"
    "        for parameters in meshes.values()\n"
    "    ]\n"
    "    total = torch.linalg.vector_norm(torch.stack(norms))\n"
    "    for parameters in meshes.values():\n"
    "        torch.nn.utils.clip_grads_with_norm_(parameters, CLIP_NORM, total)\n"
    "    return total\n";

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
                      const struct yk_fsdp_prefetch *prefetch, int32_t number)
{
    const struct yk_layer *layer = &model->layers[number];
    const enum yk_strategy strategy = yk_plan_strategy(plan, number);
    yk_text_addf(out, "    {\"name\": \"%s\", \"modules\": ", layer->name);
    yk_python_add_names(out, layer->modules, layer->module_count);
    yk_text_addf(out,
                 ", \"strategy\": \"%s\", \"replicated\": %s, \"reshard_after_forward\": %s, "
                 "\"in_root\": %s, \"recompute\": %s, \"forward_prefetch\": ",
                 yk_plan_strategy_name(strategy), yk_python_truth(strategy == YK_REPLICATED),
                 yk_python_truth(strategy == YK_FULLY_SHARDED && !prefetch->in_root[number]),
                 yk_python_truth(prefetch->in_root[number]),
                 yk_python_truth(plan->layers[number].recompute));
    add_started(out, plan, model, prefetch->forward, number);
    yk_text_add(out, ", \"backward_prefetch\": ");
    add_started(out, plan, model, prefetch->backward, number);
    yk_text_add(out, "},\n");
}

static bool is_state_sharded(const struct yk_plan *plan, int32_t layer)
{
    return yk_plan_strategy(plan, layer) == YK_SHARDED_STATE;
}

/* Notes the sentence after the layers it is about, if there are any. */
static void note_layers(const struct yk_plan *plan, const struct yk_model *model,
                        bool (*is_one)(const struct yk_plan *plan, int32_t layer),
                        const char *sentence, struct yk_text *notes)
{
    struct yk_text layers = {0};
    if (yk_export_text_add_layers(&layers, plan, model, is_one) > 0) {
        yk_export_text_note(notes, "%s: %s", yk_text_chars(&layers), sentence);
    }
    notes->failed |= layers.failed;
    yk_text_free(&layers);
}

static void add_notes(const struct yk_plan *plan, const struct yk_model *model,
                      const struct yk_cluster *cluster, const struct yk_plan_group *group,
                      struct yk_text *notes)
{
    char block[YK_UNITS_SIZE];
    yk_units_format(plan->block_bytes, YK_UNIT_BYTES, block);
    yk_data_parallel_note_ranks(plan, cluster, group, notes);
    yk_data_parallel_note_parts(plan, group, "FSDP", notes);
    note_layers(plan, model, is_state_sharded,
                "sharded-state keeps parameters whole all the time; FSDP drops them after the last "
                "backward and gathers them again for the next forward, which is as much traffic.",
                notes);
    if (yk_python_type(plan->workload.precision)) {
        note_layers(plan, model, yk_data_parallel_is_replicated,
                    "replicated layers are kept in fp32 and cast when they are used, 2 bytes a "
                    "parameter more than planned.",
                    notes);
    }
    yk_export_text_note(
        notes,
        "FSDP gathers and scatters a layer as one message, and reduces each replicated "
        "layer by itself: blocks of %s and buckets are not cut or fused.",
        block);
    yk_data_parallel_note_adapters(plan, notes);
    yk_python_note_step(plan, notes);
}

static bool is_root_replicated(const struct yk_plan *plan, const struct yk_fsdp_prefetch *prefetch)
{
    return prefetch->root_first >= 0 &&
           yk_plan_strategy(plan, prefetch->root_first) == YK_REPLICATED;
}

static yk_status write_file(const struct yk_plan *plan, const struct yk_model *model,
                            const struct yk_cluster *cluster, struct yk_arena *arena,
                            struct yk_text *out, struct yk_text *notes)
{
    const struct yk_plan_group *group = NULL;
    struct yk_fsdp_prefetch prefetch = {0};
    YK_TRY(yk_data_parallel_group(plan, "fsdp", &group));
    add_notes(plan, model, cluster, group, notes);
    YK_TRY(yk_fsdp_prefetch_find(plan, model, arena, notes, &prefetch));
    yk_export_text_add_header(out, plan, notes);
    yk_text_add(out, "#\n# Use: apply(model), then an optimizer, a DataLoader with Shares, and "
                     "step().\n");
    yk_text_add(out, imports);
    yk_python_add_numbers(out, plan, cluster, group);
    yk_text_addf(out, "ROOT_REPLICATED = %s\nLAYERS = [\n",
                 yk_python_truth(is_root_replicated(plan, &prefetch)));
    for (int32_t i = 0; i < plan->layer_count; i++) {
        add_layer(out, plan, model, &prefetch, i);
    }
    yk_text_add(out, "]\n");
    yk_python_add_sharing(out);
    yk_text_add(out, apply);
    yk_text_add(out, clip);
    yk_python_add_step(out, "", passes, "        clip(model)\n");
    YK_TRY(yk_text_status(notes));
    return yk_text_status(out);
}

static yk_status write_fsdp(const struct yk_plan *plan, const struct yk_model *model,
                            const struct yk_cluster *cluster, struct yk_text *out,
                            struct yk_text *notes)
{
    YK_TRY_IN_ARENA(arena, write_file(plan, model, cluster, arena, out, notes));
    return YK_OK;
}

const struct yk_exporter yk_exporter_fsdp = {
    .name = "fsdp",
    .summary = "Python for PyTorch's fully_shard, a strategy for every layer",
    .file = "plan_fsdp.py",
    .write = write_fsdp,
};
