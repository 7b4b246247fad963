/*
 * Subset: candidates that use only some of the devices. On a cluster of several nodes the quick
 * schedulers spread work over slow links between them; what one node alone would do is a
 * candidate, too.
 */
#ifndef YK_PLANNER_SUBSET_H
#define YK_PLANNER_SUBSET_H

#include "planner/candidates.h"

/* Considers what the devices of each node would do by themselves; of nodes that are alike, one. */
yk_status yk_subset_consider_nodes(struct yk_contest *contest) YK_MUST_USE;

#endif
