/* Measured: the times of layers that somebody measured and wrote into a cluster file. */
#ifndef YK_CLUSTER_JSON_MEASURED_H
#define YK_CLUSTER_JSON_MEASURED_H

#include "base/arena.h"
#include "base/json.h"
#include "cluster/cluster.h"

/* Reads the "measured" of a device's object, if it has any. Texts are copied into `arena`. */
yk_status yk_cluster_json_measured_read(const struct yk_json *device, struct yk_arena *arena,
                                        struct yk_device *out) YK_MUST_USE;

#endif
