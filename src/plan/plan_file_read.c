/*
 * A plan file (docs/plans.md):
 *
 *   {"yoke": 1, "kind": "plan",
 *    "model": {"source": "gpt2", …}, "cluster": {"source": "2xrtx3090", …}, "profile": null,
 *    "workload": {"batch": 16, "sequence": 1024, "precision": "bf16"},
 *    "block": "5MiB", "bucket": "25MiB",
 *    "ranks": [{"device": "gpu0", "limit": "22GiB"}, …],
 *    "groups": [{"members": [{"rank": 0, "share": 10}, {"rank": 1, "share": 6}]}],
 *    "layers": [{"from": "embed", "to": "head", "strategy": "kept"}],
 *    "order": []}
 */
#include "base/json.h"
#include "base/names.h"
#include "plan/plan_file.h"
#include "plan/plan_options.h"
#include "plan/plan_order.h"
#include "plan/plan_origin.h"
#include "plan/plan_value.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    MOST_NAMES = 8
};

/* Whole numbers above this have no double of their own. */
static const int64_t MOST = INT64_C(1) << 53;

struct reading {
    const struct yk_json *root;
    const char *path;
    const struct yk_plan_context *context;
    struct yk_arena *arena;
    struct yk_names *devices;
    struct yk_names *layers;
    const struct yk_model *model;
    struct yk_plan *plan;
};

static yk_status check_root(const struct yk_json *root)
{
    static const char *const known[] = {
        "yoke",     "kind",          "name",     "comment", "model", "cluster",  "profile",
        "workload", "micro_batches", "pipeline", "no_sync", "clip",  "prefetch", "block",
        "bucket",   "ranks",         "groups",   "layers",  "order", "request"};
    return yk_json_check_document(root, "plan", known, COUNT(known));
}

static yk_status read_workload(const struct yk_json *root, struct yk_workload *out)
{
    static const char *const known[] = {"batch",     "sequence", "target_sequence",
                                        "precision", "lora",     "nf4"};
    const struct yk_json *node = yk_json_get(root, "workload");
    const char *names[MOST_NAMES];
    int precision = 0;
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        names[i] = yk_precision_name((enum yk_precision)i);
    }
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(yk_plan_value_require(node, "batch"));
    YK_TRY(yk_plan_value_require(node, "sequence"));
    YK_TRY(yk_plan_value_require(node, "precision"));
    YK_TRY(yk_json_get_integer(node, "batch", 1, MOST, &out->batch));
    YK_TRY(yk_json_get_integer(node, "sequence", 1, MOST, &out->sequence));
    YK_TRY(yk_json_get_integer(node, "target_sequence", 0, MOST, &out->target_sequence));
    YK_TRY(yk_json_get_integer(node, "lora", 0, MOST, &out->lora_rank));
    YK_TRY(yk_json_get_flag(node, "nf4", &out->nf4));
    YK_TRY(yk_plan_value_read_choice(node, "precision", names, YK_PRECISION_COUNT, &precision));
    out->precision = (enum yk_precision)precision;
    return YK_OK;
}

static yk_status read_scalars(const struct yk_json *root, struct yk_plan *plan)
{
    const char *names[MOST_NAMES];
    int pipeline = YK_GPIPE;
    for (int i = 0; i < YK_PIPELINE_COUNT; i++) {
        names[i] = yk_plan_pipeline_name((enum yk_pipeline)i);
    }
    plan->micro_batches = 1;
    plan->prefetch = 1;
    YK_TRY(yk_plan_value_read_number(root, "micro_batches", 1, INT32_MAX, &plan->micro_batches));
    YK_TRY(yk_plan_value_read_choice(root, "pipeline", names, YK_PIPELINE_COUNT, &pipeline));
    plan->pipeline = (enum yk_pipeline)pipeline;
    YK_TRY(yk_json_get_flag(root, "no_sync", &plan->no_sync));
    YK_TRY(yk_json_get_flag(root, "clip", &plan->clip));
    YK_TRY(yk_plan_value_read_number(root, "prefetch", 0, INT32_MAX, &plan->prefetch));
    YK_TRY(yk_plan_value_require(root, "block"));
    YK_TRY(yk_plan_value_require(root, "bucket"));
    YK_TRY(yk_plan_value_read_bytes(root, "block", false, &plan->block_bytes));
    return yk_plan_value_read_bytes(root, "bucket", true, &plan->bucket_bytes);
}

