#include "cluster/json_links.h"

#include "base/json.h"
#include "cluster/interconnect.h"

struct entry {
    int32_t between[2]; /* -1 in the link of all other pairs */
    struct yk_link link;
};

/* {"bandwidth": …, "latency": …}, or {"type": "nvlink3"} with either said otherwise. */
static yk_status read_link(const struct yk_json *node, struct yk_link *out)
{
    const char *type = NULL;
    YK_TRY(yk_json_get_text(node, "type", &type));
    const struct yk_interconnect *known = type ? yk_interconnect_find(type) : NULL;
    if (type && !known) {
        const char *nearest = yk_interconnect_nearest(type);
        return nearest ? yk_fail(YK_ERROR_INPUT, "unknown type \"%s\"; did you mean \"%s\"?", type,
                                 nearest)
                       : yk_fail(YK_ERROR_INPUT, "unknown type \"%s\"; say its bandwidth instead",
                                 type);
    }
    *out = (struct yk_link){
        .latency_s = known ? known->latency_s : YK_INTERCONNECT_LATENCY_S,
        .bytes_per_s = known ? known->bytes_per_s : 0,
    };
    YK_TRY(yk_json_get_amount(node, "bandwidth", YK_UNIT_BYTES_PER_S, &out->bytes_per_s));
    YK_TRY(yk_json_get_amount_or_zero(node, "latency", YK_UNIT_SECONDS, &out->latency_s));
    return out->bytes_per_s > 0 ? YK_OK : yk_fail(YK_ERROR_INPUT, "\"bandwidth\" is missing");
}

static yk_status find_device(const struct yk_json *node, const struct yk_names *names, int32_t *out)
{
    const char *name = yk_json_string(node);
    if (!name) {
        return yk_fail(YK_ERROR_INPUT, "\"between\" must be a list of two devices");
    }
    const int32_t number = yk_names_find(names, name);
    if (number < 0) {
        const char *nearest = yk_names_nearest(names, name);
        return nearest ? yk_fail(YK_ERROR_INPUT, "no device is \"%s\"; did you mean \"%s\"?", name,
                                 nearest)
                       : yk_fail(YK_ERROR_INPUT, "no device is \"%s\"", name);
    }
    *out = number;
    return YK_OK;
}

static yk_status read_entry(const struct yk_json *node, const struct yk_names *names,
                            struct entry *out)
{
    static const char *const known[] = {"between", "type", "latency", "bandwidth"};
    YK_TRY(yk_json_check_object(node, known, sizeof known / sizeof known[0]));
    YK_TRY(read_link(node, &out->link));
    const struct yk_json *between = yk_json_get(node, "between");
    out->between[0] = -1;
    out->between[1] = -1;
    if (!between) {
        return YK_OK;
    }
    if (yk_json_count(between) != 2) {
        return yk_fail(YK_ERROR_INPUT, "\"between\" must be a list of two devices");
    }
    YK_TRY(find_device(yk_json_at(between, 0), names, &out->between[0]));
    YK_TRY(find_device(yk_json_at(between, 1), names, &out->between[1]));
    return out->between[0] != out->between[1]
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"between\" names one device twice");
}

static bool is_set(const struct yk_cluster_builder *draft, int32_t a, int32_t b)
{
    return draft->links[(int64_t)a * draft->device_count + b].bytes_per_s > 0;
}

static void set_others(struct yk_cluster_builder *draft, struct yk_link link)
{
    for (int32_t a = 0; a < draft->device_count; a++) {
        for (int32_t b = a + 1; b < draft->device_count; b++) {
            if (!is_set(draft, a, b)) {
                yk_cluster_builder_set_link(draft, a, b, link);
            }
        }
    }
}

static yk_status take_entry(const struct entry *entry, struct yk_cluster_builder *draft,
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
    if (is_set(draft, entry->between[0], entry->between[1])) {
        return yk_fail(YK_ERROR_INPUT, "this pair has a link already");
    }
    yk_cluster_builder_set_link(draft, entry->between[0], entry->between[1], entry->link);
    return YK_OK;
}

static yk_status read_list(const struct yk_json *list, const struct yk_names *names,
                           struct yk_cluster_builder *draft)
{
    struct yk_link others = {0};
    for (size_t i = 0; i < yk_json_count(list); i++) {
        struct entry entry = {0};
        yk_status status = read_entry(yk_json_at(list, i), names, &entry);
        if (status == YK_OK) {
            status = take_entry(&entry, draft, &others);
        }
        YK_TRY(yk_json_add_location(status, "links", i, NULL));
    }
    /* Last, so that it fills only the pairs nobody named. */
    if (others.bytes_per_s > 0) {
        set_others(draft, others);
    }
    return YK_OK;
}

yk_status yk_cluster_json_links_read(const struct yk_json *node, const struct yk_names *names,
                                     struct yk_cluster_builder *draft)
{
    static const char *const known[] = {"type", "latency", "bandwidth"};
    if (!node) {
        return YK_OK;
    }
    if (yk_json_is_array(node)) {
        return read_list(node, names, draft);
    }
    struct yk_link link = {0};
    yk_status status = yk_json_check_object(node, known, sizeof known / sizeof known[0]);
    if (status == YK_OK) {
        status = read_link(node, &link);
    }
    if (status != YK_OK) {
        return yk_status_prefix(status, "links");
    }
    set_others(draft, link);
    return YK_OK;
}
