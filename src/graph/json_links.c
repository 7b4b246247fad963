#include "graph/json_links.h"

#include "base/json.h"

struct link {
    const char *between[2]; /* NULL in the link of all other pairs */
    double latency;
    double bandwidth;
};

static yk_status parse_rates(const struct yk_json *node, struct link *out)
{
    const struct yk_json *latency = yk_json_get(node, "latency");
    const struct yk_json *bandwidth = yk_json_get(node, "bandwidth");
    if (!bandwidth) {
        return yk_fail(YK_ERROR_INPUT, "\"bandwidth\" is missing");
    }
    YK_TRY(yk_json_read_quantity(bandwidth, "bandwidth", YK_UNIT_BYTES_PER_S, &out->bandwidth));
    return latency ? yk_json_read_quantity(latency, "latency", YK_UNIT_SECONDS, &out->latency)
                   : YK_OK;
}

static yk_status parse_for_all(const struct yk_json *node, struct link *out)
{
    static const char *const known[] = {"latency", "bandwidth"};
    YK_TRY(yk_json_check_object(node, known, sizeof known / sizeof known[0]));
    return parse_rates(node, out);
}

static yk_status parse_entry(const struct yk_json *node, struct link *out)
{
    static const char *const known[] = {"between", "latency", "bandwidth"};
    YK_TRY(yk_json_check_object(node, known, sizeof known / sizeof known[0]));
    YK_TRY(parse_rates(node, out));
    const struct yk_json *between = yk_json_get(node, "between");
    if (!between) {
        return YK_OK;
    }
    if (yk_json_count(between) != 2) {
        return yk_fail(YK_ERROR_INPUT, "\"between\" must be a list of two devices");
    }
    YK_TRY(yk_json_read_name(yk_json_at(between, 0), "between", &out->between[0]));
    return yk_json_read_name(yk_json_at(between, 1), "between", &out->between[1]);
}

static yk_status read_list(const struct yk_json *list, struct yk_graph_builder *builder)
{
    struct link others = {0};
    bool has_others = false;
    for (size_t i = 0; i < yk_json_count(list); i++) {
        struct link link = {0};
        YK_TRY(yk_json_add_location(parse_entry(yk_json_at(list, i), &link), "links", i, NULL));
        if (link.between[0]) {
            YK_TRY(yk_graph_builder_set_link(builder, link.between[0], link.between[1],
                                             link.latency, link.bandwidth));
            continue;
        }
        if (has_others) {
            return yk_json_add_location(
                yk_fail(YK_ERROR_INPUT, "a second link without \"between\"; only one can be for "
                                        "all other pairs"),
                "links", i, NULL);
        }
        others = link;
        has_others = true;
    }
    /* Last, so that it fills only the pairs nobody named. */
    return has_others ? yk_graph_builder_set_links(builder, others.latency, others.bandwidth)
                      : YK_OK;
}

yk_status yk_graph_json_links_read(const struct yk_json *node, struct yk_graph_builder *builder)
{
    if (!node) {
        return YK_OK;
    }
    if (yk_json_is_array(node)) {
        return read_list(node, builder);
    }
    struct link link = {0};
    const yk_status status = parse_for_all(node, &link);
    return status == YK_OK ? yk_graph_builder_set_links(builder, link.latency, link.bandwidth)
                           : yk_status_prefix(status, "links");
}
