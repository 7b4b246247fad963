#include "graph/json_stores.h"

#include "base/json.h"
#include "base/names.h"

#include <stdlib.h>

struct reading {
    struct yk_graph_builder *builder;
    struct yk_names *names; /* of the stores listed, by their place in the list */
    bool *used;             /* likewise */
};

static yk_status add_store(struct reading *reading, const struct yk_json *node)
{
    static const char *const known[] = {"name", "bytes"};
    const char *name = NULL;
    bool added = false;
    int32_t number = 0;
    double bytes = 0;
    YK_TRY(yk_json_check_object(node, known, sizeof known / sizeof known[0]));
    YK_TRY(yk_json_read_name(yk_json_get(node, "name"), "name", &name));
    YK_TRY(yk_names_add(reading->names, name, &added, &number));
    if (!added) {
        return yk_fail(YK_ERROR_INPUT, "this store is given twice");
    }
    const struct yk_json *value = yk_json_get(node, "bytes");
    if (!value) {
        return yk_fail(YK_ERROR_INPUT, "\"bytes\" is missing");
    }
    YK_TRY(yk_json_read_quantity(value, "bytes", YK_UNIT_BYTES, &bytes));
    return yk_graph_builder_set_store_bytes(reading->builder, name, bytes);
}

static yk_status use_store(struct reading *reading, const struct yk_json *group)
{
    const struct yk_json *node = yk_json_get(group, "store");
    const char *store = NULL;
    if (!node) {
        return YK_OK;
    }
    YK_TRY(yk_json_read_name(node, "store", &store));
    const int32_t number = yk_names_find(reading->names, store);
    if (number < 0) {
        const char *nearest = yk_names_nearest(reading->names, store);
        return yk_fail(YK_ERROR_INPUT, "there is no store \"%s\" in \"stores\"%s%s%s", store,
                       nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                       nearest ? "\"?" : "");
    }
    reading->used[number] = true;
    return yk_graph_builder_set_store(reading->builder, yk_json_string(yk_json_get(group, "name")),
                                      store);
}

static yk_status read_lists(struct reading *reading, const struct yk_json *stores,
                            const struct yk_json *groups)
{
    for (size_t i = 0; i < yk_json_count(stores); i++) {
        const struct yk_json *node = yk_json_at(stores, i);
        YK_TRY(yk_json_add_location(add_store(reading, node), "stores", i,
                                    yk_json_string(yk_json_get(node, "name"))));
    }
    for (size_t i = 0; i < yk_json_count(groups); i++) {
        const struct yk_json *node = yk_json_at(groups, i);
        YK_TRY(yk_json_add_location(use_store(reading, node), "groups", i,
                                    yk_json_string(yk_json_get(node, "name"))));
    }
    for (size_t i = 0; i < yk_json_count(stores); i++) {
        if (!reading->used[i]) {
            return yk_json_add_location(yk_fail(YK_ERROR_INPUT, "no group uses this store"),
                                        "stores", i, yk_names_at(reading->names, (int32_t)i));
        }
    }
    return YK_OK;
}

yk_status yk_graph_json_read_stores(const struct yk_json *root, struct yk_graph_builder *builder)
{
    const struct yk_json *stores = NULL;
    YK_TRY(yk_json_get_list(root, "stores", &stores));
    struct reading reading = {
        .builder = builder,
        .used = calloc(yk_json_count(stores) + 1, sizeof *reading.used),
    };
    if (!reading.used) {
        return yk_fail_out_of_memory();
    }
    yk_status status = yk_names_create(&reading.names);
    if (status == YK_OK) {
        status = read_lists(&reading, stores, yk_json_get(root, "groups"));
    }
    yk_names_destroy(reading.names);
    free(reading.used);
    return status;
}
