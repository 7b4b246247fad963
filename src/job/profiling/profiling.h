/*
 * Profiling: the state of a profile job while it runs. Determines the targets (pairs of device and
 * precision) and the cluster that the devices of a target form.
 */
#ifndef YK_JOB_PROFILING_PROFILING_H
#define YK_JOB_PROFILING_PROFILING_H

#include "base/status.h"
#include "job/device.h"
#include "job/device_counters.h"
#include "job/profiling/profile_job.h"
#include "job/training/team.h"
#include "measure/profiler/profiler.h"

#include <stdint.h>

/* One device and precision to measure. */
struct yk_profile_job_target {
    struct yk_device_choice choice;
    enum yk_precision precision;
};

struct yk_profiling_state {
    const struct yk_profile_job_request *request;
    struct yk_profile_job_result *result;
    struct yk_arena *arena; /* owned by the result */
    const struct yk_model_config *config;
    struct yk_workload workload; /* of the current target */
    double *slowness;            /* (ranks) factors of --slow */
    struct yk_train_team team;
    struct yk_profile_job_target *targets;
    int32_t target_count;
    int32_t target; /* index of the current target */
    /* Of the current target: */
    struct yk_cluster *cluster; /* one device per rank; --slow is the device's part */
    struct yk_device_context context;
    struct yk_backend_lane *lane; /* comm lane of a single rank */
    struct yk_communicator alone; /* the communicator of a single rank */
    struct yk_measure_team all;
    struct yk_counter_recorder *counter_recorder; /* NULL: no counters */
};

static inline int32_t yk_profiling_rank_count(const struct yk_profiling_state *profiling)
{
    return yk_train_team_is_single_rank(&profiling->team) ? 1 : profiling->team.ranks.size;
}

/* The requested device as a value of --device. "all" becomes the device kind of the cluster, or
 * "auto". */
const char *yk_profiling_device_option(const struct yk_profiling_state *profiling);

/* Determines the targets for `ranks` ranks. Before the team is open this uses only what this
 * process knows; afterwards all ranks agree on the targets. */
yk_status yk_profiling_find_targets(struct yk_profiling_state *profiling,
                                    int32_t ranks) YK_MUST_USE;

/* Opens the cluster of the request. Fails unless it has one device per rank. */
yk_status yk_profiling_read_cluster(struct yk_profiling_state *profiling,
                                    int32_t ranks) YK_MUST_USE;

/* Builds the cluster of the current target: one device per rank. Called by all ranks. */
yk_status yk_profiling_make_cluster(struct yk_profiling_state *profiling) YK_MUST_USE;

#endif
