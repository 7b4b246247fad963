#include "plan/plan_provenance.h"

#include "base/json.h"
#include "base/text.h"
#include "model/architecture.h"
#include "plan/plan_json.h"
#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    MAX_LAYERS = INT32_MAX
};

static const int64_t MOST_PARAMETERS = INT64_C(1) << 53;

/* Transformer blocks, the usual meaning of a model's layers. */
static int64_t count_layers(const struct yk_model_config *config)
{
    return config->layers + config->encoder_layers;
}

/* Does not count adapters, so that a user may change them in the plan file. */
static yk_status count_parameters(const struct yk_model_config *config, int64_t *out)
{
    const struct yk_workload smallest = {
        .batch = 1, .sequence = yk_model_config_reads_images(config) ? config->positions : 1};
    const struct yk_model *model = NULL;
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    YK_TRY_OR_CLEAN_UP(yk_model_build(config, &smallest, arena, &model), yk_arena_destroy(arena));
    *out = model->parameters;
    yk_arena_destroy(arena);
    return YK_OK;
}

/* Hashes the text if `status` is YK_OK, and frees it in any case. */
static yk_status hash_text(yk_status status, struct yk_text *text,
                           char out[YK_PLAN_PROVENANCE_HASH_SIZE])
{
    YK_IF_OK(yk_text_status(text));
    if (status == YK_OK) {
        yk_plan_provenance_hash_bytes(yk_text_chars(text), text->length, out);
    }
    yk_text_free(text);
    return status;
}

static yk_status hash_profile(struct yk_profile *profile, char out[YK_PLAN_PROVENANCE_HASH_SIZE])
{
    struct yk_text text = {0};
    return hash_text(yk_profile_write_rows_as_text(profile, &text), &text, out);
}

struct members {
    const struct yk_json *model;
    const struct yk_json *cluster;
    const struct yk_json *profile; /* NULL means: made without a profile */
};

static yk_status read_members(const struct yk_json *root, struct members *out)
{
    static const char *const of_model[] = {"source", "hash", "layers", "parameters"};
    static const char *const of_cluster[] = {"source", "hash", "links", "devices"};
    static const char *const of_profile[] = {"source", "hash"};
    *out = (struct members){yk_json_get_member(root, "model"), yk_json_get_member(root, "cluster"),
                            yk_json_get_member(root, "profile")};
    YK_TRY(yk_plan_json_require_member(root, "model"));
    YK_TRY(yk_status_prefix_message(
        yk_json_check_object_keys(out->model, of_model, COUNT(of_model)), "model"));
    YK_TRY(yk_plan_json_require_member(root, "cluster"));
    YK_TRY(yk_status_prefix_message(
        yk_json_check_object_keys(out->cluster, of_cluster, COUNT(of_cluster)), "cluster"));
    if (!out->profile || yk_json_is_null(out->profile)) {
        out->profile = NULL;
        return YK_OK;
    }
    return yk_status_prefix_message(
        yk_json_check_object_keys(out->profile, of_profile, COUNT(of_profile)), "profile");
}

/* Whether `object` has a different hash. A file written by hand may have none, which is accepted.
 */
static yk_status differs(const struct yk_json *object, const char *key,
                         const char hash[YK_PLAN_PROVENANCE_HASH_SIZE], bool *out)
{
    const char *word = NULL;
    YK_TRY(yk_json_get_string(object, key, &word));
    if (word && (strlen(word) != YK_PLAN_PROVENANCE_HASH_SIZE - 1 ||
                 strspn(word, "0123456789abcdef") != YK_PLAN_PROVENANCE_HASH_SIZE - 1)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be 16 hexadecimal digits, not \"%s\"", key,
                       word);
    }
    *out = word && strcmp(word, hash) != 0;
    return YK_OK;
}

