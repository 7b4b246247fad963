/*
 * Profiling: the state of a profile job while it runs. Its functions determine the targets, which
 * are pairs of a device and a precision, and the cluster that the devices of a target form.
 */
#ifndef YK_JOB_PROFILING_PROFILING_H
#define YK_JOB_PROFILING_PROFILING_H

#include "base/status.h"
#include "job/device.h"
#include "job/profiling/profile_job.h"
#include "job/training/team.h"
#include "measure/profiler/profiler.h"

#include <stdint.h>

/* A pair of a device and a precision to measure. */
struct yk_profiling_target {
    struct yk_device_choice choice;
    enum yk_precision precision;
};

struct yk_profiling_state {
    const struct yk_profile_job_request *request;
    struct yk_profile_job_result *result;
    struct yk_arena *arena; /* owned by the result */
    const struct yk_model_config *config;
    struct yk_workload workload; /* workload of the current target */
    double *slowness;            /* (ranks) factors of --slow; 1 means: not slowed down */
    struct yk_train_team team;
    struct yk_profiling_target *targets;
    int32_t target_count;
    int32_t target; /* index of the current target */
    /* All members from here on belong to the current target. The cluster has one device per rank.
     * In the cluster, a rank with a factor of --slow has only a part of a CPU: half of it if the
     * factor is 2. */
    struct yk_cluster *cluster;
    struct yk_device_context context;
    struct yk_backend_lane *lane; /* comm lane if there is only one rank */
    struct yk_communicator alone; /* communicator if there is only one rank */
    struct yk_measuring_ranks all;
    struct yk_counter_recorder *counter_recorder; /* NULL means: no counters */
};

/* Returns the value of --device with which each rank chooses its device. For a cluster of CPUs it
 * is always "cpu". If all devices were requested, it is "cuda" for a cluster of GPUs, and "auto"
 * without a cluster. Otherwise it is the requested device. */
const char *yk_profiling_device_option(const struct yk_profiling_state *profiling);

/* Determines the targets for `ranks` ranks. Before the team is open, the function uses only what
 * this process knows. After the team is open, all ranks get the same targets. */
yk_status yk_profiling_find_targets(struct yk_profiling_state *profiling,
                                    int32_t ranks) YK_MUST_USE;

/* Opens the cluster of the request. Fails if it does not have one device per rank. */
yk_status yk_profiling_open_cluster(struct yk_profiling_state *profiling,
                                    int32_t ranks) YK_MUST_USE;

/* Builds the cluster of the current target, with one device per rank. If the request names a
 * cluster, only checks that cluster. Called by all ranks. */
yk_status yk_profiling_make_target_cluster(struct yk_profiling_state *profiling) YK_MUST_USE;

#endif
