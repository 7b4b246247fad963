/*
 * A plan file (docs/plans.md):
 *
 *   {"yoke": 2, "kind": "plan",
 *    "model": {"source": "gpt2", …}, "cluster": {"source": "2xrtx3090", …}, "profile": null,
 *    "workload": {"batch": 16, "sequence": 1024, "precision": "bf16"},
 *    "block": "5MiB", "bucket": "25MiB",
 *    "ranks": [{"device": "gpu0", "limit": "22GiB"}, …],
 *    "groups": [{"members": [{"rank": 0, "share": 10}, {"rank": 1, "share": 6}]}],
 *    "layers": [{"from": "embed", "to": "head", "strategy": "kept"}],
 *    "order": []}
 */
#include "plan/plan_file.h"

#include "plan/plan_json.h"
#include "plan/plan_provenance.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    VERSION = 2,
    MAX_NAMES = 8,
};

/* Larger integers are not exact as doubles. */
static const int64_t MAX_EXACT = INT64_C(1) << 53;

struct reading {
    const struct yk_json *root;
    const char *path;
    const struct yk_plan_file_context *context;
    struct yk_arena *arena;
    struct yk_name_index *devices;
    struct yk_name_index *layers;
    const struct yk_model *model;
    struct yk_plan *plan;
};

static yk_status check_version(const struct yk_json *root)
{
    const char *model =
        yk_json_string_value(yk_json_get_member(yk_json_get_member(root, "model"), "source"));
    const char *cluster =
        yk_json_string_value(yk_json_get_member(yk_json_get_member(root, "cluster"), "source"));
    const char *kind = yk_json_string_value(yk_json_get_member(root, "kind"));
    double version = VERSION;
    if (!kind || strcmp(kind, "plan") != 0 ||
        !yk_json_number_value(yk_json_get_member(root, "yoke"), &version) || version >= VERSION) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "a plan of version %g, and this program reads version %d; plan again with this "
                   "version: yoke plan --model %s --cluster \"%s\" -o FILE",
                   version, VERSION, model ? model : "MODEL", cluster ? cluster : "CLUSTER");
}

static yk_status check_root(const struct yk_json *root)
{
    static const char *const known[] = {
        "yoke",     "kind",          "name",     "comment", "model", "cluster",  "profile",
        "workload", "micro_batches", "pipeline", "no_sync", "clip",  "prefetch", "block",
        "bucket",   "ranks",         "groups",   "layers",  "order", "request"};
    YK_TRY(check_version(root));
    return yk_json_check_versioned_yoke_document(root, "plan", VERSION, known, COUNT(known));
}

static yk_status read_workload(const struct yk_json *root, struct yk_workload *out)
{
    static const char *const known[] = {"batch",     "sequence", "target_sequence",
                                        "precision", "lora",     "nf4"};
    const struct yk_json *node = yk_json_get_member(root, "workload");
    const char *names[MAX_NAMES];
    int precision = 0;
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        names[i] = yk_precision_name((enum yk_precision)i);
    }
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_plan_json_require_member(node, "batch"));
    YK_TRY(yk_plan_json_require_member(node, "sequence"));
    YK_TRY(yk_plan_json_require_member(node, "precision"));
    YK_TRY(yk_json_get_integer(node, "batch", 1, MAX_EXACT, &out->batch));
    YK_TRY(yk_json_get_integer(node, "sequence", 1, MAX_EXACT, &out->sequence));
    YK_TRY(yk_json_get_integer(node, "target_sequence", 0, MAX_EXACT, &out->target_sequence));
    YK_TRY(yk_json_get_integer(node, "lora", 0, MAX_EXACT, &out->lora_rank));
    YK_TRY(yk_json_get_bool(node, "nf4", &out->nf4));
    YK_TRY(yk_plan_json_read_choice(node, "precision", names, YK_PRECISION_COUNT, &precision));
    out->precision = (enum yk_precision)precision;
    return YK_OK;
}