static yk_status check_model(const struct yk_json *model, const struct yk_model_config *config)
{
    char hash[YK_PLAN_PROVENANCE_HASH_SIZE];
    const char *source = NULL;
    bool different = false;
    int64_t parameters = 0;
    YK_TRY(count_parameters(config, &parameters));
    int64_t said_layers = count_layers(config);
    int64_t said_parameters = parameters;
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(model, "source"), "source", &source));
    YK_TRY(yk_json_get_integer(model, "layers", 1, MAX_LAYERS, &said_layers));
    YK_TRY(yk_json_get_integer(model, "parameters", 1, MOST_PARAMETERS, &said_parameters));
    YK_TRY(yk_plan_provenance_hash_model(config, hash));
    YK_TRY(differs(model, "hash", hash, &different));
    if (said_layers != count_layers(config)) {
        return yk_fail(YK_ERROR_INPUT,
                       "made for %s with %" PRId64 " layers, this is %s with %" PRId64, source,
                       said_layers, config->name, count_layers(config));
    }
    if (said_parameters != parameters) {
        return yk_fail(YK_ERROR_INPUT,
                       "made for %s with %" PRId64 " parameters, this is %s with %" PRId64, source,
                       said_parameters, config->name, parameters);
    }
    return different ? yk_fail(YK_ERROR_INPUT,
                               "made for %s, this is %s with as many layers and parameters but "
                               "other sizes; plan again",
                               source, config->name)
                     : YK_OK;
}

static yk_status check_device(const struct yk_json *node, size_t number,
                              const struct yk_device *device)
{
    static const char *const known[] = {"name", "type", "memory"};
    const char *name = NULL;
    const char *type = NULL;
    double memory_bytes = device->memory_bytes;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "name"), "name", &name));
    YK_TRY(yk_json_get_string(node, "type", &type));
    YK_TRY(yk_json_get_positive_quantity(node, "memory", YK_UNIT_BYTES, &memory_bytes));
    if (strcmp(name, device->name) != 0) {
        return yk_fail(YK_ERROR_INPUT, "device %zu was \"%s\", it is \"%s\" now", number, name,
                       device->name);
    }
    const bool same_type = strcmp(type ? type : "", device->type ? device->type : "") == 0;
    if (same_type && memory_bytes == device->memory_bytes) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "device %zu was %s with %s, it is %s with %s now", number,
                   type ? type : "a device", YK_UNITS_FORMAT_TEMPORARY(memory_bytes, YK_UNIT_BYTES),
                   device->type ? device->type : "a device",
                   YK_UNITS_FORMAT_TEMPORARY(device->memory_bytes, YK_UNIT_BYTES));
}

static yk_status check_devices(const struct yk_json *list, const struct yk_cluster *cluster)
{
    const size_t count = yk_json_array_count(list);
    if (list && count != (size_t)cluster->device_count) {
        return yk_fail(YK_ERROR_INPUT, "made for %zu devices, this cluster has %d", count,
                       cluster->device_count);
    }
    for (size_t i = 0; i < count; i++) {
        YK_TRY(check_device(yk_json_array_at(list, i), i, &cluster->devices[i]));
    }
    return YK_OK;
}

static yk_status check_cluster(const struct yk_json *node, const struct yk_cluster *cluster)
{
    char hash[YK_PLAN_PROVENANCE_HASH_SIZE];
    const struct yk_json *devices = NULL;
    const char *source = NULL;
    bool different = false;
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "source"), "source", &source));
    YK_TRY(yk_json_get_array(node, "devices", &devices));
    YK_TRY(check_devices(devices, cluster));
    YK_TRY(yk_plan_provenance_hash_links(cluster, hash));
    YK_TRY(differs(node, "links", hash, &different));
    if (different) {
        return yk_fail(YK_ERROR_INPUT, "the links are not those that the plan was made for; plan "
                                       "again");
    }
    YK_TRY(yk_plan_provenance_hash_cluster(cluster, hash));
    YK_TRY(differs(node, "hash", hash, &different));
    return different ? yk_fail(YK_ERROR_INPUT,
                               "the rates, nodes or measured times of the devices are not those "
                               "that the plan was made for; plan again")
                     : YK_OK;
}

static yk_status check_profile(const struct yk_json *node, struct yk_profile *profile)
{
    char hash[YK_PLAN_PROVENANCE_HASH_SIZE];
    const char *source = NULL;
    bool different = false;
    if (!node) {
        return profile ? yk_fail(YK_ERROR_INPUT, "made without a profile, but one is given")
                       : YK_OK;
    }
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "source"), "source", &source));
    if (!profile) {
        return yk_fail(YK_ERROR_INPUT, "made with %s, but no profile is given", source);
    }
    YK_TRY(hash_profile(profile, hash));
    YK_TRY(differs(node, "hash", hash, &different));
    return different ? yk_fail(YK_ERROR_INPUT,
                               "%s holds other times than those that the plan was made with; plan "
                               "again",
                               source)
                     : YK_OK;
}

