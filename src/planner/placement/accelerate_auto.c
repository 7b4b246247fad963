#include "planner/placement/placement.h"

#include "base/number.h"

#include <string.h>

enum {
    NIBBLES_PER_BYTE = 2,
    NF4_NIBBLES = 1,
    INT64_NIBBLES = 16,
};

/*
 * The module tree with the sizes that Accelerate counts. Nodes are modules and then tensors, since
 * both may be placed. Sizes are in nibbles of four bits, so that 4-bit weights are exact. A tensor
 * tied to an earlier one has size 0.
 */
struct tree {
    const struct yk_module_tree *modules;
    int32_t node_count;
    int64_t *nibbles; /* by node */
};

/* Places in the order of use. After the last one, everything fits on disk. */
struct stop {
    int32_t place;
    int64_t nibbles; /* capacity */
    bool reserves;   /* leaves room for loading the largest of the remaining layers */
};

static bool is_module(const struct tree *tree, int32_t node)
{
    return node < tree->modules->module_count;
}

static int32_t tensor_node(const struct tree *tree, int32_t tensor)
{
    return tree->modules->module_count + tensor;
}

static bool can_split(const struct tree *tree, int32_t node)
{
    return is_module(tree, node) && !tree->modules->modules[node].unsplittable &&
           yk_module_tree_first_child(tree->modules, node) != YK_MODULE_NONE;
}

static bool contains(const struct tree *tree, int32_t node, int32_t tensor)
{
    if (!is_module(tree, node)) {
        return node == tensor_node(tree, tensor);
    }
    const int32_t owner = tree->modules->tensors[tensor].module;
    return owner >= node && owner < tree->modules->modules[node].end;
}

/*
 * Marks the modules that the 4-bit quantizer skips: those with tied weights, the one with the last
 * parameter (the head), and everything inside them.
 */
static void mark_unquantised(const struct yk_module_tree *modules, bool *unquantised)
{
    int32_t last = YK_MODULE_NONE;
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (tensor->tied_to != YK_MODULE_NONE) {
            unquantised[tensor->module] = true;
            unquantised[modules->tensors[tensor->tied_to].module] = true;
        } else if (!tensor->buffer) {
            last = tensor->module;
        }
    }
    if (last != YK_MODULE_NONE) {
        unquantised[last] = true;
    }
    for (int32_t i = 1; i < modules->module_count; i++) {
        unquantised[i] = unquantised[i] || unquantised[modules->modules[i].parent];
    }
}

static int64_t tensor_nibbles(const struct yk_accelerate_auto_request *request,
                              const bool *unquantised, const struct yk_module_tensor *tensor)
{
    if (tensor->tied_to != YK_MODULE_NONE) {
        return 0;
    }
    if (tensor->kind == YK_MODULE_TENSOR_INT64) {
        return tensor->elements * INT64_NIBBLES;
    }
    const bool whole = !request->nf4 || (unquantised[tensor->module] && !tensor->buffer);
    return tensor->elements *
           (whole ? yk_precision_bytes(request->precision) * NIBBLES_PER_BYTE : NF4_NIBBLES);
}

static yk_status make_tree(const struct yk_accelerate_auto_request *request, struct yk_arena *arena,
                           struct tree *out)
{
    const struct yk_module_tree *modules = request->modules;
    struct tree tree = {.modules = modules,
                        .node_count = modules->module_count + modules->tensor_count};
    bool *unquantised = NULL;
    YK_TRY_NEW(arena, tree.nibbles, tree.node_count);
    YK_TRY_NEW(arena, unquantised, modules->module_count);
    mark_unquantised(modules, unquantised);
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const int64_t nibbles = tensor_nibbles(request, unquantised, &modules->tensors[i]);
        tree.nibbles[tensor_node(&tree, i)] = nibbles;
        for (int32_t m = modules->tensors[i].module; m != YK_MODULE_NONE;
             m = modules->modules[m].parent) {
            tree.nibbles[m] += nibbles;
        }
    }
    *out = tree;
    return YK_OK;
}

/* The size of the largest module that may not be split. */
static int64_t largest_whole(const struct tree *tree)
{
    int64_t largest = 0;
    for (int32_t i = 0; i < tree->modules->module_count; i++) {
        if (tree->modules->modules[i].unsplittable) {
            largest = yk_number_max(largest, tree->nibbles[i]);
        }
    }
    return largest;
}