static yk_status read_rank(const struct reading *reading, const struct yk_json *node,
                           struct yk_plan_rank *out)
{
    static const char *const known[] = {"device", "limit"};
    const char *name = NULL;
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(yk_json_read_name(yk_json_get(node, "device"), "device", &name));
    out->device = yk_names_find(reading->devices, name);
    if (out->device < 0) {
        const char *nearest = yk_names_nearest(reading->devices, name);
        return yk_fail(YK_ERROR_INPUT, "the cluster has no device \"%s\"%s%s%s", name,
                       nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                       nearest ? "\"?" : "");
    }
    const double most_bytes = reading->context->cluster->devices[out->device].memory_bytes;
    out->limit_bytes = most_bytes;
    YK_TRY(yk_plan_value_read_bytes(node, "limit", false, &out->limit_bytes));
    if (out->limit_bytes > most_bytes) {
        char memory[YK_UNITS_SIZE];
        yk_units_format(most_bytes, YK_UNIT_BYTES, memory);
        return yk_fail(YK_ERROR_INPUT, "\"limit\" is more than the memory of \"%s\", %s", name,
                       memory);
    }
    return YK_OK;
}

/* A list with something in it; `*out_count` elements fit a plan. */
static yk_status read_list(const struct yk_json *object, const char *key,
                           const struct yk_json **out, int32_t *out_count)
{
    YK_TRY(yk_json_require_list(object, key, out));
    const size_t count = yk_json_count(*out);
    if (count == 0 || count >= INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is %s", key, count == 0 ? "empty" : "too long");
    }
    *out_count = (int32_t)count;
    return YK_OK;
}

static yk_status read_ranks(const struct reading *reading)
{
    struct yk_plan *plan = reading->plan;
    const struct yk_json *list = NULL;
    YK_TRY(read_list(reading->root, "ranks", &list, &plan->rank_count));
    YK_TRY_NEW(reading->arena, plan->ranks, plan->rank_count);
    for (int32_t i = 0; i < plan->rank_count; i++) {
        YK_TRY(
            yk_json_add_location(read_rank(reading, yk_json_at(list, (size_t)i), &plan->ranks[i]),
                                 "ranks", (size_t)i, NULL));
    }
    return YK_OK;
}

/* A part that is not said is −1 for now. */
static yk_status read_member(const struct reading *reading, const struct yk_json *node,
                             struct yk_plan_member *out)
{
    static const char *const known[] = {"rank", "share", "part", "turn"};
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(yk_plan_value_require(node, "rank"));
    YK_TRY(yk_plan_value_require(node, "share"));
    YK_TRY(yk_plan_value_read_number(node, "rank", 0, reading->plan->rank_count - 1, &out->rank));
    YK_TRY(yk_json_get_integer(node, "share", 0, reading->plan->workload.batch, &out->share));
    YK_TRY(yk_plan_value_read_number(node, "turn", 1, INT32_MAX, &out->turn));
    const struct yk_json *part = yk_json_get(node, "part");
    out->part = -1;
    if (part && (!yk_json_number(part, &out->part) || !(out->part >= 0 && out->part <= 1))) {
        return yk_fail(YK_ERROR_INPUT, "\"part\" must be a number from 0 to 1");
    }
    return YK_OK;
}

static yk_status fill_parts(struct yk_plan_group *group)
{
    int32_t missing = 0;
    for (int32_t i = 0; i < group->member_count; i++) {
        missing += group->members[i].part < 0 ? 1 : 0;
    }
    if (missing > 0 && missing < group->member_count) {
        return yk_fail(YK_ERROR_INPUT, "some members say a \"part\", and some do not; say all, or "
                                       "none for equal ones");
    }
    for (int32_t i = 0; i < group->member_count && missing > 0; i++) {
        group->members[i].part = 1.0 / group->member_count;
    }
    return YK_OK;
}

