#include "cli/device.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/process_memory.h"
#include "cli/profile.h"
#include "cli/profile_path.h"
#include "cli/slow.h"
#include "cli/terminal.h"
#include "cli/workload.h"
#include "cluster/topology.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MIB = 1024 * 1024,
};

static yk_status read_workload(struct yk_profiling *profiling)
{
    const struct yk_profile_words *words = &profiling->words;
    const struct yk_workload_words workload = {
        .batch = words->batch,
        .sequence = words->sequence,
        .target_sequence = words->target_sequence,
        .precision = words->precision,
        .lora_rank = words->lora_rank,
        .nf4 = words->nf4,
    };
    if (!words->model) {
        return yk_fail(YK_ERROR_USAGE, "name a model: --model gpt-mini; yoke model lists them");
    }
    YK_TRY(yk_model_config_open(words->model, profiling->arena, &profiling->config));
    return yk_workload_read(&workload, profiling->config, &profiling->workload);
}

static bool is_even(const double *slowness, int64_t ranks)
{
    for (int64_t i = 0; i < ranks; i++) {
        if (slowness[i] > 1) {
            return false;
        }
    }
    return true;
}

/* This machine's cores and memory, shared out evenly; a rank that computes F times as long is the
 * F-th part of a device. */
static yk_status share_machine(const double *slowness, int64_t ranks, struct yk_cluster **out)
{
    struct yk_topology machine;
    struct yk_text line = {0};
    YK_TRY(yk_topology_find(&machine));
    const int64_t cores = machine.core_count > 0 ? machine.core_count : machine.thread_count;
    const bool alike = is_even(slowness, ranks);
    for (int64_t i = 0; i < (alike ? 1 : ranks); i++) {
        yk_text_add(&line, i > 0 ? " + " : "");
        if (alike) {
            yk_text_addf(&line, "%" PRId64 "x", ranks);
        }
        yk_text_addf(&line, "cpu:%" PRId64, cores > ranks ? cores / ranks : 1);
        if (slowness[i] > 1) {
            yk_text_addf(&line, ":%.4g%%", 100 / slowness[i]);
        }
        if (machine.memory_bytes > MIB * (double)ranks) {
            yk_text_addf(&line, ":%.0fMiB", machine.memory_bytes / MIB / (double)ranks - 0.5);
        }
    }
    yk_status status = yk_text_status(&line);
    if (status == YK_OK) {
        status = yk_cluster_parse(yk_text_chars(&line), out);
    }
    yk_text_free(&line);
    return status;
}

/* A device of a cluster that is given must say itself which part it is. */
static yk_status check_slowness(const struct yk_profiling *profiling)
{
    for (int32_t i = 0; i < profiling->cluster->device_count; i++) {
        const double part = 1 / profiling->slowness[i];
        if (fabs(profiling->cluster->devices[i].part - part) > 0.005 * part) {
            return yk_fail(YK_ERROR_USAGE,
                           "rank %d computes at %.4g%% of its speed, but --cluster has %.4g%% of a "
                           "device there; write cpu:%d:%.4g%%, and --slow %d:%.4g",
                           (int)i, 100 * part, 100 * profiling->cluster->devices[i].part,
                           (int)profiling->cluster->devices[i].cores, 100 * part, (int)i,
                           profiling->slowness[i]);
        }
    }
    return YK_OK;
}

static yk_status name_cluster(struct yk_profiling *profiling, int64_t ranks)
{
    const struct yk_profile_words *words = &profiling->words;
    const char *line = NULL;
    if (ranks == 1 || (words->slow && profiling->team.launcher.local_size == ranks)) {
        return share_machine(profiling->slowness, ranks, &profiling->cluster);
    }
    if (words->slow) {
        return yk_fail(YK_ERROR_USAGE, "ranks on several machines of which some are slow: say by "
                                       "--cluster which part of a device each is");
    }
    YK_TRY(yk_train_team_describe(&profiling->team, 0, profiling->arena, &line));
    return yk_cluster_parse(line, &profiling->cluster);
}

