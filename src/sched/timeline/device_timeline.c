#include "sched/timeline/device_timeline.h"

#include "base/number.h"
#include "sched/timeline/treap.h"

#include <string.h>

enum {
    NONE = YK_TREAP_NONE
};

struct node {
    struct yk_treap_links links; /* by time */
    int64_t start;
    int64_t finish;
    int64_t first_start; /* of the subtree */
    int64_t last_finish; /* of the subtree */
    int64_t widest;      /* the longest gap between two tasks of the subtree */
};

struct yk_device_timeline {
    struct node *nodes; /* (n) by task */
    int32_t *roots;     /* (P) */
    int32_t device_count;
};

yk_status yk_device_timeline_create(struct yk_arena *arena, int32_t task_count,
                                    int32_t device_count, struct yk_device_timeline **out)
{
    struct yk_device_timeline *timeline = NULL;
    YK_TRY_NEW(arena, timeline, 1);
    YK_TRY_NEW(arena, timeline->nodes, task_count);
    YK_TRY_NEW(arena, timeline->roots, device_count);
    timeline->device_count = device_count;
    yk_device_timeline_clear(timeline);
    *out = timeline;
    return YK_OK;
}

void yk_device_timeline_clear(struct yk_device_timeline *timeline)
{
    yk_number_fill_int32_array(timeline->roots, timeline->device_count, NONE);
}

static void update(void *all, int32_t number)
{
    struct node *nodes = all;
    struct node *node = &nodes[number];
    node->first_start = node->start;
    node->last_finish = node->finish;
    node->widest = 0;
    if (node->links.left != NONE) {
        const struct node *left = &nodes[node->links.left];
        node->first_start = left->first_start;
        node->widest = yk_number_max(left->widest, node->start - left->last_finish);
    }
    if (node->links.right != NONE) {
        const struct node *right = &nodes[node->links.right];
        node->last_finish = right->last_finish;
        node->widest = yk_number_max(
            node->widest, yk_number_max(right->widest, right->first_start - node->finish));
    }
}

static bool comes_before(const struct node *nodes, int32_t a, int32_t b)
{
    if (nodes[a].start != nodes[b].start) {
        return nodes[a].start < nodes[b].start;
    }
    if (nodes[a].finish != nodes[b].finish) {
        return nodes[a].finish < nodes[b].finish;
    }
    return a < b;
}

static bool is_before(const void *nodes, int32_t number, int64_t key)
{
    return comes_before(nodes, number, (int32_t)key);
}

static const struct yk_treap_callbacks treap = {
    .node_size = sizeof(struct node),
    .is_before = is_before,
    .update = update,
};

static int32_t insert(struct node *nodes, int32_t root, int32_t task)
{
    if (root == NONE || yk_treap_priority(task) > yk_treap_priority(root)) {
        yk_treap_split(&treap, nodes, root, task, &nodes[task].links.left,
                       &nodes[task].links.right);
        update(nodes, task);
        return task;
    }
    int32_t *side =
        comes_before(nodes, task, root) ? &nodes[root].links.left : &nodes[root].links.right;
    *side = insert(nodes, *side, task);
    update(nodes, root);
    return root;
}

static int32_t erase(struct node *nodes, int32_t root, int32_t task)
{
    if (root == task) {
        return yk_treap_join(&treap, nodes, nodes[task].links.left, nodes[task].links.right);
    }
    int32_t *side =
        comes_before(nodes, task, root) ? &nodes[root].links.left : &nodes[root].links.right;
    *side = erase(nodes, *side, task);
    update(nodes, root);
    return root;
}

void yk_device_timeline_add_task(struct yk_device_timeline *timeline, int32_t device, int32_t task,
                                 int64_t start, int64_t finish)
{
    struct node *node = &timeline->nodes[task];
    node->start = start;
    node->finish = finish;
    node->links.left = node->links.right = NONE;
    timeline->roots[device] = insert(timeline->nodes, timeline->roots[device], task);
}

void yk_device_timeline_remove_task(struct yk_device_timeline *timeline, int32_t device,
                                    int32_t task)
{
    timeline->roots[device] = erase(timeline->nodes, timeline->roots[device], task);
}

int32_t yk_device_timeline_previous_task(const struct yk_device_timeline *timeline, int32_t device,
                                         int32_t task)
{
    int32_t previous = NONE;
    int32_t root = timeline->roots[device];
    while (root != NONE) {
        const bool before = comes_before(timeline->nodes, root, task);
        previous = before ? root : previous;
        root = before ? timeline->nodes[root].links.right : timeline->nodes[root].links.left;
    }
    return previous;
}

/*
 * The first fitting start in the gaps in front of the subtree's tasks, or NONE. The device is busy
 * up to `busy_until` when the subtree's first gap begins.
 *
 * A subtree that ends too early is left at once, and one that lies after `ready` is entered only
 * when its widest gap fits; only the path to `ready` is entered in hope, so the search is O(log n).
 */
static int64_t find_between(const struct node *nodes, int32_t root, int64_t busy_until,
                            int64_t ready, int64_t duration)
{
    while (root != NONE) {
        const struct node *node = &nodes[root];
        const int64_t widest = yk_number_max(node->widest, node->first_start - busy_until);
        if (widest < duration || node->last_finish < ready + duration) {
            return NONE;
        }
        const int64_t found = find_between(nodes, node->links.left, busy_until, ready, duration);
        if (found != NONE) {
            return found;
        }
        const int64_t idle_from =
            node->links.left == NONE ? busy_until : nodes[node->links.left].last_finish;
        const int64_t start = yk_number_max(idle_from, ready);
        if (start + duration <= node->start) {
            return start;
        }
        busy_until = node->finish;
        root = node->links.right;
    }
    return NONE;
}

int64_t yk_device_timeline_find_gap(const struct yk_device_timeline *timeline, int32_t device,
                                    int64_t ready, int64_t duration)
{
    const int32_t root = timeline->roots[device];
    const int64_t found = find_between(timeline->nodes, root, 0, ready, duration);
    const int64_t end = root == NONE ? 0 : timeline->nodes[root].last_finish;
    return found != NONE ? found : yk_number_max(end, ready);
}
