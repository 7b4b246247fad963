/* DDP: a Python file that trains a Hugging Face model with DistributedDataParallel, every rank
 * taking its planned share. */
#include "export/data_parallel.h"
#include "export/export.h"
#include "export/export_job.h"
#include "export/python.h"

static const char imports[] =
    "\nimport contextlib\n"
    "\nimport torch\n"
    "import torch.distributed as dist\n"
    "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper\n"
    "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
    "from torch.nn.parallel import DistributedDataParallel\n\n";

static const char kind[] = "    kind = next(model.parameters()).device.type\n";

static const char passes[] =
    "        quiet = NO_SYNC and k < MICRO_BATCHES - 1\n"
    "        with model.no_sync() if quiet else contextlib.nullcontext():\n"
    "            with torch.autocast(kind, dtype=DTYPE, enabled=DTYPE is not None):\n"
    "                loss = loss_function(model, taken[k]) * weight\n"
    "            (scaler.scale(loss) if scaler else loss).backward()\n";

static const char clip[] =
    "        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)\n";

static void add_recomputed(struct yk_text *out, const struct yk_plan *plan,
                           const struct yk_model *model)
{
    yk_text_add(out, "RECOMPUTED = [\n");
    for (int32_t i = 0; i < plan->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        for (int32_t m = 0; plan->layers[i].recompute && m < layer->module_count; m++) {
            yk_text_add(out, "    ");
            yk_text_add_json_string(out, layer->modules[m]);
            yk_text_add(out, ",\n");
        }
    }
    yk_text_add(out, "]\n");
}

/* The bucket size in MiB may be a fraction; 0 would mean the default of PyTorch. */
static void add_bucket(struct yk_text *out, const struct yk_plan *plan)
{
    const double mebibyte = 1048576;
    yk_text_add(out, "BUCKET_MIB = ");
    yk_text_add_number(out, plan->bucket_bytes >= 1 ? plan->bucket_bytes / mebibyte : 1 / mebibyte);
    yk_text_add(out, "\n");
}

static void add_notes(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    yk_data_parallel_add_idle_rank_notes(job);
    yk_export_job_add_layers_note(
        job, yk_data_parallel_layer_is_sharded,
        "planned in parts, but DDP keeps every layer whole on every rank, "
        "16 bytes a parameter; the "
        "plan's memory does not hold. Export to fsdp instead.");
    yk_export_job_add_note_if(job, yk_python_torch_dtype_text(plan->workload.precision),
                              "Parameters and gradients stay fp32 under autocast, 4 bytes a "
                              "parameter where 2 are planned; with NCCL gradients travel in 16 "
                              "bit.");
    yk_export_job_add_note(
        job, "DDP closes its first bucket at 1 MiB, and fills buckets by the order in "
             "which gradients were ready in the first step.");
    yk_export_job_add_note_if(job, plan->transfer_count > 0,
                              "The plan's order of transfers is not said: DDP reduces a bucket as "
                              "soon as it is full.");
    yk_data_parallel_add_lora_note(job);
    yk_python_add_training_step_notes(job);
}

static yk_status write_ddp(const struct yk_export_job *job)
{
    struct yk_text *out = job->out;
    add_notes(job);
    yk_python_add_file_head(job, imports);
    add_bucket(out, job->plan);
    add_recomputed(out, job->plan, job->model);
    yk_text_addf(out, "\n\n%s\n\n%s", yk_python_shared_py, yk_python_ddp_py);
    yk_python_add_training_step_function(out, kind, passes, clip);
    return YK_OK;
}

const struct yk_exporter yk_exporter_ddp = {
    .name = "ddp",
    .summary = "Python for PyTorch's DistributedDataParallel",
    .file = "plan_ddp.py",
    .write = write_ddp,
};