static yk_status read_group(const struct reading *reading, const struct yk_json *node,
                            struct yk_plan_group *out)
{
    static const char *const known[] = {"members"};
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(read_list(node, "members", &list, &out->member_count));
    YK_TRY_NEW(reading->arena, out->members, out->member_count);
    for (int32_t i = 0; i < out->member_count; i++) {
        YK_TRY(yk_json_add_location(
            read_member(reading, yk_json_at(list, (size_t)i), &out->members[i]), "members",
            (size_t)i, NULL));
    }
    return fill_parts(out);
}

static yk_status read_groups(const struct reading *reading)
{
    struct yk_plan *plan = reading->plan;
    const struct yk_json *list = NULL;
    YK_TRY(read_list(reading->root, "groups", &list, &plan->group_count));
    YK_TRY_NEW(reading->arena, plan->groups, plan->group_count);
    for (int32_t i = 0; i < plan->group_count; i++) {
        YK_TRY(
            yk_json_add_location(read_group(reading, yk_json_at(list, (size_t)i), &plan->groups[i]),
                                 "groups", (size_t)i, NULL));
    }
    return YK_OK;
}

/* The layers of one run, first and last. */
static yk_status read_ends(const struct reading *reading, const struct yk_json *node,
                           int32_t *first, int32_t *last)
{
    const char *from = NULL;
    const char *to = NULL;
    YK_TRY(yk_json_read_name(yk_json_get(node, "from"), "from", &from));
    YK_TRY(yk_json_get_text(node, "to", &to));
    YK_TRY(yk_plan_order_find_layer(reading->layers, from, first));
    *last = *first;
    if (to) {
        YK_TRY(yk_plan_order_find_layer(reading->layers, to, last));
    }
    return *last >= *first
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\" comes after \"%s\"; swap them", from, to);
}

static yk_status read_run(const struct reading *reading, const struct yk_json *node, bool *seen)
{
    static const char *const known[] = {"from", "to", "group", "strategy", "recompute"};
    const char *names[MOST_NAMES];
    struct yk_plan_layer layer = {0};
    int strategy = 0;
    int32_t first = 0;
    int32_t last = 0;
    for (int i = 0; i < YK_STRATEGY_COUNT; i++) {
        names[i] = yk_plan_strategy_name((enum yk_strategy)i);
    }
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(read_ends(reading, node, &first, &last));
    YK_TRY(yk_plan_value_require(node, "strategy"));
    YK_TRY(yk_plan_value_read_choice(node, "strategy", names, YK_STRATEGY_COUNT, &strategy));
    YK_TRY(yk_json_get_flag(node, "recompute", &layer.recompute));
    if (reading->plan->group_count > 1) {
        YK_TRY(yk_plan_value_require(node, "group"));
    }
    YK_TRY(
        yk_plan_value_read_number(node, "group", 0, reading->plan->group_count - 1, &layer.group));
    layer.strategy = (enum yk_strategy)strategy;
    for (int32_t i = first; i <= last; i++) {
        if (seen[i]) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" is in an earlier run, too",
                           reading->model->layers[i].name);
        }
        seen[i] = true;
        reading->plan->layers[i] = layer;
    }
    return YK_OK;
}

static yk_status read_layers(const struct reading *reading)
{
    struct yk_plan *plan = reading->plan;
    const struct yk_json *list = NULL;
    int32_t count = 0;
    bool *seen = NULL;
    plan->layer_count = reading->model->layer_count;
    YK_TRY(read_list(reading->root, "layers", &list, &count));
    YK_TRY_NEW(reading->arena, plan->layers, plan->layer_count);
    YK_TRY_NEW(reading->arena, seen, plan->layer_count);
    for (int32_t i = 0; i < count; i++) {
        YK_TRY(yk_json_add_location(read_run(reading, yk_json_at(list, (size_t)i), seen), "layers",
                                    (size_t)i, NULL));
    }
    for (int32_t i = 0; i < plan->layer_count; i++) {
        if (!seen[i]) {
            return yk_fail(YK_ERROR_INPUT, "\"layers\" leaves out \"%s\"",
                           reading->model->layers[i].name);
        }
    }
    return YK_OK;
}