static yk_status read_scalars(const struct yk_json *root, struct yk_plan *plan)
{
    const char *names[MAX_NAMES];
    int pipeline = YK_PIPELINE_GPIPE;
    for (int i = 0; i < YK_PIPELINE_SCHEDULE_COUNT; i++) {
        names[i] = yk_plan_pipeline_schedule_name((enum yk_pipeline_schedule_kind)i);
    }
    plan->micro_batches = 1;
    plan->prefetch = 1;
    YK_TRY(yk_plan_json_read_integer(root, "micro_batches", 1, INT32_MAX, &plan->micro_batches));
    YK_TRY(
        yk_plan_json_read_choice(root, "pipeline", names, YK_PIPELINE_SCHEDULE_COUNT, &pipeline));
    plan->pipeline = (enum yk_pipeline_schedule_kind)pipeline;
    YK_TRY(yk_json_get_bool(root, "no_sync", &plan->no_sync));
    YK_TRY(yk_json_get_bool(root, "clip", &plan->clip));
    YK_TRY(yk_plan_json_read_integer(root, "prefetch", 0, INT32_MAX, &plan->prefetch));
    YK_TRY(yk_plan_json_require_member(root, "block"));
    YK_TRY(yk_plan_json_require_member(root, "bucket"));
    YK_TRY(yk_plan_json_read_byte_size(root, "block", false, &plan->block_bytes));
    return yk_plan_json_read_byte_size(root, "bucket", true, &plan->bucket_bytes);
}

static yk_status read_rank(const struct reading *reading, const struct yk_json *node,
                           struct yk_plan_rank *out)
{
    static const char *const known[] = {"device", "limit"};
    const char *name = NULL;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "device"), "device", &name));
    YK_TRY(yk_name_index_find_or_fail(reading->devices, name, "the cluster has no device",
                                      &out->device));
    const double max_bytes = reading->context->cluster->devices[out->device].memory_bytes;
    out->limit_bytes = max_bytes;
    YK_TRY(yk_plan_json_read_byte_size(node, "limit", false, &out->limit_bytes));
    if (out->limit_bytes > max_bytes) {
        return yk_fail(YK_ERROR_INPUT, "\"limit\" is more than the memory of \"%s\", %s", name,
                       YK_UNITS_FORMAT_TEMPORARY(max_bytes, YK_UNIT_BYTES));
    }
    return YK_OK;
}

/* A list that is not empty. */
static yk_status read_list(const struct yk_json *object, const char *key,
                           const struct yk_json **out, int32_t *out_count)
{
    YK_TRY(yk_json_require_array(object, key, out));
    const size_t count = yk_json_array_count(*out);
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
        YK_TRY(yk_json_prefix_error_with_element(
            read_rank(reading, yk_json_array_at(list, (size_t)i), &plan->ranks[i]), "ranks",
            (size_t)i, NULL));
    }
    return YK_OK;
}

/* A missing part is set to −1. */
static yk_status read_member(const struct reading *reading, const struct yk_json *node,
                             struct yk_plan_group_member *out)
{
    static const char *const known[] = {"rank", "share", "part", "micro_batch"};
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_plan_json_require_member(node, "rank"));
    YK_TRY(yk_plan_json_require_member(node, "share"));
    YK_TRY(yk_plan_json_read_integer(node, "rank", 0, reading->plan->rank_count - 1, &out->rank));
    YK_TRY(yk_json_get_integer(node, "share", 0, reading->plan->workload.batch, &out->share));
    int32_t micro_batch = -1;
    YK_TRY(yk_plan_json_read_integer(node, "micro_batch", 0, INT32_MAX - 1, &micro_batch));
    out->micro_batch_number = micro_batch + 1;
    const struct yk_json *part = yk_json_get_member(node, "part");
    out->shard_fraction = -1;
    if (part && (!yk_json_number_value(part, &out->shard_fraction) ||
                 !(out->shard_fraction >= 0 && out->shard_fraction <= 1))) {
        return yk_fail(YK_ERROR_INPUT, "\"part\" must be a number from 0 to 1");
    }
    return YK_OK;
}

static yk_status fill_parts(struct yk_plan_group *group)
{
    int32_t missing = 0;
    for (int32_t i = 0; i < group->member_count; i++) {
        missing += group->members[i].shard_fraction < 0 ? 1 : 0;
    }
    if (missing > 0 && missing < group->member_count) {
        return yk_fail(YK_ERROR_INPUT, "some members say a \"part\", and some do not; say all, or "
                                       "none for equal ones");
    }
    for (int32_t i = 0; i < group->member_count && missing > 0; i++) {
        group->members[i].shard_fraction = 1.0 / group->member_count;
    }
    return YK_OK;
}

