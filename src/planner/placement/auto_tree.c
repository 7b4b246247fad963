#include "planner/placement/auto_tree.h"

enum {
    NF4_NIBBLES = 1,
    INT64_NIBBLES = 16
};

bool yk_auto_tree_is_module(const struct yk_auto_tree *tree, int32_t node)
{
    return node < tree->modules->module_count;
}

int32_t yk_auto_tree_tensor_node(const struct yk_auto_tree *tree, int32_t tensor)
{
    return tree->modules->module_count + tensor;
}

bool yk_auto_tree_can_split(const struct yk_auto_tree *tree, int32_t node)
{
    return yk_auto_tree_is_module(tree, node) && !tree->modules->modules[node].unsplittable &&
           yk_modules_first_child(tree->modules, node) != YK_MODULE_NONE;
}

bool yk_auto_tree_holds(const struct yk_auto_tree *tree, int32_t node, int32_t tensor)
{
    if (!yk_auto_tree_is_module(tree, node)) {
        return node == yk_auto_tree_tensor_node(tree, tensor);
    }
    const int32_t owner = tree->modules->tensors[tensor].module;
    return owner >= node && owner < tree->modules->modules[node].end;
}

/*
 * Marks the modules that the framework's 4-bit quantizer leaves alone: those with tied weights,
 * that of the last parameter (the head, when nothing is tied to it), and all inside these.
 */
static void mark_unquantised(const struct yk_modules *modules, bool *unquantised)
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

static int64_t nibbles_of(const struct yk_auto_request *request, const bool *unquantised,
                          const struct yk_module_tensor *tensor)
{
    if (tensor->tied_to != YK_MODULE_NONE) {
        return 0;
    }
    if (tensor->kind == YK_MODULE_TENSOR_INT64) {
        return tensor->elements * INT64_NIBBLES;
    }
    const bool whole = !request->nf4 || (unquantised[tensor->module] && !tensor->buffer);
    return tensor->elements *
           (whole ? yk_precision_bytes(request->precision) * YK_NIBBLES_PER_BYTE : NF4_NIBBLES);
}

yk_status yk_auto_tree_make(const struct yk_auto_request *request, struct yk_arena *arena,
                            struct yk_auto_tree *out)
{
    const struct yk_modules *modules = request->modules;
    struct yk_auto_tree tree = {.modules = modules,
                                .node_count = modules->module_count + modules->tensor_count};
    bool *unquantised = NULL;
    YK_TRY_NEW(arena, tree.nibbles, tree.node_count);
    YK_TRY_NEW(arena, unquantised, modules->module_count);
    mark_unquantised(modules, unquantised);
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const int64_t nibbles = nibbles_of(request, unquantised, &modules->tensors[i]);
        tree.nibbles[yk_auto_tree_tensor_node(&tree, i)] = nibbles;
        for (int32_t m = modules->tensors[i].module; m != YK_MODULE_NONE;
             m = modules->modules[m].parent) {
            tree.nibbles[m] += nibbles;
        }
    }
    *out = tree;
    return YK_OK;
}

/* The largest module that may not be split: of one class, all are the same size. */
static int64_t largest_whole(const struct yk_auto_tree *tree)
{
    int64_t largest = 0;
    for (int32_t i = 0; i < tree->modules->module_count; i++) {
        if (tree->modules->modules[i].unsplittable && tree->nibbles[i] > largest) {
            largest = tree->nibbles[i];
        }
    }
    return largest;
}

/* A module that owns tensors which count, and holds no module that does. */
static bool is_last_with_tensors(const struct yk_auto_tree *tree, int32_t module)
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

static int64_t mean_leaf_bytes(const struct yk_auto_tree *tree)
{
    int64_t sum = 0;
    int64_t count = 0;
    for (int32_t i = 1; i < tree->modules->module_count; i++) {
        if (is_last_with_tensors(tree, i)) {
            sum += tree->nibbles[i];
            count++;
        }
    }
    return count > 0 ? sum / (YK_NIBBLES_PER_BYTE * count) : 0;
}

/*
 * An even share alone would leave the last modules without a device, as each device stops a little
 * short of its share: so there are 5/4 of a block, or of the mean leaf module, on top.
 */
int64_t yk_auto_tree_share(const struct yk_auto_tree *tree, int32_t device_count)
{
    const int64_t whole = largest_whole(tree);
    const int64_t mean = mean_leaf_bytes(tree) * YK_NIBBLES_PER_BYTE;
    const int64_t slack = (whole > mean ? whole : mean) * 5 / 4 / YK_NIBBLES_PER_BYTE;
    return tree->nibbles[0] / ((int64_t)YK_NIBBLES_PER_BYTE * device_count) + slack;
}
