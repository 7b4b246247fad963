/*
 * Measured rank groups: the groups of ranks whose communication is measured. In a profile, the time
 * of a message depends on the number of ranks and on the kind of link. The kind of a link depends
 * on the types of the two devices that it joins. For a collective, the slowest link of the ring is
 * used. One group is measured for each combination of a number of ranks and a kind of link.
 */
#ifndef YK_MEASURE_PROFILER_MEASURED_RANK_GROUPS_H
#define YK_MEASURE_PROFILER_MEASURED_RANK_GROUPS_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "cost/profile_key.h"
#include "measure/profiler/comm_benchmark.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_measured_rank_group {
    char link[YK_PROFILE_KEY_SIZE]; /* profile key of the link */
    int32_t *ranks;                 /* (count) */
    int32_t count;
    bool both_directions; /* measure both directions, because the two devices differ */
};

/*
 * Lists the groups for a cluster with one rank per device. The list begins with a pair of ranks for
 * every kind of link. Then come the group of all ranks, and groups of 3, 4, 5 … ranks (4, 8, 16 …
 * if there are more than 8 ranks).
 */
yk_status yk_measured_rank_groups_list(const struct yk_cluster *cluster, struct yk_arena *arena,
                                       struct yk_measured_rank_group **out,
                                       int32_t *out_count) YK_MUST_USE;

#endif