static yk_status read_group(const struct reading *reading, const struct yk_json *node,
                            struct yk_plan_group *out)
{
    static const char *const known[] = {"members"};
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(read_list(node, "members", &list, &out->member_count));
    YK_TRY_NEW(reading->arena, out->members, out->member_count);
    for (int32_t i = 0; i < out->member_count; i++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_member(reading, yk_json_array_at(list, (size_t)i), &out->members[i]), "members",
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
        YK_TRY(yk_json_prefix_error_with_element(
            read_group(reading, yk_json_array_at(list, (size_t)i), &plan->groups[i]), "groups",
            (size_t)i, NULL));
    }
    return YK_OK;
}

/* The first and last layer of a run. */
static yk_status read_ends(const struct reading *reading, const struct yk_json *node,
                           int32_t *first, int32_t *last)
{
    const char *from = NULL;
    const char *to = NULL;
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "from"), "from", &from));
    YK_TRY(yk_json_get_string(node, "to", &to));
    YK_TRY(yk_name_index_find_or_fail(reading->layers, from, YK_PLAN_UNKNOWN_LAYER_MESSAGE, first));
    *last = *first;
    if (to) {
        YK_TRY(
            yk_name_index_find_or_fail(reading->layers, to, YK_PLAN_UNKNOWN_LAYER_MESSAGE, last));
    }
    return *last >= *first
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\" comes after \"%s\"; swap them", from, to);
}

static yk_status read_run(const struct reading *reading, const struct yk_json *node, bool *covered)
{
    static const char *const known[] = {"from", "to", "group", "strategy", "recompute"};
    const char *names[MAX_NAMES];
    struct yk_plan_layer layer = {0};
    int strategy = 0;
    int32_t first = 0;
    int32_t last = 0;
    for (int i = 0; i < YK_SHARDING_STRATEGY_COUNT; i++) {
        names[i] = yk_plan_strategy_name((enum yk_sharding_strategy)i);
    }
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(read_ends(reading, node, &first, &last));
    YK_TRY(yk_plan_json_require_member(node, "strategy"));
    YK_TRY(
        yk_plan_json_read_choice(node, "strategy", names, YK_SHARDING_STRATEGY_COUNT, &strategy));
    YK_TRY(yk_json_get_bool(node, "recompute", &layer.recompute));
    if (reading->plan->group_count > 1) {
        YK_TRY(yk_plan_json_require_member(node, "group"));
    }
    YK_TRY(
        yk_plan_json_read_integer(node, "group", 0, reading->plan->group_count - 1, &layer.group));
    layer.strategy = (enum yk_sharding_strategy)strategy;
    for (int32_t i = first; i <= last; i++) {
        if (covered[i]) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" is in an earlier run, too",
                           reading->model->layers[i].name);
        }
        covered[i] = true;
        reading->plan->layers[i] = layer;
    }
    return YK_OK;
}

static yk_status read_layers(const struct reading *reading)
{
    struct yk_plan *plan = reading->plan;
    const struct yk_json *list = NULL;
    int32_t count = 0;
    bool *covered = NULL;
    plan->layer_count = reading->model->layer_count;
    YK_TRY(read_list(reading->root, "layers", &list, &count));
    YK_TRY_NEW(reading->arena, plan->layers, plan->layer_count);
    YK_TRY_NEW(reading->arena, covered, plan->layer_count);
    for (int32_t i = 0; i < count; i++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_run(reading, yk_json_array_at(list, (size_t)i), covered), "layers", (size_t)i,
            NULL));
    }
    for (int32_t i = 0; i < plan->layer_count; i++) {
        if (!covered[i]) {
            return yk_fail(YK_ERROR_INPUT, "\"layers\" leaves out \"%s\"",
                           reading->model->layers[i].name);
        }
    }
    return YK_OK;
}