yk_status yk_plan_provenance_check(const struct yk_json *root,
                                   const struct yk_plan_file_context *context)
{
    struct members members;
    YK_TRY(read_members(root, &members));
    YK_TRY(yk_status_prefix_message(check_model(members.model, context->config), "model"));
    YK_TRY(yk_status_prefix_message(check_cluster(members.cluster, context->cluster), "cluster"));
    return context->any_profile ? YK_OK
                                : yk_status_prefix_message(
                                      check_profile(members.profile, context->profile), "profile");
}

/* Reads the member "source". Converts a path to one from the working directory. */
static yk_status read_source(const struct yk_json *member, const char *key, const char *path,
                             struct yk_arena *arena, const char **out)
{
    const char *source = NULL;
    YK_TRY(yk_status_prefix_message(
        yk_json_read_nonempty_string(yk_json_get_member(member, "source"), "source", &source),
        key));
    return strcmp(key, "model") == 0 && !yk_model_config_name_is_path(source)
               ? yk_arena_strdup(arena, source, out)
               : yk_plan_path_resolve(source, path, arena, out);
}

yk_status yk_plan_provenance_read_source_paths(const struct yk_json *root, const char *path,
                                               struct yk_arena *arena,
                                               struct yk_plan_source_paths *out)
{
    struct members members;
    struct yk_plan_source_paths sources = {0};
    YK_TRY(read_members(root, &members));
    YK_TRY(read_source(members.model, "model", path, arena, &sources.model));
    YK_TRY(read_source(members.cluster, "cluster", path, arena, &sources.cluster));
    if (members.profile) {
        YK_TRY(read_source(members.profile, "profile", path, arena, &sources.profile));
    }
    *out = sources;
    return YK_OK;
}

/* A built-in model and a cluster given as a line are not files. A model file may not exist yet. */
static bool is_file(const char *key, const char *source)
{
    if (strcmp(key, "model") == 0) {
        return yk_model_config_name_is_path(source);
    }
    return access(source, F_OK) == 0;
}

/* Begins the member; the caller ends it. */
static yk_status write_source(const char *key, const char *source, const char *hash,
                              const struct yk_plan_file_context *context, struct yk_arena *arena,
                              struct yk_json_writer *json)
{
    if (context->path && is_file(key, source)) {
        YK_TRY(yk_plan_path_make_relative(source, context->path, arena, &source));
    }
    yk_json_write_newline(json, 1);
    yk_json_write_begin_object(json, key);
    yk_json_write_string(json, "source", source);
    yk_json_write_string(json, "hash", hash);
    return YK_OK;
}

static void write_devices(const struct yk_cluster *cluster, struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "devices");
    for (int32_t i = 0; i < cluster->device_count; i++) {
        const struct yk_device *device = &cluster->devices[i];
        yk_json_write_begin_object_on_new_line(json, 2);
        yk_json_write_string(json, "name", device->name);
        if (device->type) {
            yk_json_write_string(json, "type", device->type);
        }
        yk_plan_json_write_byte_size(json, "memory", device->memory_bytes);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_plan_provenance_write_json(const struct yk_plan *plan,
                                        const struct yk_plan_file_context *context,
                                        struct yk_arena *arena, struct yk_json_writer *json)
{
    char hash[YK_PLAN_PROVENANCE_HASH_SIZE];
    int64_t parameters = 0;
    YK_TRY(count_parameters(context->config, &parameters));
    YK_TRY(yk_plan_provenance_hash_model(context->config, hash));
    YK_TRY(write_source("model", plan->model_source, hash, context, arena, json));
    yk_json_write_newline(json, 2);
    yk_json_write_integer(json, "layers", count_layers(context->config));
    yk_json_write_integer(json, "parameters", parameters);
    yk_json_write_end_object(json);
    YK_TRY(yk_plan_provenance_hash_cluster(context->cluster, hash));
    YK_TRY(write_source("cluster", plan->cluster_source, hash, context, arena, json));
    YK_TRY(yk_plan_provenance_hash_links(context->cluster, hash));
    yk_json_write_string(json, "links", hash);
    write_devices(context->cluster, json);
    yk_json_write_end_object(json);
    if (context->profile) {
        YK_TRY(hash_profile(context->profile, hash));
        YK_TRY(write_source("profile", plan->profile_source, hash, context, arena, json));
        yk_json_write_end_object(json);
    } else {
        yk_json_write_newline(json, 1);
        yk_json_write_null(json, "profile");
    }
    return yk_text_status(json->text);
}

void yk_plan_provenance_hash_bytes(const char *bytes, size_t length,
                                   char out[YK_PLAN_PROVENANCE_HASH_SIZE])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) {
        hash ^= (unsigned char)bytes[i];
        hash *= UINT64_C(0x100000001b3);
    }
    (void)snprintf(out, YK_PLAN_PROVENANCE_HASH_SIZE, "%016" PRIx64, hash);
}

