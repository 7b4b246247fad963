/*
 * Assume: the links that nobody described.
 *
 * Within a node a pair of whole devices of one type talks over the peer link their boards have; any
 * other pair over the slower of their two buses. Between nodes it is a common network.
 */
#ifndef YK_CLUSTER_ASSUME_H
#define YK_CLUSTER_ASSUME_H

#include "base/arena.h"
#include "cluster/cluster.h"

/*
 * Fills every link of the `count` devices, (P, P), that has no bandwidth yet. `out` is a sentence
 * that says what was taken, in the arena; NULL when there was nothing to fill.
 */
yk_status yk_cluster_assume_links(const struct yk_device *devices, int32_t count,
                                  struct yk_link *links, struct yk_arena *arena,
                                  const char **out) YK_MUST_USE;

#endif
