/*
 * Launch: the processes of a plan, by rank and by node, as launchers start them.
 *
 * A rank is the member's number in the one group that all layers are in, as in the files for
 * PyTorch; where layers are in several groups, it is the plan's.
 */
#ifndef YK_EXPORT_LAUNCH_H
#define YK_EXPORT_LAUNCH_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "plan/plan.h"

struct yk_launch_rank {
    const struct yk_device *device;
    int32_t number; /* of the device among those of its kind (GPUs, CPUs) in its node */
    int32_t node;   /* number in the launch's nodes */
};

struct yk_launch_node {
    int32_t name; /* the cluster's number of it */
    int32_t first_rank;
    int32_t rank_count;
    bool together; /* its ranks are first_rank, first_rank + 1 … */
};

struct yk_launch {
    struct yk_launch_rank *ranks;
    struct yk_launch_node *nodes; /* by their first rank */
    int32_t rank_count;
    int32_t node_count;
    bool has_cpus;
    bool has_parts; /* of devices */
};

yk_status yk_launch_make(const struct yk_plan *plan, const struct yk_cluster *cluster,
                         struct yk_arena *arena, struct yk_launch *out) YK_MUST_USE;

/* What no launcher says. */
void yk_launch_note(const struct yk_launch *launch, struct yk_text *notes);

#endif
