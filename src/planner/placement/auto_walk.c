#include "planner/placement/auto_walk.h"

#include <string.h>

struct walk {
    const struct yk_auto_tree *tree;
    int32_t *places; /* by node: the result */

    int32_t *queue; /* nodes still to be put down, in order; none inside another */
    int32_t queued;

    /* The largest layers among those queued: what cannot be opened further. They are looked for
     * again only when all of them have been taken, or when a module was opened. */
    int64_t largest_nibbles;
    int32_t *largest;
    int32_t largest_count;

    int32_t *tied; /* names of tied tensors, group after group, each by name */
    int32_t *group_of_tied;
    int32_t tied_count;
};

/* What has to go where a node goes: the queued modules that hold tensors tied to the node's. */
struct ties {
    int32_t *nodes;
    int32_t count;
    int64_t nibbles; /* of the node and of all these */
    int32_t place;   /* where a tied tensor was put down already, else YK_PLACE_NONE */
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
        if (!yk_auto_tree_is_module(walk->tree, top)) {
            continue;
        }
        const struct yk_module *modules = walk->tree->modules->modules;
        for (int32_t node = top; node < modules[top].end;) {
            if (yk_auto_tree_can_split(walk->tree, node)) {
                node++;
            } else {
                consider_layer(walk, node);
                node = modules[node].end;
            }
        }
    }
}

