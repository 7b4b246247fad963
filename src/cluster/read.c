/*
 * A cluster file:
 *
 *   {"yoke": 1, "kind": "cluster",
 *    "devices": [{"name": "gpu0", "type": "rtx3090"}, {"name": "gpu1", "memory": "48GiB", …}],
 *    "links": {"bandwidth": "32GB/s", "latency": "10us"}}
 */
#include "base/json.h"
#include "base/names.h"
#include "base/number.h"
#include "cluster/cluster.h"
#include "cluster/json_device.h"
#include "cluster/json_links.h"

#include <string.h>

struct reading {
    const struct yk_json *root;
    struct yk_names *devices;
    struct yk_names *nodes;
    struct yk_cluster_builder draft;
};

static yk_status check_root(const struct yk_json *root)
{
    static const char *const known[] = {"yoke",        "kind",    "name", "comment",
                                        "host_memory", "devices", "links"};
    return yk_json_check_document(root, "cluster", known, sizeof known / sizeof known[0]);
}

/* Nodes are numbered as they come; devices that name none share one. */
static yk_status read_node(const struct reading *reading, const struct yk_json *device,
                           int32_t *out)
{
    char digits[YK_NUMBER_SIZE];
    double number = 0;
    bool added = false;
    const struct yk_json *node = yk_json_get(device, "node");
    const char *name = node ? yk_json_string(node) : "";
    if (node && yk_json_number(node, &number)) {
        yk_number_format(number, digits);
        name = digits;
    }
    if (!name) {
        return yk_fail(YK_ERROR_INPUT, "\"node\" must be a name or a number, not %s",
                       yk_json_kind(node));
    }
    return yk_names_add(reading->nodes, name, &added, out);
}

static yk_status read_device(struct reading *reading, const struct yk_json *node)
{
    struct yk_device device = {0};
    bool added = false;
    int32_t number = 0;
    YK_TRY(yk_cluster_json_device_read(node, reading->draft.arena, &device));
    YK_TRY(read_node(reading, node, &device.node));
    YK_TRY(yk_names_add(reading->devices, device.name, &added, &number));
    if (!added) {
        return yk_fail(YK_ERROR_INPUT, "another device has this name");
    }
    return yk_cluster_builder_add_device(&reading->draft, &device);
}

static yk_status read_devices(struct reading *reading)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_get_list(reading->root, "devices", &list));
    if (!list) {
        return yk_fail(YK_ERROR_INPUT, "\"devices\" is missing");
    }
    if (yk_json_count(list) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"devices\" is empty");
    }
    for (size_t i = 0; i < yk_json_count(list); i++) {
        const struct yk_json *node = yk_json_at(list, i);
        YK_TRY(yk_json_add_location(read_device(reading, node), "devices", i,
                                    yk_json_string(yk_json_get(node, "name"))));
    }
    return YK_OK;
}

static yk_status read_root(struct reading *reading, const char *source, struct yk_cluster **out)
{
    double host_memory_bytes = 0;
    YK_TRY(check_root(reading->root));
    YK_TRY(yk_json_get_amount(reading->root, "host_memory", YK_UNIT_BYTES, &host_memory_bytes));
    YK_TRY(read_devices(reading));
    YK_TRY(yk_cluster_builder_begin_links(&reading->draft));
    YK_TRY(yk_cluster_json_links_read(yk_json_get(reading->root, "links"), reading->devices,
                                      &reading->draft));
    return yk_cluster_builder_finish(&reading->draft, source, host_memory_bytes, out);
}

static yk_status read_named(const struct yk_json *root, const char *source, struct yk_cluster **out)
{
    struct reading reading = {.root = root};
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_cluster_builder_begin(&reading.draft), done);
    YK_TRY_GOTO(yk_names_create(&reading.devices), done);
    YK_TRY_GOTO(yk_names_create(&reading.nodes), done);
    status = read_root(&reading, source, out);
done:
    yk_names_destroy(reading.nodes);
    yk_names_destroy(reading.devices);
    yk_cluster_builder_free(&reading.draft);
    return status;
}

yk_status yk_cluster_read(const char *text, size_t length, const char *source,
                          struct yk_cluster **out)
{
    YK_TRY_JSON(root, text, length, source, read_named(root, source, out));
    return YK_OK;
}
