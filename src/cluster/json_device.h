/* Device of a cluster file: one entry of its "devices", filled in from the datasheet. */
#ifndef YK_CLUSTER_JSON_DEVICE_H
#define YK_CLUSTER_JSON_DEVICE_H

#include "base/json.h"
#include "cluster/builder.h"

/* Reads all but the node. Texts are copied into `arena`. */
yk_status yk_cluster_json_device_read(const struct yk_json *node, struct yk_arena *arena,
                                      struct yk_device *out) YK_MUST_USE;

#endif