/* Whether the module has a size, and no module inside it has. */
static bool is_last_with_tensors(const struct tree *tree, int32_t module)
{
    const struct yk_module *here = &tree->modules->modules[module];
    if (tree->nibbles[module] == 0) {
        return false;
    }
    for (int32_t i = module + 1; i < here->end; i++) {
        if (tree->nibbles[i] > 0) {
            return false;
        }
    }
    return true;
}

static int64_t mean_leaf_bytes(const struct tree *tree)
{
    int64_t sum = 0;
    int64_t count = 0;
    for (int32_t i = 1; i < tree->modules->module_count; i++) {
        if (is_last_with_tensors(tree, i)) {
            sum += tree->nibbles[i];
            count++;
        }
    }
    return count > 0 ? sum / (NIBBLES_PER_BYTE * count) : 0;
}

/*
 * An even share would not suffice, because each device stops a little below its share. So 5/4 of a
 * block, or of the mean leaf module, is added.
 */
static int64_t balanced_bytes(const struct tree *tree, int32_t device_count)
{
    const int64_t mean = mean_leaf_bytes(tree) * NIBBLES_PER_BYTE;
    const int64_t slack = yk_number_max(largest_whole(tree), mean) * 5 / 4 / NIBBLES_PER_BYTE;
    return tree->nibbles[0] / ((int64_t)NIBBLES_PER_BYTE * device_count) + slack;
}

struct walk {
    const struct tree *tree;
    int32_t *places; /* (nodes) the result */

    int32_t *queue; /* nodes that have no place yet, in order; none is inside another */
    int32_t queued;

    /* The largest unsplittable modules in the queue. They are computed again only if all of them
     * have a place, or if a module was split. */
    int64_t largest_nibbles;
    int32_t *largest;
    int32_t largest_count;

    int32_t *tied; /* tied tensors, sorted by group and name */
    int32_t *group_of_tied;
    int32_t tied_count;
};

/* The queued modules with tensors tied to those of a node, which must have its place. */
struct ties {
    int32_t *nodes;
    int32_t count;
    int64_t nibbles; /* of the node and all these modules */
    int32_t place;   /* of a tied tensor that already has one, else YK_DEVICE_MAP_UNASSIGNED */
};

static void consider_layer(struct walk *walk, int32_t node)
{
    const int64_t nibbles = walk->tree->nibbles[node];
    if (nibbles > walk->largest_nibbles) {
        walk->largest_nibbles = nibbles;
        walk->largest_count = 0;
    }
    if (nibbles == walk->largest_nibbles) {
        walk->largest[walk->largest_count++] = node;
    }
}

static void find_largest(struct walk *walk)
{
    walk->largest_nibbles = 0;
    walk->largest_count = 0;
    for (int32_t i = 0; i < walk->queued; i++) {
        const int32_t top = walk->queue[i];
        if (!is_module(walk->tree, top)) {
            continue;
        }
        const struct yk_module *modules = walk->tree->modules->modules;
        for (int32_t node = top; node < modules[top].end;) {
            if (can_split(walk->tree, node)) {
                node++;
            } else {
                consider_layer(walk, node);
                node = modules[node].end;
            }
        }
    }
}

/* Removes the layers of `node`, which leaves the queue. */
static void forget_largest(struct walk *walk, int32_t node)
{
    const int32_t end =
        is_module(walk->tree, node) ? walk->tree->modules->modules[node].end : node + 1;
    int32_t kept = 0;
    for (int32_t i = 0; i < walk->largest_count; i++) {
        if (walk->largest[i] < node || walk->largest[i] >= end) {
            walk->largest[kept++] = walk->largest[i];
        }
    }
    walk->largest_count = kept;
    if (kept == 0) {
        find_largest(walk);
    }
}

static int32_t place_in_queue(const struct walk *walk, int32_t node)
{
    int32_t i = 0;
    while (i < walk->queued && walk->queue[i] != node) {
        i++;
    }
    return i;
}

static void remove_from_queue(struct walk *walk, int32_t index)
{
    walk->queued--;
    memmove(&walk->queue[index], &walk->queue[index + 1],
            (size_t)(walk->queued - index) * sizeof *walk->queue);
}

