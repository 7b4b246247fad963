/* The edges of a WfCommons workflow: who waits for whom, and which files go from one to the other.
 * Private to the reader of that form. */
#ifndef YK_GRAPH_WFCOMMONS_EDGES_H
#define YK_GRAPH_WFCOMMONS_EDGES_H

#include "base/arena.h"
#include "base/json.h"
#include "base/names.h"
#include "base/status.h"
#include "graph/builder.h"

struct yk_graph_wfcommons_input {
    const struct yk_json *tasks; /* workflow.specification.tasks, a list of objects with an id */
    struct yk_names *task_names; /* in the order of that list */
    struct yk_names *file_names;
    double *file_bytes; /* by number of the file's name */
};

/* Adds an edge for each pair that either end lists, once; `arena` holds what is needed meanwhile.
 */
yk_status yk_graph_wfcommons_add_edges(const struct yk_graph_wfcommons_input *input,
                                       struct yk_arena *arena,
                                       struct yk_graph_builder *builder) YK_MUST_USE;

#endif
