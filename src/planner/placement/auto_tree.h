/*
 * Auto tree: a module tree with the size of everything in it, as Accelerate counts.
 *
 * Modules and tensors are nodes of one numbering, since both may be put on a device: modules first,
 * then tensors. Sizes are in nibbles of four bits, so that 4-bit weights are counted exactly. A
 * tensor that is tied to an earlier one counts nothing.
 */
#ifndef YK_PLANNER_PLACEMENT_AUTO_TREE_H
#define YK_PLANNER_PLACEMENT_AUTO_TREE_H

#include "base/arena.h"
#include "base/status.h"
#include "model/modules.h"
#include "planner/placement/auto.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_NIBBLES_PER_BYTE = 2
};

struct yk_auto_tree {
    const struct yk_modules *modules;
    int32_t node_count;
    int64_t *nibbles; /* by node */
};

yk_status yk_auto_tree_make(const struct yk_auto_request *request, struct yk_arena *arena,
                            struct yk_auto_tree *out) YK_MUST_USE;

/* What each of `device_count` devices should hold at most, in bytes, when they are balanced. */
int64_t yk_auto_tree_share(const struct yk_auto_tree *tree, int32_t device_count);

bool yk_auto_tree_is_module(const struct yk_auto_tree *tree, int32_t node);
int32_t yk_auto_tree_tensor_node(const struct yk_auto_tree *tree, int32_t tensor);

/* The node is a module that may be opened: there are modules inside, and its class allows it. */
bool yk_auto_tree_can_split(const struct yk_auto_tree *tree, int32_t node);

/* The tensor is the node, or lies inside it. */
bool yk_auto_tree_holds(const struct yk_auto_tree *tree, int32_t node, int32_t tensor);

#endif
