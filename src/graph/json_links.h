/* Links of a JSON graph in yoke's own form: one for all pairs of devices, or a list by pair. */
#ifndef YK_GRAPH_JSON_LINKS_H
#define YK_GRAPH_JSON_LINKS_H

#include "base/json.h"
#include "base/status.h"
#include "graph/builder.h"

/* Gives the builder the links of `node`, the value of "links"; NULL where the graph has none. */
yk_status yk_graph_json_links_read(const struct yk_json *node,
                                   struct yk_graph_builder *builder) YK_MUST_USE;

#endif