static yk_status describe_model(struct reading *reading)
{
    const struct yk_plan_file_context *context = reading->context;
    struct yk_workload *workload = &reading->plan->workload;
    YK_TRY(yk_plan_json_require_member(reading->root, "workload"));
    yk_status status = read_workload(reading->root, workload);
    YK_IF_OK(yk_model_build(context->config, workload, reading->arena, &reading->model));
    /* The error is in the file, not on the command line. */
    return yk_status_prefix_message(status == YK_ERROR_USAGE ? YK_ERROR_INPUT : status, "workload");
}

static yk_status list_names(const struct reading *reading)
{
    bool added = false;
    int32_t number = 0;
    for (int32_t i = 0; i < reading->context->cluster->device_count; i++) {
        YK_TRY(yk_name_index_add(reading->devices, reading->context->cluster->devices[i].name,
                                 &added, &number));
    }
    for (int32_t i = 0; i < reading->model->layer_count; i++) {
        YK_TRY(yk_name_index_add(reading->layers, reading->model->layers[i].name, &added, &number));
    }
    return YK_OK;
}

static yk_status keep_sources(const struct reading *reading, struct yk_plan *plan)
{
    struct yk_plan_source_paths sources = {0};
    YK_TRY(yk_plan_provenance_read_source_paths(reading->root, reading->path, reading->arena,
                                                &sources));
    plan->model_source = sources.model;
    plan->cluster_source = sources.cluster;
    plan->profile_source = sources.profile;
    return YK_OK;
}

static yk_status read_plan(struct reading *reading)
{
    const struct yk_json *order = NULL;
    YK_TRY(check_root(reading->root));
    YK_TRY(yk_plan_provenance_check(reading->root, reading->context));
    YK_TRY_NEW(reading->arena, reading->plan, 1);
    YK_TRY(keep_sources(reading, reading->plan));
    YK_TRY(describe_model(reading));
    YK_TRY(list_names(reading));
    YK_TRY(yk_plan_restrictions_read_json(reading->root, reading->plan->workload.batch,
                                          reading->devices, reading->arena,
                                          &reading->plan->options));
    YK_TRY(read_scalars(reading->root, reading->plan));
    YK_TRY(read_ranks(reading));
    YK_TRY(read_groups(reading));
    YK_TRY(read_layers(reading));
    YK_TRY(yk_json_get_array(reading->root, "order", &order));
    YK_TRY(yk_plan_transfers_read_json(order, reading->model, reading->layers, reading->arena,
                                       reading->plan));
    return yk_plan_check(reading->plan, reading->model);
}

static yk_status read_named(struct reading *reading, const struct yk_json *root)
{
    reading->root = root;
    yk_status status = yk_name_index_create(&reading->devices);
    YK_IF_OK(yk_name_index_create(&reading->layers));
    YK_IF_OK(read_plan(reading));
    yk_name_index_destroy(reading->layers);
    yk_name_index_destroy(reading->devices);
    return status;
}

yk_status yk_plan_file_parse(const char *text, size_t length, const char *source,
                             const struct yk_plan_file_context *context, struct yk_arena *arena,
                             const struct yk_plan **out)
{
    struct reading reading = {.path = source, .context = context, .arena = arena};
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, read_named(&reading, root));
    *out = reading.plan;
    return YK_OK;
}

static yk_status read_sources(const struct yk_json *root, const char *source,
                              struct yk_arena *arena, struct yk_plan_source_paths *out)
{
    YK_TRY(check_root(root));
    return yk_plan_provenance_read_source_paths(root, source, arena, out);
}

yk_status yk_plan_file_parse_source_paths(const char *text, size_t length, const char *source,
                                          struct yk_arena *arena, struct yk_plan_source_paths *out)
{
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, read_sources(root, source, arena, out));
    return YK_OK;
}

