/*
 * Groups of a JSON graph in yoke's own form. They can be named in three places, which must agree: a
 * task's "group", a task's "resident", and the list "groups".
 *
 * Names belong to the JSON document, which must outlive this. One thread at a time.
 */
#ifndef YK_GRAPH_JSON_GROUPS_H
#define YK_GRAPH_JSON_GROUPS_H

#include "base/json.h"
#include "base/status.h"
#include "graph/builder.h"

struct yk_graph_json_groups;

/* Learns every group the document names. */
yk_status yk_graph_json_groups_create(const struct yk_json *root,
                                      struct yk_graph_json_groups **out) YK_MUST_USE;
void yk_graph_json_groups_destroy(struct yk_graph_json_groups *groups);

/*
 * The group of a task: `group`, or, where that is NULL but the task has resident bytes, one of its
 * own; NULL when it is in none. `resident` is NAN where the task does not say.
 */
yk_status yk_graph_json_groups_join(struct yk_graph_json_groups *groups, const char *task,
                                    const char *group, double resident,
                                    const char **out) YK_MUST_USE;

/* After the last task: gives the builder all resident bytes, and fails for a group without tasks.
 */
yk_status yk_graph_json_groups_finish(const struct yk_graph_json_groups *groups,
                                      struct yk_graph_builder *builder) YK_MUST_USE;

#endif
