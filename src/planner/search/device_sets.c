#include "planner/search/device_sets.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW_DEVICES = 8,
    FEW_SETS = 40,
    VERY_FEW_DEVICES = 3,
    ALL_WAYS = 12, /* sequences of two or three groups of three devices */
};

struct collection {
    const struct yk_search_context *context;
    struct yk_arena *arena;
    struct yk_device_set *sets;
    int32_t count;
    int32_t *kinds; /* (devices) index of the first equal device */
    int32_t *all;   /* devices that may be used */
    int32_t all_count;
};

bool yk_device_sets_devices_can_swap(const struct yk_search_context *context, int32_t a, int32_t b)
{
    const struct yk_cluster *cluster = context->cluster;
    if (!yk_search_context_devices_are_equal(context, a, b) ||
        cluster->devices[a].node != cluster->devices[b].node) {
        return false;
    }
    for (int32_t p = 0; p < cluster->device_count; p++) {
        const struct yk_link *one = yk_cluster_link_between(cluster, a, p);
        const struct yk_link *other = yk_cluster_link_between(cluster, b, p);
        if (p != a && p != b &&
            (one->latency_s != other->latency_s || one->bytes_per_s != other->bytes_per_s)) {
            return false;
        }
    }
    return true;
}

/* Adds the set of devices in `uses`, unless it is already listed. */
static yk_status add_set(struct collection *collection, const bool *uses)
{
    struct yk_device_set set = {0};
    YK_TRY_NEW(collection->arena, set.devices, collection->all_count);
    for (int32_t i = 0; i < collection->all_count; i++) {
        if (uses[i]) {
            set.devices[set.count++] = collection->all[i];
        }
    }
    for (int32_t s = 0; s < collection->count; s++) {
        if (collection->sets[s].count == set.count &&
            memcmp(collection->sets[s].devices, set.devices,
                   (size_t)set.count * sizeof *set.devices) == 0) {
            return YK_OK;
        }
    }
    if (set.count > 0 && collection->count < YK_DEVICE_SETS_MAX_COUNT) {
        collection->sets[collection->count++] = set;
    }
    return YK_OK;
}

/* Adds every kind or node alone, and all devices except it. */
static yk_status add_by(struct collection *collection, bool by_node, bool *uses)
{
    const struct yk_device *devices = collection->context->cluster->devices;
    for (int32_t i = 0; i < collection->all_count; i++) {
        const int32_t chosen = collection->all[i];
        for (int32_t alone = 0; alone < 2; alone++) {
            for (int32_t j = 0; j < collection->all_count; j++) {
                const int32_t other = collection->all[j];
                const bool same = by_node ? devices[other].node == devices[chosen].node
                                          : collection->kinds[other] == collection->kinds[chosen];
                uses[j] = same == (alone == 1);
            }
            YK_TRY(add_set(collection, uses));
        }
    }
    return YK_OK;
}

static yk_status add_singles(struct collection *collection, bool *uses)
{
    for (int32_t i = 0; i < collection->all_count; i++) {
        for (int32_t j = 0; j < collection->all_count; j++) {
            uses[j] = j == i;
        }
        if (collection->kinds[collection->all[i]] == collection->all[i]) {
            YK_TRY(add_set(collection, uses));
        }
    }
    return YK_OK;
}

/* Adds every number of devices of each kind, in small clusters. Subsets are enumerated as bits; a
 * device is only used together with all equal devices before it. */
static yk_status add_numbers(struct collection *collection, bool *uses)
{
    const int32_t n = collection->all_count;
    for (uint32_t bits = 1; n <= FEW_DEVICES && bits < (uint32_t)1 << n; bits++) {
        bool first_ones = true;
        for (int32_t i = 0; i < n; i++) {
            uses[i] = (bits >> i & 1) != 0;
            for (int32_t j = 0; j < i && uses[i]; j++) {
                const int32_t one = collection->all[i];
                const int32_t other = collection->all[j];
                const bool alike =
                    n <= VERY_FEW_DEVICES
                        ? yk_device_sets_devices_can_swap(collection->context, one, other)
                        : collection->kinds[one] == collection->kinds[other];
                first_ones = first_ones && (uses[j] || !alike);
            }
        }
        if (first_ones && collection->count < FEW_SETS) {
            YK_TRY(add_set(collection, uses));
        }
    }
    return YK_OK;
}

