/*
 * Task map: which device runs each task, as somebody wrote it down: a JSON object of task or group
 * names, each with the name of a device.
 */
#ifndef YK_SCHED_TASK_MAP_H
#define YK_SCHED_TASK_MAP_H

#include "base/status.h"
#include "graph/graph.h"

#include <stddef.h>

/*
 * Fills `out` (n). A task's own name goes before its group's; every task must be named one way or
 * the other, and a group must not be torn apart. `source` begins every message.
 */
yk_status yk_task_map_read(const char *text, size_t length, const char *source,
                           const struct yk_graph *graph, int32_t *out) YK_MUST_USE;

#endif
