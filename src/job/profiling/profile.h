/*
 * Profile: the words of yoke profile, and what becomes of them.
 */
#ifndef YK_JOB_PROFILING_PROFILE_H
#define YK_JOB_PROFILING_PROFILE_H

#include "base/status.h"
#include "base/text.h"
#include "job/counters.h"
#include "job/device.h"
#include "job/launch.h"
#include "job/training/team.h"
#include "measure/survey.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_profile_words {
    const char *model;
    const char *cluster;
    int64_t batch;
    int64_t sequence; /* 0: not said */
    int64_t target_sequence;
    const char *precision;
    int64_t lora_rank;
    bool nf4;
    int64_t ranks; /* 0: not said */
    struct yk_launch_place hand;
    const char *slow;
    const char *device; /* NULL: every device that can be had */
    const char *wire;
    double seconds;
    bool again; /* what is known and not stale, too */
    bool counters;
    const char *profile; /* the file; NULL: the usual one */
    const char *import;  /* files, with commas */
    bool show;
    const char *svg; /* a folder for pictures of what is shown */
    const char *cluster_output;
    bool json;
    bool quiet;
};

/* One device and precision to be measured. */
struct yk_profile_target {
    struct yk_device_choice choice;
    enum yk_precision precision;
};

/* What the words name, opened, and what was measured. Starts as {0}. */
struct yk_profiling {
    struct yk_profile_words words;
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_workload workload; /* of the target at hand */
    double *slowness;            /* (ranks) */
    const char *path;            /* of the profile */
    struct yk_train_team team;
    struct yk_profile_target *targets;
    int32_t target_count;
    int32_t target; /* at hand */
    /* Of the target at hand: */
    struct yk_cluster *cluster; /* with the slowness of each rank as its device's part */
    const char *versions;
    struct yk_engine engine;
    struct yk_backend_lane *lane; /* of a rank alone */
    struct yk_ranks alone;
    struct yk_measure_ranks all;
    struct yk_gauge *gauge; /* with --counters; else NULL */
    /* Of all of them: */
    struct yk_survey survey;
    struct yk_text notes;            /* about each target, in lines */
    struct yk_counter_rank *counted; /* (target_count) of this rank, with --counters */
};

static inline int32_t yk_profiling_ranks(const struct yk_profiling *profiling)
{
    return yk_train_team_is_alone(&profiling->team) ? 1 : profiling->team.ranks.size;
}

/* --device as others read it, of ranks that measure together. */
const char *yk_profiling_device(const struct yk_profiling *profiling);

/* Which devices and precisions the words mean, for so many ranks: as far as one process knows, and
 * once the team has met, as all of them do. */
yk_status yk_profiling_find_targets(struct yk_profiling *profiling, int32_t ranks) YK_MUST_USE;

/* The cluster of --cluster, which must have a device for each rank. */
yk_status yk_profiling_read_cluster(struct yk_profiling *profiling, int32_t ranks) YK_MUST_USE;

/* The devices of the target at hand as a cluster: one for each rank. */
yk_status yk_profiling_name_cluster(struct yk_profiling *profiling) YK_MUST_USE;

/* Opens what the words name, for so many ranks. */
yk_status yk_profiling_open(struct yk_profiling *profiling, int32_t ranks) YK_MUST_USE;

/* Measures, and on the first rank keeps what was measured. */
yk_status yk_profiling_run(struct yk_profiling *profiling,
                           const struct yk_launcher *launcher) YK_MUST_USE;
void yk_profiling_close(struct yk_profiling *profiling);

/* What was measured, as text or JSON. */
yk_status yk_profiling_write_text(const struct yk_profiling *profiling,
                                  struct yk_text *out) YK_MUST_USE;
yk_status yk_profiling_write_json(const struct yk_profiling *profiling,
                                  struct yk_text *out) YK_MUST_USE;

/* The path of the profile that the words name, or the usual one; a refusal where there is none. */
yk_status yk_profiling_find_path(const struct yk_profile_words *words, struct yk_arena *arena,
                                 const char **out) YK_MUST_USE;

/* yoke profile --import: adds what other files know. */
yk_status yk_profile_import_run(const struct yk_profile_words *words,
                                struct yk_text *out) YK_MUST_USE;

/* yoke profile --show: what the file knows, as tables and curves, or JSON. */
yk_status yk_profile_show_run(const struct yk_profile_words *words,
                              struct yk_text *out) YK_MUST_USE;

#endif