static void insert_in_queue(struct walk *walk, int32_t index, int32_t node)
{
    memmove(&walk->queue[index + 1], &walk->queue[index],
            (size_t)(walk->queued - index) * sizeof *walk->queue);
    walk->queue[index] = node;
    walk->queued++;
}

/* Splits `module`: inserts its parameters and child modules. Its own buffers get no place, as in
 * Accelerate; modules that are split have none in the supported models. */
static void insert_parts(struct walk *walk, int32_t index, int32_t module)
{
    const struct yk_module_tree *modules = walk->tree->modules;
    const struct yk_module *opened = &modules->modules[module];
    for (int32_t i = 0; i < opened->tensor_count; i++) {
        if (!modules->tensors[opened->first_tensor + i].buffer) {
            insert_in_queue(walk, index++, tensor_node(walk->tree, opened->first_tensor + i));
        }
    }
    for (int32_t child = yk_module_tree_first_child(modules, module); child != YK_MODULE_NONE;
         child = yk_module_tree_next_sibling(modules, child)) {
        insert_in_queue(walk, index++, child);
    }
}

/* The queued module that contains the tensor, or YK_MODULE_NONE. */
static int32_t queued_holder(const struct walk *walk, int32_t tensor)
{
    for (int32_t i = 0; i < walk->queued; i++) {
        if (is_module(walk->tree, walk->queue[i]) && contains(walk->tree, walk->queue[i], tensor)) {
            return walk->queue[i];
        }
    }
    return YK_MODULE_NONE;
}

/* The place of a tensor or of the module that contains it. */
static int32_t place_of_tensor(const struct walk *walk, int32_t tensor)
{
    const struct yk_module_tree *modules = walk->tree->modules;
    int32_t place = walk->places[tensor_node(walk->tree, tensor)];
    for (int32_t m = modules->tensors[tensor].module; place == YK_DEVICE_MAP_UNASSIGNED && m > 0;
         m = modules->modules[m].parent) {
        place = walk->places[m];
    }
    return place;
}

static bool group_is_inside(const struct walk *walk, int32_t node, int32_t group)
{
    for (int32_t i = 0; i < walk->tied_count; i++) {
        if (walk->group_of_tied[i] == group && contains(walk->tree, node, walk->tied[i])) {
            return true;
        }
    }
    return false;
}

/* A tied module counts with all its tensors, except the tied one, which counts only once. */
static void find_ties(const struct walk *walk, int32_t node, struct ties *ties)
{
    ties->count = 0;
    ties->nibbles = walk->tree->nibbles[node];
    ties->place = YK_DEVICE_MAP_UNASSIGNED;
    for (int32_t i = 0; i < walk->tied_count; i++) {
        const int32_t tensor = walk->tied[i];
        if (contains(walk->tree, node, tensor) ||
            !group_is_inside(walk, node, walk->group_of_tied[i])) {
            continue;
        }
        const int32_t holder = queued_holder(walk, tensor);
        if (holder == YK_MODULE_NONE) {
            ties->place = place_of_tensor(walk, tensor);
            continue;
        }
        ties->nodes[ties->count++] = holder;
        ties->nibbles +=
            walk->tree->nibbles[holder] - walk->tree->nibbles[tensor_node(walk->tree, tensor)];
    }
}

static void place_node(struct walk *walk, int32_t node, const struct ties *ties, int32_t place)
{
    walk->places[node] = place;
    for (int32_t i = 0; i < ties->count; i++) {
        const int32_t index = place_in_queue(walk, ties->nodes[i]);
        if (index < walk->queued) {
            remove_from_queue(walk, index);
        }
        walk->places[ties->nodes[i]] = place;
    }
}

/* Splits the first tied module that can be split, so that less must be placed with `node`. */
static bool split_a_tie(struct walk *walk, int32_t node, const struct ties *ties)
{
    for (int32_t i = 0; i < ties->count; i++) {
        if (can_split(walk->tree, ties->nodes[i])) {
            const int32_t index = place_in_queue(walk, ties->nodes[i]);
            remove_from_queue(walk, index);
            insert_parts(walk, index, ties->nodes[i]);
            insert_in_queue(walk, 0, node);
            find_largest(walk);
            return true;
        }
    }
    return false;
}

