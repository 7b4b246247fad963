/* Plan devices: the words of --devices, which say what a plan is to use of a cluster. */
#ifndef YK_JOB_PLAN_DEVICES_H
#define YK_JOB_PLAN_DEVICES_H

#include "base/arena.h"
#include "cluster/cluster.h"

/* "gpu0,gpu2" as those that are left out (devices), which lie in the arena. */
yk_status yk_plan_devices_read(const char *words, const struct yk_cluster *cluster,
                               struct yk_arena *arena, const bool **left_out) YK_MUST_USE;

#endif
