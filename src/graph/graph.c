#include "graph/graph.h"

#include "base/arena.h"

void yk_graph_destroy(struct yk_graph *graph)
{
    if (graph) {
        yk_arena_destroy(graph->arena);
    }
}

int64_t yk_graph_mean_transfer(const struct yk_graph *graph, const struct yk_graph_edge *edge)
{
    if (edge->cost != YK_GRAPH_BY_LINK) {
        return edge->cost;
    }
    return llround(graph->mean_link.latency_ticks +
                   (double)edge->bytes * graph->mean_link.ticks_per_byte);
}
