/*
 * Exchange groups: which ranks exchange messages so that every number is measured that costs look
 * up. Costs know a message by the link between two kinds of devices and the number of ranks: of a
 * collective, the slowest link of the ring. Of all groups with one such name, one is measured.
 */
#ifndef YK_MEASURE_SURVEY_EXCHANGE_GROUPS_H
#define YK_MEASURE_SURVEY_EXCHANGE_GROUPS_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "cost/profile_key.h"
#include "measure/survey/exchange_times.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_exchange_group {
    char link[YK_PROFILE_KEY_SIZE];
    int32_t *ranks; /* (count) */
    int32_t count;
    bool uneven; /* a pair of which each direction is measured */
};

/*
 * The groups among the devices of a cluster, a rank on each: a pair for every link, then larger
 * ones: of all ranks first, then of 3, 4, 5 … and where ranks are more than 8 of 4, 8, 16 …
 */
yk_status yk_exchange_groups_list(const struct yk_cluster *cluster, struct yk_arena *arena,
                                  struct yk_exchange_group **out, int32_t *out_count) YK_MUST_USE;

#endif
