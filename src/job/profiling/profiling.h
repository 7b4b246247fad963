/*
 * Targets: which devices and precisions a profile is asked for, and the cluster that the devices of
 * one of them are.
 */
#ifndef YK_JOB_PROFILING_PROFILING_H
#define YK_JOB_PROFILING_PROFILING_H

#include "base/status.h"
#include "job/counters.h"
#include "job/device.h"
#include "job/profiling/profile.h"
#include "job/training/team.h"
#include "measure/survey/survey.h"

#include <stdint.h>

/* One device and precision to be measured. */
struct yk_profile_target {
    struct yk_device_choice choice;
    enum yk_precision precision;
};

/* What is asked for, opened. */
struct yk_profiling {
    const struct yk_profile_request *request;
    struct yk_profile_result *result;
    struct yk_arena *arena; /* the result's */
    const struct yk_model_config *config;
    struct yk_workload workload; /* of the target at hand */
    double *slowness;            /* (ranks) */
    struct yk_train_team team;
    struct yk_profile_target *targets;
    int32_t target_count;
    int32_t target; /* at hand */
    /* Of the target at hand: */
    struct yk_cluster *cluster; /* with the slowness of each rank as its device's part */
    struct yk_engine engine;
    struct yk_backend_lane *lane; /* of a rank alone */
    struct yk_ranks alone;
    struct yk_measure_ranks all;
    struct yk_counter_recorder *gauge; /* with counters; else NULL */
};

static inline int32_t yk_profiling_ranks(const struct yk_profiling *profiling)
{
    return yk_train_team_is_alone(&profiling->team) ? 1 : profiling->team.ranks.size;
}

/* The device that is asked for, as other jobs read it, of ranks that measure together. */
const char *yk_profiling_device(const struct yk_profiling *profiling);

/* Which devices and precisions are meant, for so many ranks: as far as one process knows, and
 * once the team has met, as all of them do. */
yk_status yk_profiling_find_targets(struct yk_profiling *profiling, int32_t ranks) YK_MUST_USE;

/* The cluster that is named, which must have a device for each rank. */
yk_status yk_profiling_read_cluster(struct yk_profiling *profiling, int32_t ranks) YK_MUST_USE;

/* The devices of the target at hand as a cluster: one for each rank. */
yk_status yk_profiling_make_cluster(struct yk_profiling *profiling) YK_MUST_USE;

#endif
