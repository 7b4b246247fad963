/*
 * Assume: the links that nobody described.
 *
 * Within a node a pair of whole devices of one type talks over the peer link their boards have; any
 * other pair over the slower of their two buses. Between nodes it is a common network.
 */
#ifndef YK_CLUSTER_ASSUME_H
#define YK_CLUSTER_ASSUME_H

#include "cluster/draft.h"

/*
 * Fills every link of the draft that has no bandwidth yet. `out` is a sentence that says what was
 * taken, in the draft's arena; NULL when there was nothing to fill.
 */
yk_status yk_cluster_assume_links(struct yk_cluster_draft *draft, const char **out) YK_MUST_USE;

#endif