yk_status yk_plan_provenance_hash_model(const struct yk_model_config *config,
                                        char out[YK_PLAN_PROVENANCE_HASH_SIZE])
{
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {
        {"vocabulary", config->vocabulary},
        {"target_vocabulary", config->target_vocabulary},
        {"width", config->width},
        {"positions", config->positions},
        {"token_types", config->token_types},
        {"layers", config->layers},
        {"encoder_layers", config->encoder_layers},
        {"heads", config->heads},
        {"kv_heads", config->kv_heads},
        {"head_size", config->head_size},
        {"encoder_heads", config->encoder_heads},
        {"inner", config->feed_forward_width},
        {"encoder_inner", config->encoder_inner},
        {"tied", config->tied},
        {"shared", config->shared},
        {"relu", config->activation == YK_ACTIVATION_RELU},
        {"linear_bias", config->qkv_bias && config->out_bias},
        {"inner_bias", config->inner_bias},
        {"pooler", config->pooler},
        {"masked_head", config->masked_head},
    };
    /* Properties that only some models have. */
    const struct {
        const char *name;
        int64_t value;
    } more[] = {
        {"qkv_bias", config->qkv_bias && !config->out_bias},
        {"parallel", config->parallel},
        {"window", config->window},
        {"experts", config->experts},
        {"experts_per_token", config->experts_per_token},
        {"expert_width", config->expert_width},
        {"shared_expert_width", config->shared_expert_width},
        {"channels", config->image.channels},
        {"image_height", config->image.height},
        {"image_width", config->image.width},
        {"patch_height", config->image.patch_height},
        {"patch_width", config->image.patch_width},
    };
    struct yk_text text = {0};
    yk_text_addf(&text, "architecture %s\n", config->architecture->name);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        yk_text_addf(&text, "%s %" PRId64 "\n", fields[i].name, fields[i].value);
    }
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        if (more[i].value != 0) {
            yk_text_addf(&text, "%s %" PRId64 "\n", more[i].name, more[i].value);
        }
    }
    for (int64_t i = 0; config->block_flags && i < config->layers; i++) {
        yk_text_addf(&text, "block %u\n", yk_model_config_block_flags(config, i));
    }
    return hash_text(YK_OK, &text, out);
}

/* Hexadecimal bits are faster than decimal digits, and there are many links. */
static void add_bits(struct yk_text *text, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    yk_text_addf(text, "%016" PRIx64 "\n", bits);
}

static void add_links(const struct yk_cluster *cluster, struct yk_text *text)
{
    for (int32_t a = 0; a < cluster->device_count; a++) {
        for (int32_t b = a + 1; b < cluster->device_count; b++) {
            const struct yk_link *link = yk_cluster_link_between(cluster, a, b);
            add_bits(text, link->latency_s);
            add_bits(text, link->bytes_per_s);
        }
    }
}

/* Writes every device as a cluster file of one device, then all links. */
static yk_status write_cluster(const struct yk_cluster *cluster, struct yk_text *text)
{
    for (int32_t i = 0; i < cluster->device_count; i++) {
        const struct yk_cluster alone = {
            .device_count = 1,
            .devices = &cluster->devices[i],
            .host_memory_bytes = cluster->host_memory_bytes,
        };
        YK_TRY(yk_cluster_write_json(&alone, text));
    }
    add_links(cluster, text);
    return YK_OK;
}

yk_status yk_plan_provenance_hash_cluster(const struct yk_cluster *cluster,
                                          char out[YK_PLAN_PROVENANCE_HASH_SIZE])
{
    struct yk_text text = {0};
    return hash_text(write_cluster(cluster, &text), &text, out);
}

yk_status yk_plan_provenance_hash_links(const struct yk_cluster *cluster,
                                        char out[YK_PLAN_PROVENANCE_HASH_SIZE])
{
    struct yk_text text = {0};
    add_links(cluster, &text);
    return hash_text(YK_OK, &text, out);
}