static yk_status find_devices(struct collection *collection)
{
    const struct yk_search_context *context = collection->context;
    const int32_t P = context->cluster->device_count;
    YK_TRY_NEW(collection->arena, collection->kinds, P);
    YK_TRY_NEW(collection->arena, collection->all, P);
    for (int32_t p = 0; p < P; p++) {
        int32_t alike = 0;
        while (alike < p && (!yk_search_context_devices_are_equal(context, alike, p) ||
                             yk_search_context_excludes_device(context, alike))) {
            alike++;
        }
        collection->kinds[p] = alike;
        if (!yk_search_context_excludes_device(context, p)) {
            collection->all[collection->all_count++] = p;
        }
    }
    return YK_OK;
}

yk_status yk_device_sets_list(const struct yk_search_context *context, struct yk_arena *arena,
                              struct yk_device_set **out, int32_t *out_count)
{
    struct collection collection = {.context = context, .arena = arena};
    bool *uses = NULL;
    YK_TRY(find_devices(&collection));
    YK_TRY_NEW(arena, collection.sets, YK_DEVICE_SETS_MAX_COUNT);
    YK_TRY_NEW(arena, uses, collection.all_count + 1);
    for (int32_t i = 0; i < collection.all_count; i++) {
        uses[i] = true;
    }
    YK_TRY(add_set(&collection, uses));
    if (yk_search_context_decides(context, YK_DECIDE_PLACEMENT) && !context->request->all_devices) {
        YK_TRY(add_by(&collection, false, uses));
        YK_TRY(add_by(&collection, true, uses));
        YK_TRY(add_singles(&collection, uses));
        YK_TRY(add_numbers(&collection, uses));
    }
    *out = collection.sets;
    *out_count = collection.count;
    return YK_OK;
}

/* A device with its sort key. Adjacent devices with the same group number are one group. */
struct line {
    int32_t device;
    int32_t group;
    double key;
};

static int by_key(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    return a->device < b->device ? -1 : 1;
}

enum grouping {
    ONE_BY_ONE,
    BY_NODE,
    BY_KIND,
    BY_NODE_AND_KIND,
    ACROSS_NODES,
    GROUPINGS,
};

static int32_t place_in_node(const struct yk_search_context *context,
                             const struct yk_device_set *set, int32_t index)
{
    int32_t before = 0;
    for (int32_t i = 0; i < index; i++) {
        before += context->cluster->devices[set->devices[i]].node ==
                          context->cluster->devices[set->devices[index]].node
                      ? 1
                      : 0;
    }
    return before;
}

static int32_t group_number(const struct yk_search_context *context,
                            const struct yk_device_set *set, int32_t index, enum grouping grouping)
{
    const int32_t device = set->devices[index];
    const int32_t node = context->cluster->devices[device].node;
    const int32_t kind = yk_layer_costs_device_speed_class(context->costs, device);
    switch (grouping) {
    case BY_NODE:
        return node;
    case BY_KIND:
        return kind;
    case BY_NODE_AND_KIND:
        return node * context->cluster->device_count + kind;
    case ACROSS_NODES:
        return place_in_node(context, set, index);
    case ONE_BY_ONE:
    case GROUPINGS:
    default:
        return index;
    }
}

