/*
 * Profile job: measures the layers of a model on the devices of this machine or of several ranks,
 * and the links between the ranks. Stores the times in a profile.
 */
#ifndef YK_JOB_PROFILING_PROFILE_JOB_H
#define YK_JOB_PROFILING_PROFILE_JOB_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/launcher.h"
#include "job/job.h"
#include "job/workload.h"
#include "measure/profiler/profiler.h"
#include "report/profile/report.h"
#include "trace/counters_file.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_profile_job_request {
    const char *model;
    const char *cluster; /* one device per rank; NULL: this machine, divided evenly */
    /* `batch` is the largest number of samples to measure. `precision` may be a comma-separated
     * list; NULL: fp32 on a CPU, bf16 on a GPU. */
    struct yk_workload_request workload;
    const char *slow;    /* value of --slow, see job/rank.h */
    const char *device;  /* NULL or "all": every available device */
    const char *wire;    /* transport between GPUs: "auto", "nccl" or "mpi" */
    double seconds;      /* approximate time limit for the layers of one device and precision */
    bool again;          /* also measure what the profile already contains */
    bool counters;       /* record the device's hardware counters */
    const char *profile; /* profile file; NULL: the default one */
    const struct yk_launcher *launcher; /* rank of this process; NULL: a single process */
    const struct yk_job_callbacks *job;
};

/* Starts as {0}; owns what it points to. */
struct yk_profile_job_result {
    struct yk_arena *arena;
    int32_t rank;                /* of this process; rank 0 has stored the times of all ranks */
    const char *path;            /* profile file */
    const char *versions;        /* software versions that the times of the last target depend on */
    struct yk_cluster *cluster;  /* devices of the last target */
    struct yk_profiler profiler; /* measured times */
    double noise;                /* relative error that a quarter of the measured times exceed */
    struct yk_text notes;        /* one line per target */
    int32_t target_count;        /* pairs of device and precision that were requested */
    bool counters;
    struct yk_counter_run_data counted; /* counters of each measured target, if requested */
};

/* Checks a request for `ranks` ranks, before they are started. Fails for errors that this process
 * can detect alone. */
yk_status yk_profile_job_check_request(const struct yk_profile_job_request *request,
                                       int32_t ranks) YK_MUST_USE;

/* Called by all ranks. When stopped, succeeds with the times measured so far. */
yk_status yk_profile_job_run(const struct yk_profile_job_request *request,
                             struct yk_profile_job_result *out) YK_MUST_USE;
void yk_profile_job_result_free(struct yk_profile_job_result *result);

/* Appends every measured number as a JSON document. */
yk_status yk_profile_job_write_json(const struct yk_profile_job_result *result,
                                    struct yk_text *out) YK_MUST_USE;

/* Appends the devices in the format of a cluster file. */
yk_status yk_profile_job_write_cluster(const struct yk_profile_job_result *result,
                                       struct yk_text *out) YK_MUST_USE;

/* The profile file to write to: `profile`, or the default one if NULL. Fails for "none". */
yk_status yk_profile_job_find_path(const char *profile, struct yk_arena *arena,
                                   const char **out) YK_MUST_USE;

/* ---- import: merges profiles of other machines into a profile of this machine ---- */

struct yk_profile_import_request {
    const char *files;   /* profiles to read, comma-separated */
    const char *profile; /* profile to write; NULL: the default one */
};

struct yk_profile_import_file {
    const char *path;
    struct yk_profile_import_counts counts;
};

/* Starts as {0}; owns what it points to. */
struct yk_profile_import_result {
    struct yk_arena *arena;
    const char *path; /* profile that was written */
    struct yk_profile_import_file *files;
    int32_t file_count;
};

/* Opens every file for a check before it writes anything. */
yk_status yk_profile_import_run(const struct yk_profile_import_request *request,
                                struct yk_profile_import_result *out) YK_MUST_USE;
void yk_profile_import_result_free(struct yk_profile_import_result *result);

/* ---- show: reads the contents of a profile ---- */

/* Starts as {0}; owns what it points to. */
struct yk_profile_show_result {
    struct yk_arena *arena;
    struct yk_profile_report report;
};

/* Uses these members of the request: `profile`, and as filters `model`, `workload` and `device`. */
yk_status yk_profile_show_run(const struct yk_profile_job_request *request,
                              struct yk_profile_show_result *out) YK_MUST_USE;
void yk_profile_show_result_free(struct yk_profile_show_result *result);

#endif
