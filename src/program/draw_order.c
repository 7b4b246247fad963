#include "program/draw.h"

/* Nodes that may go next, the one with the smallest key on top. */
struct heap {
    const double *keys;
    int32_t *nodes;
    int32_t count;
};

static bool goes_first(const struct heap *heap, int32_t a, int32_t b)
{
    const double left = heap->keys[heap->nodes[a]];
    const double right = heap->keys[heap->nodes[b]];
    return left < right || (left == right && heap->nodes[a] < heap->nodes[b]);
}

static void swap(struct heap *heap, int32_t a, int32_t b)
{
    const int32_t kept = heap->nodes[a];
    heap->nodes[a] = heap->nodes[b];
    heap->nodes[b] = kept;
}

static void push(struct heap *heap, int32_t node)
{
    int32_t at = heap->count++;
    heap->nodes[at] = node;
    while (at > 0 && goes_first(heap, at, (at - 1) / 2)) {
        swap(heap, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static int32_t pop(struct heap *heap)
{
    const int32_t top = heap->nodes[0];
    heap->nodes[0] = heap->nodes[--heap->count];
    int32_t at = 0;
    for (;;) {
        int32_t least = at;
        for (int32_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++) {
            least = goes_first(heap, child, least) ? child : least;
        }
        if (least == at) {
            return top;
        }
        swap(heap, at, least);
        at = least;
    }
}

yk_status yk_draw_order(struct yk_draw *draw)
{
    struct heap heap = {.keys = draw->keys};
    int32_t *blocked = NULL; /* by how many nodes each still is */
    YK_TRY_NEW(draw->arena, heap.nodes, draw->node_count);
    YK_TRY_NEW(draw->arena, blocked, draw->node_count);
    for (int32_t e = 0; e < draw->edge_count; e++) {
        blocked[draw->edges[e].after] += yk_draw_lag(draw, &draw->edges[e]) == 0 ? 1 : 0;
    }
    for (int32_t n = 0; n < draw->node_count; n++) {
        if (blocked[n] == 0) {
            push(&heap, n);
        }
    }
    /* Going round in a circle takes at least a round, whatever the steps: none is left over. */
    for (int32_t turn = 0; heap.count > 0; turn++) {
        const int32_t node = pop(&heap);
        draw->turn[node] = turn;
        for (int32_t i = draw->first_edge[node]; i < draw->first_edge[node + 1]; i++) {
            const struct yk_draw_edge *edge = &draw->edges[draw->edges_of[i]];
            if (edge->before == node && yk_draw_lag(draw, edge) == 0 &&
                --blocked[edge->after] == 0) {
                push(&heap, edge->after);
            }
        }
    }
    return YK_OK;
}
