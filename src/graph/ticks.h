/* Ticks: chooses the tick of a graph and converts all that was collected in units of time to it.
 * Private to this room; finish.c is the only user. */
#ifndef YK_GRAPH_TICKS_H
#define YK_GRAPH_TICKS_H

#include "base/status.h"
#include "graph/builder_record.h"
#include "graph/graph.h"

/* The largest cost of a task, in units; NAN when no device can run it. */
double yk_ticks_largest_cost(const struct yk_graph_builder *builder, int32_t task);

/* Fills ticks_per_unit, costs and links of `graph`. Where all links are equal they are left out,
 * for then every edge has one time. */
yk_status yk_ticks_convert(const struct yk_graph_builder *builder,
                           struct yk_graph *graph) YK_MUST_USE;

/* The cost of an edge of a graph that was converted: ticks, or YK_GRAPH_BY_LINK. */
int64_t yk_ticks_of_edge(const struct yk_graph *graph, const struct edge_record *record);

#endif
