#include "cluster/cluster.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/name_index.h"
#include "base/number.h"
#include "base/text.h"
#include "cluster/cluster_builder.h"
#include "cluster/datasheet.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/*
 * A cluster file:
 *
 *   {"yoke": 1, "kind": "cluster",
 *    "devices": [{"name": "gpu0", "type": "rtx3090"}, {"name": "gpu1", "memory": "48GiB", …}],
 *    "links": {"bandwidth": "32GB/s", "latency": "10us"}}
 */
enum {
    MAX_CORES = 4096,
    MAX_MEASURED = 100000,
    MAX_SAMPLES = 1000000000,
};

#define CONTROL_CHARACTERS                                                                         \
    "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16"     \
    "\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static yk_status require_time(const struct yk_json *node, const char *key, double *out)
{
    *out = NAN;
    YK_TRY(yk_json_get_nonnegative_quantity(node, key, YK_UNIT_SECONDS, out));
    return isnan(*out) ? yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key) : YK_OK;
}

static yk_status read_measured_layer(const struct yk_json *node, struct yk_arena *arena,
                                     struct yk_measured_layer_time *out)
{
    static const char *const known[] = {"layer", "model",   "precision", "sequence",
                                        "batch", "forward", "backward",  "update"};
    const char *layer = NULL;
    const char *model = NULL;
    const char *precision = NULL;
    enum yk_precision found = YK_PRECISION_FP32;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_get_string(node, "layer", &layer));
    YK_TRY(yk_json_get_string(node, "model", &model));
    YK_TRY(yk_json_get_string(node, "precision", &precision));
    if (!layer) {
        return yk_fail(YK_ERROR_INPUT, "\"layer\" is missing");
    }
    if (precision && !yk_precision_find(precision, &found)) {
        return yk_fail(YK_ERROR_INPUT, "\"precision\" is \"%s\", not fp32, tf32, fp16 or bf16",
                       precision);
    }
    *out = (struct yk_measured_layer_time){.update_s = NAN};
    YK_TRY(yk_arena_strdup(arena, layer, &out->layer));
    YK_TRY(yk_arena_strdup(arena, model, &out->model));
    YK_TRY(yk_arena_strdup(arena, precision, &out->precision));
    YK_TRY(yk_json_get_integer(node, "sequence", 1, MAX_SAMPLES, &out->sequence));
    YK_TRY(yk_json_get_integer(node, "batch", 1, MAX_SAMPLES, &out->batch));
    if (out->batch == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"batch\" is missing");
    }
    YK_TRY(require_time(node, "forward", &out->forward_s));
    YK_TRY(require_time(node, "backward", &out->backward_s));
    return yk_json_get_nonnegative_quantity(node, "update", YK_UNIT_SECONDS, &out->update_s);
}

static yk_status read_measured(const struct yk_json *device, struct yk_arena *arena,
                               struct yk_device *out)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_get_array(device, "measured", &list));
    const size_t count = yk_json_array_count(list);
    if (count > MAX_MEASURED) {
        return yk_fail(YK_ERROR_INPUT, "\"measured\" has more than %d entries", MAX_MEASURED);
    }
    struct yk_measured_layer_time *measured = NULL;
    if (count > 0) {
        YK_TRY_NEW(arena, measured, count);
    }
    for (size_t i = 0; i < count; i++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_measured_layer(yk_json_array_at(list, i), arena, &measured[i]), "measured", i,
            NULL));
    }
    out->measured = measured;
    out->measured_count = (int32_t)count;
    return YK_OK;
}