static yk_status describe_model(struct reading *reading)
{
    const struct yk_plan_context *context = reading->context;
    struct yk_workload *workload = &reading->plan->workload;
    yk_status status = yk_plan_value_require(reading->root, "workload");
    YK_TRY(status);
    status = read_workload(reading->root, workload);
    if (status == YK_OK) {
        status = yk_model_describe(context->config, workload, reading->arena, &reading->model);
    }
    if (status != YK_OK) {
        /* The command line would be at fault elsewhere; here it is the file. */
        return yk_status_prefix(status == YK_ERROR_USAGE ? YK_ERROR_INPUT : status, "workload");
    }
    return YK_OK;
}

static yk_status list_names(const struct reading *reading)
{
    bool added = false;
    int32_t number = 0;
    for (int32_t i = 0; i < reading->context->cluster->device_count; i++) {
        YK_TRY(yk_names_add(reading->devices, reading->context->cluster->devices[i].name, &added,
                            &number));
    }
    for (int32_t i = 0; i < reading->model->layer_count; i++) {
        YK_TRY(yk_names_add(reading->layers, reading->model->layers[i].name, &added, &number));
    }
    return YK_OK;
}

static yk_status keep_sources(const struct reading *reading, struct yk_plan *plan)
{
    struct yk_plan_sources sources = {0};
    YK_TRY(yk_plan_origin_sources(reading->root, reading->path, reading->arena, &sources));
    plan->model_source = sources.model;
    plan->cluster_source = sources.cluster;
    plan->profile_source = sources.profile;
    return YK_OK;
}

static yk_status read_plan(struct reading *reading)
{
    const struct yk_json *order = NULL;
    YK_TRY(check_root(reading->root));
    YK_TRY(yk_plan_origin_check(reading->root, reading->context));
    YK_TRY_NEW(reading->arena, reading->plan, 1);
    YK_TRY(keep_sources(reading, reading->plan));
    YK_TRY(describe_model(reading));
    YK_TRY(list_names(reading));
    YK_TRY(yk_plan_options_read(reading->root, reading->plan->workload.batch, reading->devices,
                                reading->arena, &reading->plan->options));
    YK_TRY(read_scalars(reading->root, reading->plan));
    YK_TRY(read_ranks(reading));
    YK_TRY(read_groups(reading));
    YK_TRY(read_layers(reading));
    YK_TRY(yk_json_get_list(reading->root, "order", &order));
    YK_TRY(
        yk_plan_order_read(order, reading->model, reading->layers, reading->arena, reading->plan));
    return yk_plan_check(reading->plan, reading->model);
}

static yk_status read_named(struct reading *reading, const struct yk_json *root)
{
    yk_status status = YK_OK;
    reading->root = root;
    YK_TRY_GOTO(yk_names_create(&reading->devices), done);
    YK_TRY_GOTO(yk_names_create(&reading->layers), done);
    status = read_plan(reading);
done:
    yk_names_destroy(reading->layers);
    yk_names_destroy(reading->devices);
    return status;
}

yk_status yk_plan_file_read(const char *text, size_t length, const char *source,
                            const struct yk_plan_context *context, struct yk_arena *arena,
                            const struct yk_plan **out)
{
    struct reading reading = {.path = source, .context = context, .arena = arena};
    YK_TRY_JSON(root, text, length, source, read_named(&reading, root));
    *out = reading.plan;
    return YK_OK;
}

static yk_status read_sources(const struct yk_json *root, const char *source,
                              struct yk_arena *arena, struct yk_plan_sources *out)
{
    YK_TRY(check_root(root));
    return yk_plan_origin_sources(root, source, arena, out);
}

yk_status yk_plan_file_sources(const char *text, size_t length, const char *source,
                               struct yk_arena *arena, struct yk_plan_sources *out)
{
    YK_TRY_JSON(root, text, length, source, read_sources(root, source, arena, out));
    return YK_OK;
}
