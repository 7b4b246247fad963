/*
 * Profile: measures the layers of a model on the devices of this machine or of several ranks, and
 * the links between them, and keeps the times in a profile.
 */
#ifndef YK_JOB_PROFILING_PROFILE_H
#define YK_JOB_PROFILING_PROFILE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/launcher.h"
#include "job/job.h"
#include "job/workload.h"
#include "measure/survey/survey.h"
#include "trace/counters_file.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_profile_request {
    const char *model;
    const char *cluster; /* a device for each rank; NULL: this machine's, shared evenly */
    /* Its batch is the most samples that a rank may take at once; of its precision there may be
     * several, with commas; NULL: fp32 on a CPU, bf16 on a GPU. */
    struct yk_workload_request workload;
    const char *slow;   /* ranks that compute more slowly, see job/rank.h */
    const char *device; /* NULL, "all": every device that is available */
    const char *wire;   /* how GPUs exchange numbers: "auto", "nccl" or "mpi" */
    double seconds;     /* about as long as the layers of a device and precision may take */
    bool again;         /* what is known and not stale, too */
    bool counters;
    const char *profile;                /* the file; NULL: the usual one */
    const struct yk_launcher *launcher; /* which rank this process is; NULL: the only one */
    const struct yk_job *job;
};

/* What was measured. Starts as {0}; owns what it points to. */
struct yk_profile_result {
    struct yk_arena *arena;
    int32_t rank;               /* the first one has kept what all have measured */
    const char *path;           /* of the profile */
    const char *versions;       /* of the last target: what its times depend on */
    struct yk_cluster *cluster; /* its devices */
    struct yk_survey survey;
    double noise;         /* of the survey's times: a quarter of them are off by more */
    struct yk_text notes; /* about each target, in lines */
    int32_t target_count; /* devices and precisions that were to be measured */
    bool counters;
    struct yk_counter_ranks counted; /* with counters: of the targets that were measured */
};

/* Refuses a request that this process can tell to be wrong, for so many ranks: before they are
 * started. */
yk_status yk_profile_check(const struct yk_profile_request *request, int32_t ranks) YK_MUST_USE;

/* All ranks call it. Stopped, it ends with what was measured by then. */
yk_status yk_profile_run(const struct yk_profile_request *request,
                         struct yk_profile_result *out) YK_MUST_USE;
void yk_profile_result_free(struct yk_profile_result *result);

/* Every number, as JSON. */
yk_status yk_profile_write_json(const struct yk_profile_result *result,
                                struct yk_text *out) YK_MUST_USE;

/* The devices as a cluster file. */
yk_status yk_profile_write_cluster(const struct yk_profile_result *result,
                                   struct yk_text *out) YK_MUST_USE;

/* The file to keep measurements in. */
yk_status yk_profile_find_path(const char *profile, struct yk_arena *arena,
                               const char **out) YK_MUST_USE;

#endif