/* The part that is meant, 1 for a whole device, and the cores of a CPU. */
static yk_status read_part(const struct yk_json *node, const struct yk_datasheet *sheet,
                           double *out, int32_t *out_cores)
{
    const struct yk_json *part = yk_json_get_member(node, "part");
    int64_t cores = 0;
    *out = 1;
    if (part && (!yk_json_number_value(part, out) || !(*out > 0) || *out > 1)) {
        return yk_fail(YK_ERROR_INPUT, "\"part\" must be a number above 0 and at most 1");
    }
    YK_TRY(yk_json_get_integer(node, "cores", 1, MAX_CORES, &cores));
    if (!sheet || sheet->generation != YK_DEVICE_GENERATION_CPU) {
        return cores == 0 ? YK_OK
                          : yk_fail(YK_ERROR_INPUT, "\"cores\" is for devices of type \"cpu\"");
    }
    if (cores == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"cores\" is missing; a CPU counts by its cores");
    }
    *out_cores = (int32_t)cores;
    return YK_OK;
}

static yk_status find_type(const struct yk_json *node, const struct yk_datasheet **out)
{
    const char *type = NULL;
    YK_TRY(yk_json_get_string(node, "type", &type));
    *out = type ? yk_datasheet_find(type) : NULL;
    if (!type || *out) {
        return YK_OK;
    }
    const char *nearest = yk_datasheet_nearest_name(type);
    if (nearest) {
        return yk_fail(YK_ERROR_INPUT, "unknown type \"%s\"; did you mean \"%s\"?", type, nearest);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "unknown type \"%s\"; yoke devices --list names those known, and without a type "
                   "a device says its memory, rates and memory_bandwidth itself",
                   type);
}

/* One rate for all formats, or an object with those that are said. */
static yk_status read_matrix(const struct yk_json *rates, struct yk_device *out)
{
    const char *known[YK_PRECISION_COUNT];
    const struct yk_json *matrix = yk_json_get_member(rates, "matrix");
    if (!matrix) {
        return YK_OK;
    }
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        known[i] = yk_precision_name((enum yk_precision)i);
    }
    double *flops = out->matrix_flops;
    if (!yk_json_is_object(matrix)) {
        YK_TRY(yk_json_get_positive_quantity(rates, "matrix", YK_UNIT_FLOPS, &flops[0]));
        for (int i = 1; i < YK_PRECISION_COUNT; i++) {
            flops[i] = flops[0];
        }
        return YK_OK;
    }
    YK_TRY(yk_json_check_keys(matrix, known, COUNT(known)));
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        YK_TRY(yk_json_get_positive_quantity(matrix, known[i], YK_UNIT_FLOPS, &flops[i]));
    }
    return YK_OK;
}

/* Whoever says only one of the two fp32 rates means both, unless a datasheet has the other. */
static yk_status read_rates(const struct yk_json *node, struct yk_device *out)
{
    static const char *const known[] = {"matrix", "vector"};
    const struct yk_json *rates = yk_json_get_member(node, "rates");
    if (!rates) {
        return YK_OK;
    }
    if (!yk_json_is_object(rates)) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"rates\" must be an object with \"matrix\" and \"vector\", not %s",
                       yk_json_type_name(rates));
    }
    YK_TRY(yk_json_check_keys(rates, known, COUNT(known)));
    YK_TRY(yk_status_prefix_message(read_matrix(rates, out), "matrix"));
    YK_TRY(yk_json_get_positive_quantity(rates, "vector", YK_UNIT_FLOPS, &out->vector_flops));
    if (!(out->vector_flops > 0)) {
        out->vector_flops = out->matrix_flops[YK_PRECISION_FP32];
    }
    return YK_OK;
}

static yk_status check_complete(const struct yk_json *node, const struct yk_device *device)
{
    if (!(device->vector_flops > 0) && yk_json_get_member(node, "rates")) {
        return yk_fail(YK_ERROR_INPUT, "\"rates\" says neither \"vector\" nor the \"fp32\" of "
                                       "\"matrix\"");
    }
    const char *missing = !(device->memory_bytes > 0)         ? "memory"
                          : !(device->vector_flops > 0)       ? "rates"
                          : !(device->memory_bytes_per_s > 0) ? "memory_bandwidth"
                                                              : NULL;
    if (!missing) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "\"%s\" is missing; a device has a type, or says its memory, rates and "
                   "memory_bandwidth",
                   missing);
}

