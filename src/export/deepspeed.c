/* DeepSpeed: a ds_config.json. It has one stage for the whole model and counts in elements. */
#include "base/json_write.h"
#include "export/data_parallel.h"
#include "export/export.h"
#include "export/export_job.h"

#include <inttypes.h>
#include <math.h>

/* Sums over layers that stage 3's thresholds are made of, in parameters. */
struct counts {
    int64_t largest;     /* of one layer */
    int64_t kept;        /* of all that stay gathered from forward to backward */
    int64_t kept_at_end; /* of those after which no other layer comes */
    int32_t of[YK_SHARDING_STRATEGY_COUNT];
};

static struct counts count(const struct yk_plan *plan, const struct yk_model *model)
{
    struct counts counts = {0};
    bool at_end = true;
    for (int32_t i = plan->layer_count - 1; i >= 0; i--) {
        const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(plan, i);
        const int64_t parameters = model->layers[i].parameters;
        counts.of[strategy]++;
        counts.largest = parameters > counts.largest ? parameters : counts.largest;
        counts.kept += strategy == YK_SHARDING_FULLY_SHARDED ? 0 : parameters;
        at_end = at_end && strategy != YK_SHARDING_FULLY_SHARDED;
        counts.kept_at_end += at_end ? parameters : 0;
    }
    return counts;
}

/* Stage 3 where parameters are sharded anywhere: what is planned to be whole then is not. */
static int find_stage(const struct counts *counts)
{
    return counts->of[YK_SHARDING_KEPT_AFTER_FORWARD] + counts->of[YK_SHARDING_FULLY_SHARDED] > 0
               ? 3
           : counts->of[YK_SHARDING_SHARDED_STATE] > 0 ? 2
                                                       : 0;
}

/* The micro-batch that every rank takes; DeepSpeed has one for all. */
static int64_t find_micro_batch(const struct yk_plan *plan, const struct yk_plan_group *group)
{
    const int64_t takers = (int64_t)group->member_count * plan->micro_batches;
    return (plan->workload.batch + takers - 1) / takers;
}

static void add_elements(struct yk_json_writer *json, const char *key, double elements)
{
    yk_json_write_key(json, key);
    yk_text_addf(json->text, "%.0f", fmax(1, ceil(elements)));
}

static void add_stage(struct yk_json_writer *json, const struct yk_plan *plan,
                      const struct counts *counts)
{
    const int stage = find_stage(counts);
    const double width = (double)yk_precision_bytes(plan->workload.precision);
    yk_json_write_begin_object(json, "zero_optimization");
    json->line_indent = 4;
    yk_json_write_integer(json, "stage", stage);
    if (stage > 0) {
        yk_json_write_bool(json, "overlap_comm", true);
        yk_json_write_bool(json, "contiguous_gradients", true);
        add_elements(json, "reduce_bucket_size",
                     fmax(plan->bucket_bytes, plan->block_bytes) / width);
    }
    if (stage == 2) {
        add_elements(json, "allgather_bucket_size", plan->block_bytes / width);
    }
    if (stage == 3) {
        const double prefetched = (double)plan->prefetch * (double)counts->largest;
        add_elements(json, "stage3_prefetch_bucket_size", prefetched);
        add_elements(json, "stage3_max_live_parameters",
                     (double)counts->kept + (double)counts->largest + prefetched);
        /* Between forward and backward of the first of them lie all of them, twice. */
        yk_json_write_integer(json, "stage3_max_reuse_distance", 2 * counts->kept_at_end);
    }
    json->line_indent = 2;
    yk_json_write_newline(json, 2);
    yk_json_write_end_object(json);
}

static void add_precision(struct yk_json_writer *json, const struct yk_plan *plan)
{
    const enum yk_precision precision = plan->workload.precision;
    if (precision != YK_PRECISION_BF16 && precision != YK_PRECISION_FP16) {
        return;
    }
    yk_json_write_begin_object(json, yk_precision_name(precision));
    json->line_indent = 0;
    yk_json_write_bool(json, "enabled", true);
    if (precision == YK_PRECISION_FP16) {
        yk_json_write_integer(json, "initial_scale_power", 16);
        yk_json_write_integer(json, "loss_scale_window", 2000);
    }
    yk_json_write_end_object(json);
    json->line_indent = 2;
}

static bool has_unequal_shares(const struct yk_plan_group *group)
{
    bool unequal = false;
    for (int32_t i = 1; i < group->member_count; i++) {
        unequal = unequal || group->members[i].share != group->members[0].share;
    }
    return unequal;
}