/* The cluster of --cluster, for so many ranks. */
static yk_status read_cluster(struct yk_profiling *profiling, int32_t ranks)
{
    const struct yk_profile_words *words = &profiling->words;
    YK_TRY(yk_cluster_open(words->cluster, &profiling->cluster));
    if (profiling->cluster->device_count != ranks) {
        return yk_fail(YK_ERROR_USAGE, "--cluster has %d device%s for %d rank%s; see --ranks",
                       (int)profiling->cluster->device_count,
                       profiling->cluster->device_count == 1 ? "" : "s", (int)ranks,
                       ranks == 1 ? "" : "s");
    }
    for (int32_t i = 0; i < ranks; i++) {
        if (!profiling->cluster->devices[i].is_cpu) {
            return yk_fail(YK_ERROR_INPUT, "%s: %s is no CPU; CPUs alone are measured so far",
                           words->cluster, profiling->cluster->devices[i].name);
        }
    }
    return check_slowness(profiling);
}

yk_status yk_profiling_find_path(const struct yk_profile_words *words, struct yk_arena *arena,
                                 const char **out)
{
    *out = words->profile;
    if (!*out) {
        YK_TRY(yk_profile_path_usual(arena, out));
    }
    return *out ? YK_OK
                : yk_fail(YK_ERROR_USAGE, "there is no home to keep the profile in; name a file by "
                                          "--profile");
}

/* What is there already must be a profile. */
static yk_status find_path(struct yk_profiling *profiling)
{
    struct yk_profile *profile = NULL;
    YK_TRY(yk_profiling_find_path(&profiling->words, profiling->arena, &profiling->path));
    if (access(profiling->path, F_OK) == 0) {
        YK_TRY(yk_profile_open(profiling->path, &profile));
        yk_profile_close(profile);
    }
    return YK_OK;
}

