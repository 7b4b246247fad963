#include "planner/placement/auto.h"

#include "planner/placement/auto_tree.h"
#include "planner/placement/auto_walk.h"

enum {
    SPREAD = YK_PLACE_NONE - 1 /* on more than one place */
};

/* No machine has as much; and twice as many nibbles can still be added up. */
static const int64_t LARGEST_BYTES = INT64_C(1) << 60;

static int64_t nibbles_of(int64_t bytes)
{
    return (bytes < LARGEST_BYTES ? bytes : LARGEST_BYTES) * YK_NIBBLES_PER_BYTE;
}

/* Devices with memory get a share each, if they have as much; the last of them takes the rest. */
static void balance(const struct yk_auto_request *request, const struct yk_auto_tree *tree,
                    struct yk_auto_stop *stops)
{
    int32_t with_memory = 0;
    int32_t last = 0;
    for (int32_t i = 0; i < request->device_count; i++) {
        stops[i] = (struct yk_auto_stop){
            .place = i, .nibbles = nibbles_of(request->memory_bytes[i]), .reserves = i == 0};
        if (request->memory_bytes[i] > 0) {
            with_memory++;
            last = i;
        }
    }
    const int64_t share = with_memory > 0 ? nibbles_of(yk_auto_tree_share(tree, with_memory)) : 0;
    for (int32_t i = 0; i < last; i++) {
        if (stops[i].nibbles > share) {
            stops[i].nibbles = share;
        }
    }
}

/* What lies inside a module: how many nodes were put down as one, and where. */
struct inside {
    int32_t count;
    int32_t place; /* of all of them, or SPREAD */
};

static void join(struct inside *inside, struct inside more)
{
    if (more.count == 0) {
        return;
    }
    inside->place = inside->count == 0 || inside->place == more.place ? more.place : SPREAD;
    inside->count += more.count;
}

static struct inside own_tensors(const struct yk_auto_tree *tree, const int32_t *places,
                                 int32_t module)
{
    const struct yk_module *owner = &tree->modules->modules[module];
    struct inside inside = {0};
    for (int32_t i = 0; i < owner->tensor_count; i++) {
        const int32_t place = places[yk_auto_tree_tensor_node(tree, owner->first_tensor + i)];
        join(&inside, (struct inside){.count = place != YK_PLACE_NONE, .place = place});
    }
    return inside;
}

/* Parts come after what they are in, so that going backwards sums up every module. */
static void sum_up(const struct yk_auto_tree *tree, const int32_t *places, struct inside *sums)
{
    for (int32_t i = tree->modules->module_count - 1; i >= 0; i--) {
        join(&sums[i], own_tensors(tree, places, i));
        if (i > 0) {
            const struct inside alone = {.count = 1, .place = places[i]};
            join(&sums[tree->modules->modules[i].parent],
                 places[i] != YK_PLACE_NONE ? alone : sums[i]);
        }
    }
}

static void add_entry(struct yk_module_map_entry *entries, int32_t *count, const char *name,
                      int32_t place)
{
    if (place != YK_PLACE_NONE) {
        entries[(*count)++] = (struct yk_module_map_entry){name, place};
    }
}

/* Names the outermost modules that lie on one place. One with a single thing inside is not named
 * in its stead: so does Accelerate. */
static yk_status gather(const struct yk_auto_tree *tree, const int32_t *places,
                        struct yk_arena *arena, const struct yk_module_map **out)
{
    const struct yk_modules *modules = tree->modules;
    struct inside *sums = NULL;
    struct yk_module_map_entry *entries = NULL;
    struct yk_module_map *map = NULL;
    YK_TRY_NEW(arena, sums, modules->module_count);
    YK_TRY_NEW(arena, entries, tree->node_count);
    YK_TRY_NEW(arena, map, 1);
    sum_up(tree, places, sums);
    int32_t i = 0;
    while (i < modules->module_count) {
        const struct yk_module *module = &modules->modules[i];
        const bool gathered = sums[i].count > 1 && sums[i].place != SPREAD;
        if (gathered || places[i] != YK_PLACE_NONE) {
            add_entry(entries, &map->count, module->name, gathered ? sums[i].place : places[i]);
            i = module->end;
            continue;
        }
        for (int32_t t = module->first_tensor; t < module->first_tensor + module->tensor_count;
             t++) {
            add_entry(entries, &map->count, modules->tensors[t].name,
                      places[yk_auto_tree_tensor_node(tree, t)]);
        }
        i++;
    }
    map->entries = entries;
    *out = map;
    return YK_OK;
}

yk_status yk_auto_place(const struct yk_auto_request *request, struct yk_arena *arena,
                        const struct yk_module_map **out)
{
    struct yk_auto_tree tree = {0};
    struct yk_auto_stop *stops = NULL;
    int32_t *places = NULL;
    YK_TRY(yk_auto_tree_make(request, arena, &tree));
    YK_TRY_NEW(arena, stops, request->device_count + 1);
    YK_TRY_NEW(arena, places, tree.node_count);
    balance(request, &tree, stops);
    int32_t stop_count = request->device_count;
    if (request->cpu_bytes >= 0) {
        stops[stop_count++] = (struct yk_auto_stop){
            .place = YK_PLACE_CPU, .nibbles = nibbles_of(request->cpu_bytes), .reserves = true};
    }
    YK_TRY(yk_auto_walk(&tree, stops, stop_count, arena, places));
    return gather(&tree, places, arena, out);
}
