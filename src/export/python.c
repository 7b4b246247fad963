#include "export/python.h"

#include "export/data_parallel.h"

#include <inttypes.h>

const char *yk_python_bool_text(bool value)
{
    return value ? "True" : "False";
}

const char *yk_python_torch_dtype_text(enum yk_precision precision)
{
    return precision == YK_PRECISION_BF16   ? "torch.bfloat16"
           : precision == YK_PRECISION_FP16 ? "torch.float16"
                                            : NULL;
}

/* Names of modules are plain ASCII, for which JSON and Python have the same escapes. */
void yk_python_add_string_list(struct yk_text *out, const char *const *names, int32_t count)
{
    yk_text_add(out, "[");
    for (int32_t i = 0; i < count; i++) {
        yk_text_add(out, i > 0 ? ", " : "");
        yk_text_add_json_string(out, names[i]);
    }
    yk_text_add(out, "]");
}

static void add_constants(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    const struct yk_plan_group *group = job->group;
    struct yk_text *out = job->out;
    const char *type = yk_python_torch_dtype_text(plan->workload.precision);
    yk_text_addf(out, "RANKS = %" PRId32 "\nBATCH = %" PRId64 "\nSHARES = [", group->member_count,
                 plan->workload.batch);
    for (int32_t i = 0; i < group->member_count; i++) {
        yk_text_addf(out, "%s%" PRId64, i > 0 ? ", " : "", group->members[i].share);
    }
    yk_text_addf(out, "]\nMICRO_BATCHES = %" PRId32 "\nNO_SYNC = %s\nCLIP_NORM = %s\n",
                 plan->micro_batches, yk_python_bool_text(plan->no_sync),
                 plan->clip ? "1.0" : "None");
    yk_text_addf(out, "DTYPE = %s\nTF32 = %s\n", type ? type : "None",
                 yk_python_bool_text(plan->workload.precision == YK_PRECISION_TF32));
    yk_text_add(out, "LIMIT_BYTES = [\n");
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_group_member *member = &group->members[i];
        yk_text_addf(out, "    %.0f,  # ", plan->ranks[member->rank].limit_bytes);
        yk_export_job_add_comment_safe(out, yk_data_parallel_member_device_name(job, member));
        yk_text_add(out, "\n");
    }
    yk_text_add(out, "]\n");
}

void yk_python_add_file_head(const struct yk_export_job *job, const char *imports)
{
    yk_export_job_add_header_comment(job);
    yk_text_add(job->out,
                "#\n# Use: apply(model), then an optimizer, a DataLoader with Shares, and "
                "step().\n");
    yk_text_add(job->out, imports);
    add_constants(job);
}

static const char step_head[] =
    "\n\ndef step(model, optimizer, batches, loss_function, rank, count_tokens=None, "
    "scaler=None):\n"
    "    \"\"\"One step. `batches` is an iterator over a loader with Shares; loss_function(model, "
    "batch)\n"
    "    is the mean loss of a batch. Returns this rank's part of the batch's mean loss.\"\"\"\n";

static const char step_batches[] =
    "    taken = [next(batches) for _ in range(MICRO_BATCHES)]\n"
    "    tokens = [count_tokens(batch) for batch in taken] if count_tokens else None\n"
    "    loss_sum = 0.0\n"
    "    for k, weight in enumerate(loss_weights(rank, tokens)):\n";

static const char step_loss[] = "        loss_sum += loss.item() / RANKS\n"
                                "    if scaler:\n"
                                "        scaler.unscale_(optimizer)\n"
                                "    if CLIP_NORM is not None:\n";

static const char step_end[] = "    if scaler:\n"
                               "        scaler.step(optimizer)\n"
                               "        scaler.update()\n"
                               "    else:\n"
                               "        optimizer.step()\n"
                               "    optimizer.zero_grad()\n"
                               "    return loss_sum\n";

void yk_python_add_training_step_function(struct yk_text *out, const char *first,
                                          const char *passes, const char *clip)
{
    yk_text_add(out, step_head);
    yk_text_add(out, first);
    yk_text_add(out, step_batches);
    yk_text_add(out, passes);
    yk_text_add(out, step_loss);
    yk_text_add(out, clip);
    yk_text_add(out, step_end);
}

void yk_python_add_training_step_notes(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    yk_export_job_add_note_if(job, plan->clip,
                              "The plan says that gradients are clipped, but not at which norm: "
                              "CLIP_NORM is 1.0 until you change it.");
    yk_export_job_add_note_if(job, plan->workload.precision == YK_PRECISION_FP16,
                              "fp16 needs a loss scaler: give step() a torch.amp.GradScaler.");
    yk_export_job_add_note_if(job, plan->workload.target_sequence > 0,
                              "Targets have %" PRId64
                              " tokens: cut them to that when they are loaded.",
                              plan->workload.target_sequence);
    yk_export_job_add_note(job,
                           "Samples are taken to bear loss on equally many tokens; give step() a "
                           "count_tokens where they do not.");
}