static yk_status describe(struct yk_profiling *profiling)
{
    const struct yk_engine *engine = &profiling->engine;
    struct yk_text versions = {0};
    engine->backend->describe(engine->device, &versions);
    if (profiling->all.ranks->size > 1) {
        yk_text_add(&versions, ", ");
        profiling->all.ranks->comm->describe(profiling->all.ranks->world, &versions);
    }
    yk_status status = yk_text_status(&versions);
    if (status == YK_OK) {
        profiling->versions =
            yk_arena_copy_text(profiling->arena, yk_text_chars(&versions), versions.length);
        status = profiling->versions ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(&versions);
    return status;
}

/* Its threads stay on cores of their own, as they do in training. */
static yk_status open_engine(struct yk_profiling *profiling)
{
    const struct yk_train_team *team = &profiling->team;
    const bool pinned = !yk_train_team_is_alone(team) && !team->cores.shared;
    const struct yk_backend_options options = {
        .threads = profiling->cluster->devices[yk_train_team_rank(team)].cores,
        .cores = pinned ? team->cores.compute : NULL,
        .core_count = pinned ? team->cores.compute_count : 0,
        .comm_core = team->cores.message,
    };
    return yk_engine_open(&(struct yk_device_choice){0}, &options, &profiling->engine);
}

/* A rank alone exchanges with itself. */
static yk_status open_ranks(struct yk_profiling *profiling)
{
    const struct yk_engine *engine = &profiling->engine;
    profiling->all = (struct yk_measure_ranks){.ranks = &profiling->team.ranks, .engine = *engine};
    if (!yk_train_team_is_alone(&profiling->team)) {
        return YK_OK;
    }
    YK_TRY(engine->backend->lane_create(engine->device, "comm", &profiling->lane));
    const struct yk_comm_options options = {
        .backend = engine->backend, .device = engine->device, .lane = profiling->lane};
    YK_TRY(yk_ranks_open(&yk_comm_self, &options, &profiling->alone));
    profiling->all.ranks = &profiling->alone;
    return YK_OK;
}

static yk_status open_devices(struct yk_profiling *profiling)
{
    if (!profiling->cluster) {
        YK_TRY(name_cluster(profiling, yk_profiling_ranks(profiling)));
    }
    YK_TRY(open_engine(profiling));
    YK_TRY(open_ranks(profiling));
    return describe(profiling);
}

/* Of memory that is the host's, what this process has taken at most. */
static double held_bytes(const struct yk_engine *engine)
{
    return engine->backend->used ? (double)engine->backend->used(engine->device)
                                 : yk_process_memory().peak_bytes;
}

static bool is_stopped(void *user)
{
    return atomic_load((const atomic_bool *)user);
}

/* The largest message that a plan for the model could send. */
static yk_status most_bytes(const struct yk_profiling *profiling, int64_t *out)
{
    const struct yk_model *model = NULL;
    int64_t most = 0;
    YK_TRY(yk_model_describe(profiling->config, &profiling->workload, profiling->arena, &model));
    for (int32_t i = 0; i < model->layer_count; i++) {
        const int64_t bytes = model->layers[i].parameters * 4;
        most = bytes > most ? bytes : most;
    }
    for (int32_t i = 0; i < model->edge_count; i++) {
        most = model->edges[i].bytes > most ? model->edges[i].bytes : most;
    }
    *out = most < 64 * (int64_t)MIB ? most : 64 * (int64_t)MIB;
    return YK_OK;
}

static yk_status measure(struct yk_profiling *profiling)
{
    const atomic_bool *stop = yk_interrupt_watch_termination();
    const struct yk_survey_wish wish = {
        .config = profiling->config,
        .workload = profiling->workload,
        .cluster = profiling->cluster,
        .slowness = profiling->slowness[profiling->all.ranks->rank],
        .seconds = profiling->words.seconds,
        .held_bytes = held_bytes,
        .again = profiling->words.again,
        .versions = profiling->versions,
        .watch = {.user = (void *)(uintptr_t)stop,
                  .progress = yk_terminal_progress,
                  .stop = is_stopped},
    };
    YK_TRY(yk_survey_layers(&profiling->survey, &profiling->all, &wish));
    if (profiling->all.ranks->size > 1 && !profiling->survey.stopped) {
        int64_t most = 0;
        YK_TRY(most_bytes(profiling, &most));
        YK_TRY(yk_survey_links(&profiling->survey, &profiling->all, &wish, most));
    }
    return YK_OK;
}

static yk_status make_folder(const char *path)
{
    const char *end = strrchr(path, '/');
    struct yk_text folder = {0};
    if (!end || end == path) {
        return YK_OK;
    }
    yk_text_add_bytes(&folder, path, (size_t)(end - path));
    yk_status status = yk_text_status(&folder);
    if (status == YK_OK) {
        status = yk_folder_make(yk_text_chars(&folder));
    }
    yk_text_free(&folder);
    return status;
}

/* The first rank keeps what is measured. */
static yk_status open_profile(struct yk_profiling *profiling)
{
    YK_TRY(yk_survey_begin(&profiling->survey));
    if (yk_train_team_rank(&profiling->team) != 0) {
        return YK_OK;
    }
    if (!profiling->words.profile) {
        YK_TRY(make_folder(profiling->path));
    }
    return yk_profile_create(profiling->path, &profiling->survey.profile);
}

yk_status yk_profiling_open(struct yk_profiling *profiling, int32_t ranks)
{
    YK_TRY(yk_arena_create(&profiling->arena));
    YK_TRY(read_workload(profiling));
    YK_TRY(find_path(profiling));
    YK_TRY(yk_slow_read(profiling->words.slow, ranks, profiling->arena, &profiling->slowness));
    return profiling->words.cluster ? read_cluster(profiling, ranks) : YK_OK;
}

yk_status yk_profiling_run(struct yk_profiling *profiling, const struct yk_launcher *launcher)
{
    YK_TRY(yk_train_team_open(launcher, 0, profiling->arena, &profiling->team));
    YK_TRY(yk_train_team_agree(&profiling->team, open_devices(profiling)));
    YK_TRY(yk_train_team_agree(&profiling->team, open_profile(profiling)));
    yk_terminal_progress_begin();
    yk_status status = measure(profiling);
    yk_terminal_progress_end();
    if (status != YK_OK) {
        yk_train_team_give_up(&profiling->team, status);
        return status;
    }
    return yk_train_team_agree(&profiling->team, YK_OK);
}

void yk_profiling_close(struct yk_profiling *profiling)
{
    const struct yk_engine *engine = &profiling->engine;
    yk_profile_close(profiling->survey.profile);
    yk_survey_free(&profiling->survey);
    yk_ranks_close(&profiling->alone);
    if (engine->backend) {
        engine->backend->lane_destroy(profiling->lane);
    }
    yk_engine_close(&profiling->engine);
    yk_train_team_close(&profiling->team);
    yk_cluster_destroy(profiling->cluster);
    yk_arena_destroy(profiling->arena);
}
