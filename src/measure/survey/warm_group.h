/*
 * Company: a group of all ranks that has exchanged its first messages, as one has in training.
 *
 * Comms between devices with memory of their own take some of it when a group first exchanges
 * something. What a process holds besides its program is measured while such a group is there.
 */
#ifndef YK_MEASURE_SURVEY_WARM_GROUP_H
#define YK_MEASURE_SURVEY_WARM_GROUP_H

#include "measure/survey/exchange_times.h"

/* All ranks call it. `out` is NULL for a rank alone, and where memory is the host's. */
yk_status yk_exchange_times_create_warm(const struct yk_measure_ranks *team, enum yk_comm_type type,
                                        struct yk_arena *arena,
                                        struct yk_exchange_times **out) YK_MUST_USE;

#endif