/* Places or splits the next node. Returns false if it must wait for the next place. */
static bool place_next(struct walk *walk, const struct stop *stop, int64_t *used, struct ties *ties)
{
    const int32_t node = walk->queue[0];
    remove_from_queue(walk, 0);
    forget_largest(walk, node);
    find_ties(walk, node, ties);
    /* Accelerate fails if two groups of tied weights overlap and one already has a place, as in
     * BERT's head. This creates the map that it should have created: tied weights in one place. */
    if (!stop || ties->place != YK_DEVICE_MAP_UNASSIGNED) {
        place_node(walk, node, ties,
                   ties->place != YK_DEVICE_MAP_UNASSIGNED ? ties->place : YK_DEVICE_MAP_DISK);
        return true;
    }
    const int64_t limit = stop->nibbles - (stop->reserves ? walk->largest_nibbles : 0);
    const int64_t alone = *used + walk->tree->nibbles[node];
    if (*used + ties->nibbles <= limit) {
        *used += ties->nibbles;
        place_node(walk, node, ties, stop->place);
        return true;
    }
    if (ties->count > 0 && alone <= limit && split_a_tie(walk, node, ties)) {
        return true;
    }
    if (alone >= limit && can_split(walk->tree, node)) {
        insert_parts(walk, 0, node);
        find_largest(walk);
        return true;
    }
    insert_in_queue(walk, 0, node);
    return false;
}

/* Lists the tied tensors, in the order in which tied modules are split. */
static void list_tied(struct walk *walk)
{
    const struct yk_module_tree *modules = walk->tree->modules;
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const int32_t earlier = modules->tensors[i].tied_to;
        const int32_t root = earlier == YK_MODULE_NONE ? i : earlier;
        bool grouped = root != i;
        for (int32_t other = i + 1; !grouped && other < modules->tensor_count; other++) {
            grouped = modules->tensors[other].tied_to == i;
        }
        if (!grouped) {
            continue;
        }
        int32_t at = walk->tied_count++;
        while (at > 0 && (walk->group_of_tied[at - 1] > root ||
                          (walk->group_of_tied[at - 1] == root &&
                           strcmp(modules->tensors[walk->tied[at - 1]].name,
                                  modules->tensors[i].name) > 0))) {
            walk->tied[at] = walk->tied[at - 1];
            walk->group_of_tied[at] = walk->group_of_tied[at - 1];
            at--;
        }
        walk->tied[at] = i;
        walk->group_of_tied[at] = root;
    }
}

/* Queues the tensors, buffers and child modules of the model. */
static void fill_queue(struct walk *walk)
{
    const struct yk_module_tree *modules = walk->tree->modules;
    insert_parts(walk, 0, 0);
    for (int32_t i = 0; i < modules->modules[0].tensor_count; i++) {
        if (modules->tensors[modules->modules[0].first_tensor + i].buffer) {
            insert_in_queue(walk, walk->queued,
                            tensor_node(walk->tree, modules->modules[0].first_tensor + i));
        }
    }
    find_largest(walk);
}

static yk_status walk_modules(const struct tree *tree, const struct stop *stops, int32_t stop_count,
                              struct yk_arena *arena, int32_t *out)
{
    struct walk walk = {.tree = tree, .places = out};
    struct ties ties = {0};
    YK_TRY_NEW(arena, walk.queue, tree->node_count);
    YK_TRY_NEW(arena, walk.largest, tree->node_count);
    YK_TRY_NEW(arena, walk.tied, tree->node_count);
    YK_TRY_NEW(arena, walk.group_of_tied, tree->node_count);
    YK_TRY_NEW(arena, ties.nodes, tree->node_count);
    yk_number_fill_int32_array(out, tree->node_count, YK_DEVICE_MAP_UNASSIGNED);
    list_tied(&walk);
    fill_queue(&walk);
    int32_t stop = 0;
    int64_t used = 0;
    while (walk.queued > 0) {
        if (!place_next(&walk, stop < stop_count ? &stops[stop] : NULL, &used, &ties)) {
            stop++;
            used = 0;
        }
    }
    return YK_OK;
}

enum {
    SPREAD = YK_DEVICE_MAP_UNASSIGNED - 1 /* in several places */
};

/* Prevents overflow; no machine has as much memory. */
static const int64_t LARGEST_BYTES = INT64_C(1) << 60;

static int64_t nibbles_of(int64_t bytes)
{
    return yk_number_min(bytes, LARGEST_BYTES) * NIBBLES_PER_BYTE;
}