static yk_status read_device_fields(const struct yk_json *node, struct yk_arena *arena,
                                    struct yk_device *out)
{
    static const char *const known[] = {"name",     "type",   "part", "cores",
                                        "memory",   "rates",  "node", "memory_bandwidth",
                                        "measured", "comment"};
    const struct yk_datasheet *sheet = NULL;
    const char *text = NULL;
    double part = 1;
    int32_t cores = 0;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(find_type(node, &sheet));
    YK_TRY(read_part(node, sheet, &part, &cores));
    if (sheet) {
        yk_cluster_builder_device_from_datasheet(sheet, part, cores, out);
    } else {
        *out = (struct yk_device){.fraction = part};
    }
    YK_TRY(yk_json_get_string(node, "comment", &text));
    YK_TRY(yk_json_get_string(node, "name", &text));
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "\"name\" is missing");
    }
    if (strcspn(text, CONTROL_CHARACTERS) != strlen(text)) {
        return yk_fail(YK_ERROR_INPUT, "\"name\" holds a control character");
    }
    YK_TRY(yk_arena_strdup(arena, text, &out->name));
    YK_TRY(yk_json_get_positive_quantity(node, "memory", YK_UNIT_BYTES, &out->memory_bytes));
    YK_TRY(yk_json_get_positive_quantity(node, "memory_bandwidth", YK_UNIT_BYTES_PER_S,
                                         &out->memory_bytes_per_s));
    YK_TRY(yk_status_prefix_message(read_rates(node, out), "rates"));
    YK_TRY(check_complete(node, out));
    return read_measured(node, arena, out);
}

struct link_entry {
    int32_t between[2]; /* -1 in the link of all other pairs */
    struct yk_link link;
};

/* {"bandwidth": …, "latency": …}, or {"type": "nvlink3"} with either said otherwise. */
static yk_status read_link(const struct yk_json *node, struct yk_link *out)
{
    const char *type = NULL;
    YK_TRY(yk_json_get_string(node, "type", &type));
    const struct yk_interconnect *known = type ? yk_interconnect_find(type) : NULL;
    if (type && !known) {
        const char *nearest = yk_interconnect_nearest_name(type);
        return nearest ? yk_fail(YK_ERROR_INPUT, "unknown type \"%s\"; did you mean \"%s\"?", type,
                                 nearest)
                       : yk_fail(YK_ERROR_INPUT, "unknown type \"%s\"; say its bandwidth instead",
                                 type);
    }
    *out = (struct yk_link){
        .latency_s = known ? known->latency_s : YK_INTERCONNECT_DEFAULT_LATENCY_S,
        .bytes_per_s = known ? known->bytes_per_s : 0,
    };
    YK_TRY(
        yk_json_get_positive_quantity(node, "bandwidth", YK_UNIT_BYTES_PER_S, &out->bytes_per_s));
    YK_TRY(yk_json_get_nonnegative_quantity(node, "latency", YK_UNIT_SECONDS, &out->latency_s));
    return out->bytes_per_s > 0 ? YK_OK : yk_fail(YK_ERROR_INPUT, "\"bandwidth\" is missing");
}

static yk_status find_device(const struct yk_json *node, const struct yk_name_index *names,
                             int32_t *out)
{
    const char *name = yk_json_string_value(node);
    if (!name) {
        return yk_fail(YK_ERROR_INPUT, "\"between\" must be a list of two devices");
    }
    const int32_t number = yk_name_index_find(names, name);
    if (number < 0) {
        const char *nearest = yk_name_index_find_nearest(names, name);
        return nearest ? yk_fail(YK_ERROR_INPUT, "no device is \"%s\"; did you mean \"%s\"?", name,
                                 nearest)
                       : yk_fail(YK_ERROR_INPUT, "no device is \"%s\"", name);
    }
    *out = number;
    return YK_OK;
}

