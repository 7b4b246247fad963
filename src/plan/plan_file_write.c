#include "plan/plan_file.h"
#include "plan/plan_options.h"
#include "plan/plan_order.h"
#include "plan/plan_origin.h"
#include "plan/plan_value.h"

#include <inttypes.h>

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void write_scalars(const struct yk_plan *plan, struct yk_text *out)
{
    const struct yk_workload *workload = &plan->workload;
    yk_text_addf(out,
                 ",\n \"workload\": {\"batch\": %" PRId64 ", \"sequence\": %" PRId64
                 ", \"target_sequence\": %" PRId64 ",\n  \"precision\": \"%s\", \"lora\": %" PRId64
                 ", \"nf4\": %s}",
                 workload->batch, workload->sequence, workload->target_sequence,
                 yk_precision_name(workload->precision), workload->lora_rank, truth(workload->nf4));
    yk_text_addf(out,
                 ",\n \"micro_batches\": %" PRId32
                 ", \"pipeline\": \"%s\", \"no_sync\": %s, \"clip\": %s",
                 plan->micro_batches, yk_pipeline_name(plan->pipeline), truth(plan->no_sync),
                 truth(plan->clip));
    yk_text_addf(out, ",\n \"prefetch\": %" PRId32 ", \"block\": ", plan->prefetch);
    yk_plan_write_bytes(plan->block_bytes, out);
    yk_text_add(out, ", \"bucket\": ");
    yk_plan_write_bytes(plan->bucket_bytes, out);
}

static void write_ranks(const struct yk_plan *plan, const struct yk_cluster *cluster,
                        struct yk_text *out)
{
    yk_text_add(out, ",\n \"ranks\": [");
    for (int32_t i = 0; i < plan->rank_count; i++) {
        yk_text_add(out, i > 0 ? ",\n  {\"device\": " : "\n  {\"device\": ");
        yk_text_add_json(out, cluster->devices[plan->ranks[i].device].name);
        yk_text_add(out, ", \"limit\": ");
        yk_plan_write_bytes(plan->ranks[i].limit_bytes, out);
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]");
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

static void write_group(const struct yk_plan_group *group, struct yk_text *out)
{
    const bool equal = has_equal_parts(group);
    yk_text_add(out, "\n  {\"members\": [");
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_member *member = &group->members[i];
        yk_text_addf(out, "%s{\"rank\": %" PRId32 ", \"share\": %" PRId64, i > 0 ? ",\n   " : "",
                     member->rank, member->share);
        if (!equal) {
            yk_text_add(out, ", \"part\": ");
            yk_text_add_number(out, member->part);
        }
        if (member->turn > 0) {
            yk_text_addf(out, ", \"turn\": %" PRId32, member->turn);
        }
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]}");
}

static void write_groups(const struct yk_plan *plan, struct yk_text *out)
{
    yk_text_add(out, ",\n \"groups\": [");
    for (int32_t i = 0; i < plan->group_count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        write_group(&plan->groups[i], out);
    }
    yk_text_add(out, "]");
}

static bool is_same(const struct yk_plan_layer *a, const struct yk_plan_layer *b)
{
    return a->group == b->group && a->strategy == b->strategy && a->recompute == b->recompute;
}

static void write_layers(const struct yk_plan *plan, const struct yk_model *model,
                         struct yk_text *out)
{
    yk_text_add(out, ",\n \"layers\": [");
    for (int32_t i = 0; i < plan->layer_count;) {
        const struct yk_plan_layer *layer = &plan->layers[i];
        int32_t last = i;
        while (last + 1 < plan->layer_count && is_same(layer, &plan->layers[last + 1])) {
            last++;
        }
        yk_text_addf(out, "%s\n  {\"from\": \"%s\"", i > 0 ? "," : "", model->layers[i].name);
        if (last > i) {
            yk_text_addf(out, ", \"to\": \"%s\"", model->layers[last].name);
        }
        yk_text_addf(out, ", \"group\": %" PRId32 ", \"strategy\": \"%s\", \"recompute\": %s}",
                     layer->group, yk_strategy_name(layer->strategy), truth(layer->recompute));
        i = last + 1;
    }
    yk_text_add(out, "]");
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
    YK_TRY(yk_plan_check(plan, model));
    YK_TRY(check(plan, context));
    yk_text_add(out, "{\"yoke\": 1, \"kind\": \"plan\"");
    YK_TRY(yk_plan_origin_write(plan, context, out));
    yk_plan_options_write(&plan->options, context->cluster, out);
    write_scalars(plan, out);
    write_ranks(plan, context->cluster, out);
    write_groups(plan, out);
    write_layers(plan, model, out);
    yk_text_add(out, ",\n \"order\": ");
    yk_plan_order_write(plan, model, out);
    yk_text_add(out, "}\n");
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
