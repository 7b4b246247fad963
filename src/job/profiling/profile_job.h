/*
 * Profile job: measures the times of a model's layers on the devices of this machine or of several
 * ranks, and the times of the links between the ranks. Stores the times in a profile.
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

/* A target is a pair of a device and a precision. */
struct yk_profile_job_request {
    const char *model;
    /* Cluster with one device per rank; NULL means: the devices on which the ranks run. Ranks on
     * CPUs share the cores and the memory of their machine. */
    const char *cluster;
    /* workload.batch is the largest number of samples to measure. workload.precision may be a
     * comma-separated list; NULL means: fp32 on a CPU, bf16 on a GPU. */
    struct yk_workload_request workload;
    const char *slow; /* value of --slow (job/rank.h) */
    /* NULL or "all" means: a single process without a cluster measures all its devices one after
     * another; several ranks measure either GPUs or CPUs. */
    const char *device;
    const char *wire; /* transport between GPUs: "auto", "nccl" or "mpi" */
    /* Approximate time limit for measuring the layers of one target. */
    double seconds;
    bool again;                         /* also measure times that the profile already contains */
    bool counters;                      /* record the device's hardware counters */
    const char *profile;                /* path of the profile; NULL means: the default profile */
    const struct yk_launcher *launcher; /* rank of this process; NULL means: a single process */
    const struct yk_job_callbacks *job;
};

/* Starts as {0}; owns what it points to. */
struct yk_profile_job_result {
    struct yk_arena *arena;
    int32_t rank;         /* rank of this process; rank 0 has stored the times of all ranks */
    const char *path;     /* path of the profile */
    const char *versions; /* versions of the software that affect the times of the last target */
    struct yk_cluster *cluster;  /* devices of the last target */
    struct yk_profiler profiler; /* measured times */
    double noise;         /* relative spread of the measured times (yk_profiler_p75_spread()) */
    struct yk_text notes; /* one line per target */
    int32_t target_count; /* number of requested targets */
    bool counters;
    struct yk_counter_run_data counted; /* counters of each measured target, if requested */
};

/* Checks a request before its `ranks` ranks are started. Finds only the errors that this process
 * can detect without the other ranks. */
yk_status yk_profile_job_check_request(const struct yk_profile_job_request *request,
                                       int32_t ranks) YK_MUST_USE;

/* Called by all ranks. If the job is stopped, succeeds with the times that were measured until
 * then. */
yk_status yk_profile_job_run(const struct yk_profile_job_request *request,
                             struct yk_profile_job_result *out) YK_MUST_USE;
void yk_profile_job_result_free(struct yk_profile_job_result *result);

/* Appends every measured number as a JSON document. */
yk_status yk_profile_job_write_json(const struct yk_profile_job_result *result,
                                    struct yk_text *out) YK_MUST_USE;

/* Appends the devices as JSON, in the format of a cluster file. */
yk_status yk_profile_job_write_cluster_json(const struct yk_profile_job_result *result,
                                            struct yk_text *out) YK_MUST_USE;

/* Sets `*out` to the path of the profile to write. This is `profile`, or the default profile if
 * `profile` is NULL. Fails if `profile` is "none". */
yk_status yk_profile_job_resolve_output_path(const char *profile, struct yk_arena *arena,
                                             const char **out) YK_MUST_USE;

/* ---- import: merges profiles of other machines into a profile of this machine ---- */

struct yk_profile_import_request {
    const char *files;   /* comma-separated paths of the profiles to read */
    const char *profile; /* path of the profile to write; NULL means: the default profile */
};

struct yk_profile_imported_file {
    const char *path;
    struct yk_profile_import_counts counts;
};

/* Starts as {0}; owns what it points to. */
struct yk_profile_import_result {
    struct yk_arena *arena;
    const char *path; /* path of the profile that was written */
    struct yk_profile_imported_file *files;
    int32_t file_count;
};

/* First checks that every file can be opened, and then writes the profile. */
yk_status yk_profile_import_run(const struct yk_profile_import_request *request,
                                struct yk_profile_import_result *out) YK_MUST_USE;
void yk_profile_import_result_free(struct yk_profile_import_result *result);

/* ---- show: reads the contents of a profile ---- */

/* Starts as {0}; owns what it points to. */
struct yk_profile_show_result {
    struct yk_arena *arena;
    struct yk_profile_report report;
};

/* Reads the profile at the path request->profile. Uses the members `model`, `workload` and `device`
 * of the request as filters, and ignores its other members. */
yk_status yk_profile_show_run(const struct yk_profile_job_request *request,
                              struct yk_profile_show_result *out) YK_MUST_USE;
void yk_profile_show_result_free(struct yk_profile_show_result *result);

#endif
