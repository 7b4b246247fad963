/*
 * Links of a cluster file: one for all pairs, or a list of {"between": ["a", "b"], …} in which an
 * entry without "between" is for the other pairs.
 */
#ifndef YK_CLUSTER_JSON_LINKS_H
#define YK_CLUSTER_JSON_LINKS_H

#include "base/json.h"
#include "base/names.h"
#include "cluster/builder.h"

/* Sets the links that `node`, which may be NULL, speaks of. `names` are those of the devices. */
yk_status yk_cluster_json_links_read(const struct yk_json *node, const struct yk_names *names,
                                     struct yk_cluster_builder *draft) YK_MUST_USE;

#endif