static void write_scalars(const struct yk_plan *plan, struct yk_json_writer *json)
{
    const struct yk_workload *workload = &plan->workload;
    yk_json_write_newline(json, 1);
    yk_json_write_begin_object(json, "workload");
    yk_json_write_integer(json, "batch", workload->batch);
    yk_json_write_integer(json, "sequence", workload->sequence);
    yk_json_write_integer(json, "target_sequence", workload->target_sequence);
    yk_json_write_newline(json, 2);
    yk_json_write_string(json, "precision", yk_precision_name(workload->precision));
    yk_json_write_integer(json, "lora", workload->lora_rank);
    yk_json_write_bool(json, "nf4", workload->nf4);
    yk_json_write_end_object(json);
    yk_json_write_newline(json, 1);
    yk_json_write_integer(json, "micro_batches", plan->micro_batches);
    yk_json_write_string(json, "pipeline", yk_plan_pipeline_schedule_name(plan->pipeline));
    yk_json_write_bool(json, "no_sync", plan->no_sync);
    yk_json_write_bool(json, "clip", plan->clip);
    yk_json_write_newline(json, 1);
    yk_json_write_integer(json, "prefetch", plan->prefetch);
    yk_plan_json_write_byte_size(json, "block", plan->block_bytes);
    yk_plan_json_write_byte_size(json, "bucket", plan->bucket_bytes);
}

static void write_ranks(const struct yk_plan *plan, const struct yk_cluster *cluster,
                        struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "ranks");
    for (int32_t i = 0; i < plan->rank_count; i++) {
        yk_json_write_begin_object_on_new_line(json, 2);
        yk_json_write_string(json, "device", cluster->devices[plan->ranks[i].device].name);
        yk_plan_json_write_byte_size(json, "limit", plan->ranks[i].limit_bytes);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

/* Equal parts are the default and are not written. */
static bool has_equal_parts(const struct yk_plan_group *group)
{
    bool equal = true;
    for (int32_t i = 0; i < group->member_count; i++) {
        equal = equal && group->members[i].shard_fraction == 1.0 / group->member_count;
    }
    return equal;
}

static void write_group(const struct yk_plan_group *group, struct yk_json_writer *json)
{
    const bool equal = has_equal_parts(group);
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_begin_array(json, "members");
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_group_member *member = &group->members[i];
        if (i > 0) {
            yk_json_write_newline(json, 3);
        }
        yk_json_write_begin_object(json, NULL);
        yk_json_write_integer(json, "rank", member->rank);
        yk_json_write_integer(json, "share", member->share);
        if (!equal) {
            yk_json_write_number(json, "part", member->shard_fraction);
        }
        if (member->micro_batch_number > 0) {
            yk_json_write_integer(json, "micro_batch", member->micro_batch_number - 1);
        }
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
    yk_json_write_end_object(json);
}

static void write_groups(const struct yk_plan *plan, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "groups");
    for (int32_t i = 0; i < plan->group_count; i++) {
        write_group(&plan->groups[i], json);
    }
    yk_json_write_end_array(json);
}

static void write_layers(const struct yk_plan *plan, const struct yk_model *model,
                         struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "layers");
    for (int32_t i = 0; i < plan->layer_count;) {
        const struct yk_plan_layer *layer = &plan->layers[i];
        int32_t last = i;
        while (last + 1 < plan->layer_count &&
               yk_plan_layers_are_equal(layer, &plan->layers[last + 1])) {
            last++;
        }
        yk_json_write_begin_object_on_new_line(json, 2);
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

/* Checks what yk_plan_check() cannot. */
static yk_status check(const struct yk_plan *plan, const struct yk_plan_file_context *context)
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
            return yk_fail(YK_ERROR_INPUT, "rank %d has device %d, but devices are 0 to %d", i,
                           plan->ranks[i].device, context->cluster->device_count - 1);
        }
    }
    return YK_OK;
}

static yk_status write_plan(const struct yk_plan *plan, const struct yk_plan_file_context *context,
                            struct yk_arena *arena, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    const struct yk_model *model = NULL;
    YK_TRY(yk_model_build(context->config, &plan->workload, arena, &model));
    YK_TRY(yk_plan_check(plan, model));
    YK_TRY(check(plan, context));
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", VERSION);
    yk_json_write_string(&json, "kind", "plan");
    YK_TRY(yk_plan_provenance_write_json(plan, context, arena, &json));
    yk_plan_restrictions_write_json(&plan->options, context->cluster, &json);
    write_scalars(plan, &json);
    write_ranks(plan, context->cluster, &json);
    write_groups(plan, &json);
    write_layers(plan, model, &json);
    yk_plan_transfers_write_json(plan, model, &json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

yk_status yk_plan_file_to_json(const struct yk_plan *plan,
                               const struct yk_plan_file_context *context, struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_plan(plan, context, arena, out));
    return YK_OK;
}