static yk_status read_link_entry(const struct yk_json *node, const struct yk_name_index *names,
                                 struct link_entry *out)
{
    static const char *const known[] = {"between", "type", "latency", "bandwidth"};
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(read_link(node, &out->link));
    const struct yk_json *between = yk_json_get_member(node, "between");
    out->between[0] = -1;
    out->between[1] = -1;
    if (!between) {
        return YK_OK;
    }
    if (yk_json_array_count(between) != 2) {
        return yk_fail(YK_ERROR_INPUT, "\"between\" must be a list of two devices");
    }
    YK_TRY(find_device(yk_json_array_at(between, 0), names, &out->between[0]));
    YK_TRY(find_device(yk_json_array_at(between, 1), names, &out->between[1]));
    return out->between[0] != out->between[1]
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"between\" names one device twice");
}

static bool is_set(const struct yk_cluster_builder *builder, int32_t a, int32_t b)
{
    return builder->links[(int64_t)a * builder->device_count + b].bytes_per_s > 0;
}

static void set_others(struct yk_cluster_builder *builder, struct yk_link link)
{
    for (int32_t a = 0; a < builder->device_count; a++) {
        for (int32_t b = a + 1; b < builder->device_count; b++) {
            if (!is_set(builder, a, b)) {
                yk_cluster_builder_set_link(builder, a, b, link);
            }
        }
    }
}

static yk_status set_entry(const struct link_entry *entry, struct yk_cluster_builder *builder,
                           struct yk_link *others)
{
    if (entry->between[0] < 0) {
        if (others->bytes_per_s > 0) {
            return yk_fail(YK_ERROR_INPUT, "a second link without \"between\"; only one can be for "
                                           "all other pairs");
        }
        *others = entry->link;
        return YK_OK;
    }
    if (is_set(builder, entry->between[0], entry->between[1])) {
        return yk_fail(YK_ERROR_INPUT, "this pair has a link already");
    }
    yk_cluster_builder_set_link(builder, entry->between[0], entry->between[1], entry->link);
    return YK_OK;
}

static yk_status read_link_list(const struct yk_json *list, const struct yk_name_index *names,
                                struct yk_cluster_builder *builder)
{
    struct yk_link others = {0};
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        struct link_entry entry = {0};
        yk_status status = read_link_entry(yk_json_array_at(list, i), names, &entry);
        YK_IF_OK(set_entry(&entry, builder, &others));
        YK_TRY(yk_json_prefix_error_with_element(status, "links", i, NULL));
    }
    /* Last, so that it fills only the pairs nobody named. */
    if (others.bytes_per_s > 0) {
        set_others(builder, others);
    }
    return YK_OK;
}

static yk_status read_links(const struct yk_json *node, const struct yk_name_index *names,
                            struct yk_cluster_builder *builder)
{
    static const char *const known[] = {"type", "latency", "bandwidth"};
    if (!node) {
        return YK_OK;
    }
    if (yk_json_is_array(node)) {
        return read_link_list(node, names, builder);
    }
    struct yk_link link = {0};
    yk_status status = yk_json_check_object_keys(node, known, COUNT(known));
    YK_IF_OK(read_link(node, &link));
    YK_TRY(yk_status_prefix_message(status, "links"));
    set_others(builder, link);
    return YK_OK;
}

struct reading {
    const struct yk_json *root;
    struct yk_name_index *devices;
    struct yk_name_index *nodes;
    struct yk_cluster_builder builder;
};

/* Nodes are numbered as they come; devices that name none share one. */
static yk_status read_node(const struct reading *reading, const struct yk_json *device,
                           int32_t *out)
{
    char digits[YK_NUMBER_BUFFER_SIZE];
    double number = 0;
    bool added = false;
    const struct yk_json *node = yk_json_get_member(device, "node");
    const char *name = node ? yk_json_string_value(node) : "";
    if (node && yk_json_number_value(node, &number)) {
        yk_number_format(number, digits);
        name = digits;
    }
    if (!name) {
        return yk_fail(YK_ERROR_INPUT, "\"node\" must be a name or a number, not %s",
                       yk_json_type_name(node));
    }
    return yk_name_index_add(reading->nodes, name, &added, out);
}