/* Limits every device to an even share, except the last one with memory. */
static void balance(const struct yk_accelerate_auto_request *request, const struct tree *tree,
                    struct stop *stops)
{
    int32_t with_memory = 0;
    int32_t last = 0;
    for (int32_t i = 0; i < request->device_count; i++) {
        stops[i] = (struct stop){.place = request->places[i],
                                 .nibbles = nibbles_of(request->memory_bytes[i]),
                                 .reserves = i == 0};
        if (request->memory_bytes[i] > 0) {
            with_memory++;
            last = i;
        }
    }
    const int64_t share = with_memory > 0 ? nibbles_of(balanced_bytes(tree, with_memory)) : 0;
    for (int32_t i = 0; i < last; i++) {
        stops[i].nibbles = yk_number_min(stops[i].nibbles, share);
    }
}

/* The entries inside a module. */
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

/* Children come after their parents, so a backward loop sums up every module. */
static void sum_up(const struct tree *tree, const int32_t *places, struct inside *sums)
{
    for (int32_t i = tree->modules->module_count - 1; i >= 0; i--) {
        const struct yk_module *module = &tree->modules->modules[i];
        for (int32_t t = module->first_tensor; t < module->first_tensor + module->tensor_count;
             t++) {
            const int32_t place = places[tensor_node(tree, t)];
            join(&sums[i],
                 (struct inside){.count = place != YK_DEVICE_MAP_UNASSIGNED, .place = place});
        }
        if (i > 0) {
            const struct inside alone = {.count = 1, .place = places[i]};
            join(&sums[module->parent], places[i] != YK_DEVICE_MAP_UNASSIGNED ? alone : sums[i]);
        }
    }
}

/* Clears the places of everything inside a module. */
static void clear_inside(const struct tree *tree, int32_t module, int32_t *places)
{
    yk_number_fill_int32_array(&places[module + 1], tree->modules->modules[module].end - module - 1,
                               YK_DEVICE_MAP_UNASSIGNED);
    for (int32_t i = 0; i < tree->modules->tensor_count; i++) {
        if (contains(tree, module, i)) {
            places[tensor_node(tree, i)] = YK_DEVICE_MAP_UNASSIGNED;
        }
    }
}

/* Merges entries into the outermost modules that are in one place. As in Accelerate, a module with
 * a single entry inside is not named instead of it. */
static yk_status name_outermost(const struct tree *tree, int32_t *places, struct yk_arena *arena,
                                const struct yk_device_map **out)
{
    const struct yk_module_tree *modules = tree->modules;
    struct inside *sums = NULL;
    struct yk_device_map *map = NULL;
    YK_TRY_NEW(arena, sums, modules->module_count);
    sum_up(tree, places, sums);
    for (int32_t i = 0; i < modules->module_count;) {
        const bool gathered = sums[i].count > 1 && sums[i].place != SPREAD;
        places[i] = gathered ? sums[i].place : places[i];
        if (places[i] != YK_DEVICE_MAP_UNASSIGNED) {
            clear_inside(tree, i, places);
        }
        i = places[i] != YK_DEVICE_MAP_UNASSIGNED ? modules->modules[i].end : i + 1;
    }
    YK_TRY(yk_device_map_create_from_places(modules, places, &places[modules->module_count], arena,
                                            &map));
    *out = map;
    return YK_OK;
}

yk_status yk_accelerate_auto_create_device_map(const struct yk_accelerate_auto_request *request,
                                               struct yk_arena *arena,
                                               const struct yk_device_map **out)
{
    struct tree tree = {0};
    struct stop *stops = NULL;
    int32_t *places = NULL;
    YK_TRY(make_tree(request, arena, &tree));
    YK_TRY_NEW(arena, stops, request->device_count + 1);
    YK_TRY_NEW(arena, places, tree.node_count);
    balance(request, &tree, stops);
    int32_t stop_count = request->device_count;
    if (request->cpu_bytes >= 0) {
        stops[stop_count++] = (struct stop){.place = YK_DEVICE_MAP_CPU,
                                            .nibbles = nibbles_of(request->cpu_bytes),
                                            .reserves = true};
    }
    YK_TRY(walk_modules(&tree, stops, stop_count, arena, places));
    return name_outermost(&tree, places, arena, out);
}