static void note_batch(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    const struct yk_plan_group *group = job->group;
    const int64_t micro_batch = find_micro_batch(plan, group);
    const int64_t batch = micro_batch * group->member_count * plan->micro_batches;
    if (has_unequal_shares(group)) {
        struct yk_text shares = {0};
        for (int32_t i = 0; i < group->member_count; i++) {
            yk_text_addf(&shares, "%s%" PRId64, i > 0 ? ", " : "", group->members[i].share);
        }
        yk_export_job_add_note(
            job,
            "Shares are unequal in the plan (%s); DeepSpeed gives every rank as many "
            "samples, and the slowest rank decides.",
            yk_text_chars(&shares));
        job->notes->failed |= shares.failed;
        yk_text_free(&shares);
    }
    yk_export_job_add_note_if(
        job, batch != plan->workload.batch,
        "The batch of %" PRId64 " does not divide by %" PRId32 " ranks and %" PRId32
        " micro-batches; train_batch_size is %" PRId64 " instead.",
        plan->workload.batch, group->member_count, plan->micro_batches, batch);
}

static void note_strategies(const struct yk_export_job *job, const struct counts *counts)
{
    const int stage = find_stage(counts);
    struct yk_text planned = {0};
    int kinds = 0;
    for (int i = 0; i < YK_SHARDING_STRATEGY_COUNT; i++) {
        if (counts->of[i] > 0) {
            yk_text_addf(&planned, "%s%" PRId32 " %s", kinds > 0 ? ", " : "", counts->of[i],
                         yk_plan_strategy_name((enum yk_sharding_strategy)i));
            kinds++;
        }
    }
    yk_export_job_add_note_if(
        job, kinds > 1, "Layers differ in the plan (%s); DeepSpeed has one stage for all, %d here.",
        yk_text_chars(&planned), stage);
    job->notes->failed |= planned.failed;
    yk_text_free(&planned);
    yk_export_job_add_note_if(job, counts->of[YK_SHARDING_KEPT_AFTER_FORWARD] > 0,
                              "Kept layers are asked for by stage3_max_reuse_distance, which "
                              "reaches those at the end of the model that no fully-sharded layer "
                              "follows; any others are gathered again.");
    yk_export_job_add_note_if(job, stage == 0,
                              "Stage 0 takes its bucket from the engine, not from this file: the "
                              "planned buckets are not said.");
    yk_export_job_add_note_if(job, job->plan->transfer_count > 0,
                              "The plan's order of transfers is not said: stage 3 gathers ahead by "
                              "stage3_prefetch_bucket_size, in the order it has traced.");
}

static void note_others(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    bool limits = false;
    yk_export_job_add_layers_note(
        job, yk_data_parallel_layer_is_recomputed,
        "recomputed in the plan; that is said in the model "
        "(gradient_checkpointing_enable() does it for all blocks), not in "
        "this file.");
    for (int32_t i = 0; i < plan->rank_count; i++) {
        limits = limits || plan->ranks[i].limit_bytes > 0;
    }
    yk_export_job_add_note_if(job, limits, "Limits of memory are not said.");
    yk_export_job_add_note_if(job, plan->micro_batches > 1,
                              "DeepSpeed decides by its stage when gradients are reduced; the "
                              "plan's no_sync (%s) is not said.",
                              plan->no_sync ? "true" : "false");
    yk_export_job_add_note_if(job, plan->clip,
                              "The plan says that gradients are clipped, but not at which norm: "
                              "gradient_clipping is 1.0 until you change it.");
    yk_export_job_add_note_if(job, plan->workload.precision == YK_PRECISION_TF32,
                              "tf32 is not said: set torch.backends.cuda.matmul.allow_tf32.");
}

static yk_status write_deepspeed(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    const struct yk_plan_group *group = job->group;
    struct yk_json_writer json = {.text = job->out, .spaced = true};
    const struct counts counts = count(plan, job->model);
    const int64_t micro_batch = find_micro_batch(plan, group);
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_integer(&json, "train_batch_size",
                          micro_batch * group->member_count * plan->micro_batches);
    yk_json_write_integer(&json, "train_micro_batch_size_per_gpu", micro_batch);
    yk_json_write_integer(&json, "gradient_accumulation_steps", plan->micro_batches);
    if (plan->clip) {
        yk_json_write_raw(&json, "gradient_clipping", "1.0");
    }
    add_precision(&json, plan);
    add_stage(&json, plan, &counts);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(job->out, "\n");
    note_batch(job);
    note_strategies(job, &counts);
    yk_data_parallel_add_unequal_shards_note(job, "DeepSpeed");
    for (int32_t i = 0; i < group->member_count; i++) {
        yk_export_job_add_note_if(job, group->members[i].share == 0,
                                  "Rank %" PRId32 " (%s) takes no samples in the plan, but as many "
                                  "as the others here.",
                                  i, yk_data_parallel_member_device_name(job, &group->members[i]));
    }
    note_others(job);
    yk_data_parallel_add_lora_note(job);
    return YK_OK;
}

const struct yk_exporter yk_exporter_deepspeed = {
    .name = "deepspeed",
    .summary = "a ds_config.json for DeepSpeed: one ZeRO stage, buckets in elements",
    .file = "ds_config.json",
    .write = write_deepspeed,
};