static yk_status read_device(struct reading *reading, const struct yk_json *node)
{
    struct yk_device device = {0};
    bool added = false;
    int32_t number = 0;
    YK_TRY(read_device_fields(node, reading->builder.arena, &device));
    YK_TRY(read_node(reading, node, &device.node));
    YK_TRY(yk_name_index_add(reading->devices, device.name, &added, &number));
    if (!added) {
        return yk_fail(YK_ERROR_INPUT, "another device has this name");
    }
    return yk_cluster_builder_add_device(&reading->builder, &device);
}

static yk_status read_devices(struct reading *reading)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_get_array(reading->root, "devices", &list));
    if (!list) {
        return yk_fail(YK_ERROR_INPUT, "\"devices\" is missing");
    }
    if (yk_json_array_count(list) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"devices\" is empty");
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const struct yk_json *node = yk_json_array_at(list, i);
        YK_TRY(yk_json_prefix_error_with_element(
            read_device(reading, node), "devices", i,
            yk_json_string_value(yk_json_get_member(node, "name"))));
    }
    return YK_OK;
}

static yk_status read_root(struct reading *reading, const char *source, struct yk_cluster **out)
{
    static const char *const known[] = {"yoke",        "kind",    "name", "comment",
                                        "host_memory", "devices", "links"};
    double host_memory_bytes = 0;
    YK_TRY(yk_json_check_yoke_document(reading->root, "cluster", known, COUNT(known)));
    YK_TRY(yk_json_get_positive_quantity(reading->root, "host_memory", YK_UNIT_BYTES,
                                         &host_memory_bytes));
    YK_TRY(read_devices(reading));
    YK_TRY(yk_cluster_builder_begin_links(&reading->builder));
    YK_TRY(read_links(yk_json_get_member(reading->root, "links"), reading->devices,
                      &reading->builder));
    return yk_cluster_builder_finish(&reading->builder, source, host_memory_bytes, out);
}

static yk_status read_named(const struct yk_json *root, const char *source, struct yk_cluster **out)
{
    struct reading reading = {.root = root};
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_cluster_builder_begin(&reading.builder), done);
    YK_TRY_GOTO(yk_name_index_create(&reading.devices), done);
    YK_TRY_GOTO(yk_name_index_create(&reading.nodes), done);
    status = read_root(&reading, source, out);
done:
    yk_name_index_destroy(reading.nodes);
    yk_name_index_destroy(reading.devices);
    yk_cluster_builder_free(&reading.builder);
    return status;
}

yk_status yk_cluster_read_json(const char *text, size_t length, const char *source,
                               struct yk_cluster **out)
{
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, read_named(root, source, out));
    return YK_OK;
}

void yk_cluster_destroy(struct yk_cluster *cluster)
{
    if (cluster) {
        yk_arena_destroy(cluster->arena);
    }
}

static bool is_file(const char *word)
{
    return strcmp(word, "-") == 0 || access(word, F_OK) == 0 || strcmp(word, ".json") == 0 ||
           yk_text_ends_with(word, ".json");
}

yk_status yk_cluster_read_or_parse(const char *word, struct yk_cluster **out)
{
    if (!is_file(word)) {
        return yk_status_prefix_message(yk_cluster_parse_line(word, out), "cluster");
    }
    struct yk_text text = {0};
    yk_status status = yk_file_read_document(word, &text);
    if (status == YK_OK) {
        const char *source = strcmp(word, "-") == 0 ? "standard input" : word;
        status = yk_cluster_read_json(yk_text_chars(&text), text.length, source, out);
    }
    yk_text_free(&text);
    return status;
}
