/*
 * Treap: a balanced search tree (Seidel and Aragon, 1996). Nodes are ordered by key from left to
 * right, and by pseudo-random priority from top to bottom. The nodes are structs in an array of the
 * caller. The first member of a node is a struct yk_treap_links. The number of a node is its index
 * in the array. All functions are inline, because schedulers call them in their inner loops. Each
 * caller passes one constant struct yk_treap_callbacks, which describes its nodes. A treap is not
 * thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_TREAP_H
#define YK_SCHED_TIMELINE_TREAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_TREAP_NONE = -1
};

struct yk_treap_links {
    int32_t left;
    int32_t right;
};

struct yk_treap_callbacks {
    size_t node_size;
    bool (*is_before)(const void *nodes, int32_t number, int64_t key);
    /* Recomputes what a node stores about its subtree. The values of its children are up to date.
     */
    void (*update)(void *nodes, int32_t number);
    /* Applies pending changes of a node to its children (lazy propagation). NULL means: not needed.
     */
    void (*pass_down)(void *nodes, int32_t number);
};

/* Returns the priority of a node. It is a hash of the node's number and not random, so that every
 * run builds the same tree. */
static inline uint32_t yk_treap_priority(int32_t number)
{
    uint32_t x = (uint32_t)number * 0x9e3779b1u + 0x7f4a7c15u;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

static inline struct yk_treap_links *yk_treap_links_of(const struct yk_treap_callbacks *treap,
                                                       void *nodes, int32_t number)
{
    return (struct yk_treap_links *)((char *)nodes + (size_t)number * treap->node_size);
}

static inline void yk_treap_pass_down(const struct yk_treap_callbacks *treap, void *nodes,
                                      int32_t number)
{
    if (treap->pass_down) {
        treap->pass_down(nodes, number);
    }
}

/* Splits a tree into the tree of the nodes before `key` and the tree of the other nodes. */
static inline void yk_treap_split(const struct yk_treap_callbacks *treap, void *nodes, int32_t root,
                                  int64_t key, int32_t *before, int32_t *after)
{
    if (root == YK_TREAP_NONE) {
        *before = *after = YK_TREAP_NONE;
        return;
    }
    struct yk_treap_links *links = yk_treap_links_of(treap, nodes, root);
    yk_treap_pass_down(treap, nodes, root);
    if (treap->is_before(nodes, root, key)) {
        yk_treap_split(treap, nodes, links->right, key, &links->right, after);
        *before = root;
    } else {
        yk_treap_split(treap, nodes, links->left, key, before, &links->left);
        *after = root;
    }
    treap->update(nodes, root);
}

/* Joins two trees and returns the root. All nodes of `before` must come before those of `after`. */
static inline int32_t yk_treap_join(const struct yk_treap_callbacks *treap, void *nodes,
                                    int32_t before, int32_t after)
{
    if (before == YK_TREAP_NONE || after == YK_TREAP_NONE) {
        return before == YK_TREAP_NONE ? after : before;
    }
    const bool first_is_root = yk_treap_priority(before) > yk_treap_priority(after);
    const int32_t root = first_is_root ? before : after;
    struct yk_treap_links *links = yk_treap_links_of(treap, nodes, root);
    yk_treap_pass_down(treap, nodes, root);
    if (first_is_root) {
        links->right = yk_treap_join(treap, nodes, links->right, after);
    } else {
        links->left = yk_treap_join(treap, nodes, before, links->left);
    }
    treap->update(nodes, root);
    return root;
}

#endif
