#include "plan/plan_file.h"
#include "plan/plan_options.h"
#include "plan/plan_order.h"
#include "plan/plan_origin.h"
#include "plan/plan_value.h"

#include <inttypes.h>

static void write_scalars(const struct yk_plan *plan, struct yk_json_writer *json)
{
    const struct yk_workload *workload = &plan->workload;
    yk_json_write_line(json, 1);
    yk_json_write_begin_object(json, "workload");
    yk_json_write_integer(json, "batch", workload->batch);
    yk_json_write_integer(json, "sequence", workload->sequence);
    yk_json_write_integer(json, "target_sequence", workload->target_sequence);
    yk_json_write_line(json, 2);
    yk_json_write_string(json, "precision", yk_precision_name(workload->precision));
    yk_json_write_integer(json, "lora", workload->lora_rank);
    yk_json_write_bool(json, "nf4", workload->nf4);
    yk_json_write_end_object(json);
    yk_json_write_line(json, 1);
    yk_json_write_integer(json, "micro_batches", plan->micro_batches);
    yk_json_write_string(json, "pipeline", yk_plan_pipeline_name(plan->pipeline));
    yk_json_write_bool(json, "no_sync", plan->no_sync);
    yk_json_write_bool(json, "clip", plan->clip);
    yk_json_write_line(json, 1);
    yk_json_write_integer(json, "prefetch", plan->prefetch);
    yk_plan_value_write_bytes(json, "block", plan->block_bytes);
    yk_plan_value_write_bytes(json, "bucket", plan->bucket_bytes);
}

static void write_ranks(const struct yk_plan *plan, const struct yk_cluster *cluster,
                        struct yk_json_writer *json)
{
    yk_json_write_line(json, 1);
    yk_json_write_begin_array(json, "ranks");
    for (int32_t i = 0; i < plan->rank_count; i++) {
        yk_json_write_begin_row(json, 2);
        yk_json_write_string(json, "device", cluster->devices[plan->ranks[i].device].name);
        yk_plan_value_write_bytes(json, "limit", plan->ranks[i].limit_bytes);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

/* Equal parts are what a group has that says none. */
static bool has_equal_parts(const struct yk_plan_group *group)
{
    bool equal = true;
    for (int32_t i = 0; i < group->member_count; i++) {
        equal = equal && group->members[i].part == 1.0 / group->member_count;
    }
    return equal;
}

static void write_group(const struct yk_plan_group *group, struct yk_json_writer *json)
{
    const bool equal = has_equal_parts(group);
    yk_json_write_begin_row(json, 2);
    yk_json_write_begin_array(json, "members");
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_member *member = &group->members[i];
        if (i > 0) {
            yk_json_write_line(json, 3);
        }
        yk_json_write_begin_object(json, NULL);
        yk_json_write_integer(json, "rank", member->rank);
        yk_json_write_integer(json, "share", member->share);
        if (!equal) {
            yk_json_write_number(json, "part", member->part);
        }
        if (member->turn > 0) {
            yk_json_write_integer(json, "turn", member->turn);
        }
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
    yk_json_write_end_object(json);
}

static void write_groups(const struct yk_plan *plan, struct yk_json_writer *json)
{
    yk_json_write_line(json, 1);
    yk_json_write_begin_array(json, "groups");
    for (int32_t i = 0; i < plan->group_count; i++) {
        write_group(&plan->groups[i], json);
    }
    yk_json_write_end_array(json);
}

static bool is_same(const struct yk_plan_layer *a, const struct yk_plan_layer *b)
{
    return a->group == b->group && a->strategy == b->strategy && a->recompute == b->recompute;
}

static void write_layers(const struct yk_plan *plan, const struct yk_model *model,
                         struct yk_json_writer *json)
{
    yk_json_write_line(json, 1);
    yk_json_write_begin_array(json, "layers");
    for (int32_t i = 0; i < plan->layer_count;) {
        const struct yk_plan_layer *layer = &plan->layers[i];
        int32_t last = i;
        while (last + 1 < plan->layer_count && is_same(layer, &plan->layers[last + 1])) {
            last++;
        }
        yk_json_write_begin_row(json, 2);
        yk_json_write_string(json, "from", model->layers[i].name);
        if (last > i) {
            yk_json_write_string(json, "to", model->layers[last].name);
        }
        yk_json_write_integer(json, "group", layer->group);
        yk_json_write_string(json, "strategy", yk_plan_strategy_name(layer->strategy));
        yk_json_write_bool(json, "recompute", layer->recompute);
        yk_json_write_end_object(json);
        i = last + 1;
    }
    yk_json_write_end_array(json);
}

/* What yk_plan_check() does not see. */
static yk_status check(const struct yk_plan *plan, const struct yk_plan_context *context)
{
    if (!plan->model_source || !plan->cluster_source) {
        return yk_fail(YK_ERROR_INPUT, "the plan does not say which model and cluster it is for");
    }
    if (!plan->profile_source != !context->profile) {
        return yk_fail(YK_ERROR_INPUT, "the plan %s",
                       context->profile ? "does not name its profile"
                                        : "names a profile that is not given");
    }
    for (int32_t i = 0; i < plan->rank_count; i++) {
        if (plan->ranks[i].device >= context->cluster->device_count) {
            return yk_fail(YK_ERROR_INPUT,
                           "rank %" PRId32 " has device %" PRId32 ", but devices are 0 to %" PRId32,
                           i, plan->ranks[i].device, context->cluster->device_count - 1);
        }
    }
    return YK_OK;
}

static yk_status write_plan(const struct yk_plan *plan, const struct yk_plan_context *context,
                            const struct yk_model *model, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    YK_TRY(yk_plan_check(plan, model));
    YK_TRY(check(plan, context));
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "plan");
    YK_TRY(yk_plan_origin_write(plan, context, &json));
    yk_plan_options_write(&plan->options, context->cluster, &json);
    write_scalars(plan, &json);
    write_ranks(plan, context->cluster, &json);
    write_groups(plan, &json);
    write_layers(plan, model, &json);
    yk_plan_order_write(plan, model, &json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

yk_status yk_plan_file_write(const struct yk_plan *plan, const struct yk_plan_context *context,
                             struct yk_text *out)
{
    const struct yk_model *model = NULL;
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_model_describe(context->config, &plan->workload, arena, &model);
    if (status == YK_OK) {
        status = write_plan(plan, context, model, out);
    }
    yk_arena_destroy(arena);
    return status;
}