/* Sorts devices by group; `sense` 1 puts fast groups first, -1 last, 0 keeps their order. */
static yk_status line_up(const struct yk_search_context *context, const struct yk_device_set *set,
                         enum grouping grouping, int32_t sense, struct yk_arena *arena,
                         struct yk_device_grouping *out)
{
    struct line *line = NULL;
    YK_TRY_NEW(arena, line, set->count);
    for (int32_t i = 0; i < set->count; i++) {
        double seconds = 0;
        YK_TRY(yk_search_context_all_layers_compute_s(context, set->devices[i], 1, NULL, &seconds));
        line[i] = (struct line){.device = set->devices[i],
                                .group = group_number(context, set, i, grouping),
                                .key = sense * seconds};
    }
    /* A group is sorted by its first device. */
    for (int32_t i = 0; i < set->count; i++) {
        int32_t first = 0;
        while (line[first].group != line[i].group) {
            first++;
        }
        line[i].key = line[first].key;
    }
    qsort(line, (size_t)set->count, sizeof *line, by_key);
    YK_TRY_NEW(arena, out->devices, set->count);
    YK_TRY_NEW(arena, out->sizes, set->count);
    out->group_count = 0;
    for (int32_t i = 0; i < set->count; i++) {
        out->devices[i] = line[i].device;
        out->group_count += i == 0 || line[i].group != line[i - 1].group ? 1 : 0;
        out->sizes[out->group_count - 1]++;
    }
    return YK_OK;
}

/* Whether grouping `count` is a pipeline, and equals none before it up to interchangeable devices.
 */
static bool is_new_pipeline(const struct yk_search_context *context,
                            const struct yk_device_grouping *grouping, int32_t count,
                            int32_t devices)
{
    const struct yk_device_grouping *last = &grouping[count];
    if (last->group_count < 2 || last->group_count >= context->model->layer_count) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        bool same = grouping[i].group_count == last->group_count &&
                    memcmp(grouping[i].sizes, last->sizes,
                           (size_t)last->group_count * sizeof *last->sizes) == 0;
        for (int32_t d = 0; d < devices && same; d++) {
            same =
                grouping[i].devices[d] == last->devices[d] ||
                yk_device_sets_devices_can_swap(context, grouping[i].devices[d], last->devices[d]);
        }
        if (same) {
            return false;
        }
    }
    return true;
}

/* Adds all groupings of a small set. The digits of a code are the group numbers of devices. */
static yk_status add_all_ways(const struct yk_search_context *context,
                              const struct yk_device_set *set, struct yk_arena *arena,
                              struct yk_device_grouping *grouping, int32_t *count)
{
    int32_t codes = 1;
    for (int32_t i = 0; i < set->count; i++) {
        codes *= set->count;
    }
    for (int32_t code = 0; code < codes; code++) {
        struct yk_device_grouping *way = &grouping[*count];
        int32_t used = 0;
        *way = (struct yk_device_grouping){0};
        YK_TRY_NEW(arena, way->devices, set->count);
        YK_TRY_NEW(arena, way->sizes, set->count);
        for (int32_t g = 0; g < set->count; g++) {
            for (int32_t i = 0, left = code; i < set->count; i++, left /= set->count) {
                if (left % set->count == g) {
                    way->devices[used++] = set->devices[i];
                    way->sizes[g]++;
                }
            }
            way->group_count += way->sizes[g] > 0 && way->group_count == g ? 1 : 0;
        }
        int32_t placed = 0;
        for (int32_t g = 0; g < way->group_count; g++) {
            placed += way->sizes[g];
        }
        if (placed == set->count && is_new_pipeline(context, grouping, *count, set->count)) {
            (*count)++;
        }
    }
    return YK_OK;
}

yk_status yk_device_sets_list_stage_groupings(const struct yk_search_context *context,
                                              const struct yk_device_set *set,
                                              struct yk_arena *arena,
                                              struct yk_device_grouping **out, int32_t *out_count)
{
    struct yk_device_grouping *groups = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, groups, 3 * GROUPINGS + ALL_WAYS + 1);
    for (int32_t grouping = 0; grouping < GROUPINGS; grouping++) {
        for (int32_t sense = -1; sense <= 1; sense++) {
            YK_TRY(line_up(context, set, (enum grouping)grouping, sense, arena, &groups[count]));
            count += is_new_pipeline(context, groups, count, set->count) ? 1 : 0;
        }
    }
    if (set->count <= VERY_FEW_DEVICES) {
        YK_TRY(add_all_ways(context, set, arena, groups, &count));
    }
    *out = groups;
    *out_count = count;
    return YK_OK;
}