/* The layers of `node` are no longer to come. */
static void forget_largest(struct walk *walk, int32_t node)
{
    const int32_t end = yk_auto_tree_is_module(walk->tree, node)
                            ? walk->tree->modules->modules[node].end
                            : node + 1;
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

static void take_out(struct walk *walk, int32_t index)
{
    walk->queued--;
    memmove(&walk->queue[index], &walk->queue[index + 1],
            (size_t)(walk->queued - index) * sizeof *walk->queue);
}

static void put_in(struct walk *walk, int32_t index, int32_t node)
{
    memmove(&walk->queue[index + 1], &walk->queue[index],
            (size_t)(walk->queued - index) * sizeof *walk->queue);
    walk->queue[index] = node;
    walk->queued++;
}

/* Puts the parameters and modules inside `module` in its stead. Buffers of its own get no place, as
 * in Accelerate: a module that is opened has none in the models we know. */
static void put_in_parts(struct walk *walk, int32_t index, int32_t module)
{
    const struct yk_modules *modules = walk->tree->modules;
    const struct yk_module *opened = &modules->modules[module];
    for (int32_t i = 0; i < opened->tensor_count; i++) {
        if (!modules->tensors[opened->first_tensor + i].buffer) {
            put_in(walk, index++, yk_auto_tree_tensor_node(walk->tree, opened->first_tensor + i));
        }
    }
    for (int32_t child = yk_modules_first_child(modules, module); child != YK_MODULE_NONE;
         child = yk_modules_next_sibling(modules, child)) {
        put_in(walk, index++, child);
    }
}

/* The queued module that holds the tensor, or YK_MODULE_NONE. */
static int32_t queued_holder(const struct walk *walk, int32_t tensor)
{
    for (int32_t i = 0; i < walk->queued; i++) {
        if (yk_auto_tree_is_module(walk->tree, walk->queue[i]) &&
            yk_auto_tree_holds(walk->tree, walk->queue[i], tensor)) {
            return walk->queue[i];
        }
    }
    return YK_MODULE_NONE;
}

/* Where the tensor was put down, by itself or within a module. */
static int32_t place_of_tensor(const struct walk *walk, int32_t tensor)
{
    const struct yk_modules *modules = walk->tree->modules;
    int32_t place = walk->places[yk_auto_tree_tensor_node(walk->tree, tensor)];
    for (int32_t m = modules->tensors[tensor].module; place == YK_PLACE_NONE && m > 0;
         m = modules->modules[m].parent) {
        place = walk->places[m];
    }
    return place;
}

static bool group_is_inside(const struct walk *walk, int32_t node, int32_t group)
{
    for (int32_t i = 0; i < walk->tied_count; i++) {
        if (walk->group_of_tied[i] == group &&
            yk_auto_tree_holds(walk->tree, node, walk->tied[i])) {
            return true;
        }
    }
    return false;
}

/* A tied module is counted whole; its tied tensor counts once, which is where it first appears. */
static void find_ties(const struct walk *walk, int32_t node, struct ties *ties)
{
    ties->count = 0;
    ties->nibbles = walk->tree->nibbles[node];
    ties->place = YK_PLACE_NONE;
    for (int32_t i = 0; i < walk->tied_count; i++) {
        const int32_t tensor = walk->tied[i];
        if (yk_auto_tree_holds(walk->tree, node, tensor) ||
            !group_is_inside(walk, node, walk->group_of_tied[i])) {
            continue;
        }
        const int32_t holder = queued_holder(walk, tensor);
        if (holder == YK_MODULE_NONE) {
            ties->place = place_of_tensor(walk, tensor);
            continue;
        }
        ties->nodes[ties->count++] = holder;
        ties->nibbles += walk->tree->nibbles[holder] -
                         walk->tree->nibbles[yk_auto_tree_tensor_node(walk->tree, tensor)];
    }
}

static void put_down(struct walk *walk, int32_t node, const struct ties *ties, int32_t place)
{
    walk->places[node] = place;
    for (int32_t i = 0; i < ties->count; i++) {
        const int32_t index = place_in_queue(walk, ties->nodes[i]);
        if (index < walk->queued) {
            take_out(walk, index);
        }
        walk->places[ties->nodes[i]] = place;
    }
}

/* Opens the first tied module that can be opened: less then has to go along with `node`. */
static bool split_a_tie(struct walk *walk, int32_t node, const struct ties *ties)
{
    for (int32_t i = 0; i < ties->count; i++) {
        if (yk_auto_tree_can_split(walk->tree, ties->nodes[i])) {
            const int32_t index = place_in_queue(walk, ties->nodes[i]);
            take_out(walk, index);
            put_in_parts(walk, index, ties->nodes[i]);
            put_in(walk, 0, node);
            find_largest(walk);
            return true;
        }
    }
    return false;
}

/* Takes the next node and puts it down, opens it, or leaves it for the next stop: then false. */
static bool treat_next(struct walk *walk, const struct yk_auto_stop *stop, int64_t *used,
                       struct ties *ties)
{
    const int32_t node = walk->queue[0];
    take_out(walk, 0);
    forget_largest(walk, node);
    find_ties(walk, node, ties);
    /* Accelerate fails when two groups of tied weights overlap and one of them is down already, as
     * in BERT's head. The map that keeps tied weights in one place is the one it was looking for.
     */
    if (!stop || ties->place != YK_PLACE_NONE) {
        put_down(walk, node, ties, ties->place != YK_PLACE_NONE ? ties->place : YK_PLACE_DISK);
        return true;
    }
    const int64_t limit = stop->nibbles - (stop->reserves ? walk->largest_nibbles : 0);
    const int64_t alone = *used + walk->tree->nibbles[node];
    if (*used + ties->nibbles <= limit) {
        *used += ties->nibbles;
        put_down(walk, node, ties, stop->place);
        return true;
    }
    if (ties->count > 0 && alone <= limit && split_a_tie(walk, node, ties)) {
        return true;
    }
    if (alone >= limit && yk_auto_tree_can_split(walk->tree, node)) {
        put_in_parts(walk, 0, node);
        find_largest(walk);
        return true;
    }
    put_in(walk, 0, node);
    return false;
}

static int32_t tie_root(const struct yk_modules *modules, int32_t tensor)
{
    const int32_t earlier = modules->tensors[tensor].tied_to;
    return earlier == YK_MODULE_NONE ? tensor : earlier;
}

/* Lists the tied tensors, each group by name: the order in which tied modules are opened. */
static void list_tied(struct walk *walk)
{
    const struct yk_modules *modules = walk->tree->modules;
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const int32_t root = tie_root(modules, i);
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

/* At first the tensors and modules of the model itself are queued, and here its buffers too. */
static void fill_queue(struct walk *walk)
{
    const struct yk_modules *modules = walk->tree->modules;
    put_in_parts(walk, 0, 0);
    for (int32_t i = 0; i < modules->modules[0].tensor_count; i++) {
        if (modules->tensors[modules->modules[0].first_tensor + i].buffer) {
            put_in(walk, walk->queued,
                   yk_auto_tree_tensor_node(walk->tree, modules->modules[0].first_tensor + i));
        }
    }
    find_largest(walk);
}

yk_status yk_auto_walk(const struct yk_auto_tree *tree, const struct yk_auto_stop *stops,
                       int32_t stop_count, struct yk_arena *arena, int32_t *out)
{
    struct walk walk = {.tree = tree, .places = out};
    struct ties ties = {0};
    YK_TRY_NEW(arena, walk.queue, tree->node_count);
    YK_TRY_NEW(arena, walk.largest, tree->node_count);
    YK_TRY_NEW(arena, walk.tied, tree->node_count);
    YK_TRY_NEW(arena, walk.group_of_tied, tree->node_count);
    YK_TRY_NEW(arena, ties.nodes, tree->node_count);
    for (int32_t i = 0; i < tree->node_count; i++) {
        out[i] = YK_PLACE_NONE;
    }
    list_tied(&walk);
    fill_queue(&walk);
    int32_t stop = 0;
    int64_t used = 0;
    while (walk.queued > 0) {
        if (!treat_next(&walk, stop < stop_count ? &stops[stop] : NULL, &used, &ties)) {
            stop++;
            used = 0;
        }
    }
    return YK_OK;
}
