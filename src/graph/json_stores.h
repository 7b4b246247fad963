/*
 * Stores of a JSON graph in yoke's own form: the list "stores", and the "store" of a group that
 * stands in the list "groups".
 */
#ifndef YK_GRAPH_JSON_STORES_H
#define YK_GRAPH_JSON_STORES_H

#include "base/json.h"
#include "base/status.h"
#include "graph/builder.h"

/* Gives the builder every store; the document's groups are checked already. Fails for a store that
 * is not listed, is listed twice, or that no group uses. */
yk_status yk_graph_json_read_stores(const struct yk_json *root,
                                    struct yk_graph_builder *builder) YK_MUST_USE;

#endif
