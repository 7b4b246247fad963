/*
 * Subset: candidates that use only some of the devices. On a cluster of several nodes the quick
 * schedulers spread work over slow links between them; what one node alone would do is a
 * candidate, too.
 */
#ifndef YK_PLANNER_PLACEMENT_SUBSET_H
#define YK_PLANNER_PLACEMENT_SUBSET_H

#include "planner/placement/candidates.h"

/* Considers what the devices of each node would do by themselves; of nodes that are alike, one. */
yk_status yk_candidates_add_nodes(struct yk_candidates *contest) YK_MUST_USE;

#endif
