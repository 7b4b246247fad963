#include "job/profiling/profiling.h"

#include "cluster/topology.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    MIB = 1024 * 1024,
    MAX_GPUS = 64,
};

/* A part that is written down may be one that the GPU cannot be cut into. */
static const double nearly_the_part = 0.01;

/* ---- which ---- */

static bool measures_all_devices(const struct yk_profile_job_request *request)
{
    return !request->device || strcmp(request->device, "all") == 0;
}

/* Every GPU, then the CPU. */
static yk_status list_all(struct yk_device_choice *choices, int32_t *count)
{
    struct yk_device_choice best;
    YK_TRY(yk_device_resolve_option("auto", &best));
    *count = 0;
    if (best.gpu) {
        YK_TRY(yk_device_count_gpus(count));
        *count = *count < MAX_GPUS ? *count : MAX_GPUS;
    }
    for (int32_t i = 0; i < *count; i++) {
        choices[i] = (struct yk_device_choice){.gpu = true, .number = i};
    }
    choices[(*count)++] = (struct yk_device_choice){0};
    return YK_OK;
}

const char *yk_profiling_device_option(const struct yk_profiling_state *profiling)
{
    const struct yk_profile_job_request *request = profiling->request;
    if (request->cluster && profiling->cluster) {
        const bool gpu = !profiling->cluster->devices[0].is_cpu;
        return !gpu ? "cpu" : measures_all_devices(request) ? "cuda" : request->device;
    }
    return measures_all_devices(request) ? "auto" : request->device;
}

/* Ranks measure the same kind of device, all at once, each its own. */
static yk_status list_choices(const struct yk_profiling_state *profiling, int32_t ranks,
                              struct yk_device_choice *choices, int32_t *count)
{
    const struct yk_profile_job_request *request = profiling->request;
    const struct yk_train_team *team = &profiling->team;
    *count = 1;
    if (!measures_all_devices(request) && strcmp(request->device, "cpu") != 0 &&
        strncmp(request->device, "cuda", 4) != 0) {
        return yk_fail(YK_ERROR_USAGE, "--device %s: cpu, cuda, cuda:1 and the like, or all",
                       request->device);
    }
    if (measures_all_devices(request) && ranks == 1 && !request->cluster) {
        return list_all(choices, count);
    }
    return yk_train_team_is_single_rank(team)
               ? yk_device_resolve_option(yk_profiling_device_option(profiling), &choices[0])
               : yk_train_team_choose_device(team, yk_profiling_device_option(profiling),
                                             &choices[0]);
}

/* Each of the few precisions once, for which there is room. */
static yk_status add_target(struct yk_profiling_state *profiling, struct yk_device_choice choice,
                            const char *word, size_t length)
{
    struct yk_profiling_target target = {.choice = choice};
    char name[16] = "";
    if (length < sizeof name) {
        memcpy(name, word, length);
    }
    if (!yk_precision_find(name, &target.precision)) {
        return yk_fail(YK_ERROR_USAGE, "--precision: there is no \"%.*s\"; fp32, tf32, fp16, bf16",
                       (int)length, word);
    }
    for (int32_t i = 0; i < profiling->target_count; i++) {
        const struct yk_profiling_target *other = &profiling->targets[i];
        if (other->precision == target.precision && other->choice.gpu == choice.gpu &&
            other->choice.number == choice.number) {
            return yk_fail(YK_ERROR_USAGE, "--precision: %s is there twice", name);
        }
    }
    profiling->targets[profiling->target_count++] = target;
    return YK_OK;
}

yk_status yk_profiling_find_targets(struct yk_profiling_state *profiling, int32_t ranks)
{
    const char *words = profiling->request->workload.precision;
    struct yk_device_choice choices[MAX_GPUS + 1];
    int32_t count = 0;
    profiling->target_count = 0;
    YK_TRY(list_choices(profiling, ranks, choices, &count));
    YK_TRY_NEW(profiling->arena, profiling->targets, (int64_t)count * YK_PRECISION_COUNT);
    for (int32_t i = 0; i < count; i++) {
        const char *word = words ? words : choices[i].gpu ? "bf16" : "fp32";
        for (bool more = true; more;) {
            const size_t length = strcspn(word, ",");
            YK_TRY(add_target(profiling, choices[i], word, length));
            more = word[length] == ',';
            word += length + 1;
        }
    }
    return YK_OK;
}

/* ---- as a cluster ---- */

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
    YK_IF_OK(yk_cluster_parse_line(yk_text_chars(&line), out));
    yk_text_free(&line);
    return status;
}

/* Fails if the parts of CPUs in --cluster do not match --slow. */
static yk_status check_slowness(const struct yk_profiling_state *profiling)
{
    for (int32_t i = 0; i < profiling->cluster->device_count; i++) {
        const double part = 1 / profiling->slowness[i];
        if (profiling->cluster->devices[i].is_cpu &&
            fabs(profiling->cluster->devices[i].fraction - part) > 0.005 * part) {
            return yk_fail(YK_ERROR_USAGE,
                           "rank %d computes at %.4g%% of its speed, but --cluster has %.4g%% of a "
                           "device there; write cpu:%d:%.4g%%, and --slow %d:%.4g",
                           (int)i, 100 * part, 100 * profiling->cluster->devices[i].fraction,
                           (int)profiling->cluster->devices[i].cores, 100 * part, (int)i,
                           profiling->slowness[i]);
        }
    }
    return YK_OK;
}

static yk_status name_gpu(struct yk_profiling_state *profiling, int32_t number)
{
    const char *line = NULL;
    YK_TRY(yk_device_gpu_as_cluster_option(number, profiling->arena, &line));
    return yk_cluster_parse_line(line, &profiling->cluster);
}

yk_status yk_profiling_open_cluster(struct yk_profiling_state *profiling, int32_t ranks)
{
    const struct yk_profile_job_request *request = profiling->request;
    YK_TRY(yk_cluster_read_or_parse(request->cluster, &profiling->cluster));
    if (profiling->cluster->device_count != ranks) {
        return yk_fail(YK_ERROR_USAGE, "--cluster has %d device%s for %d rank%s; see --ranks",
                       (int)profiling->cluster->device_count,
                       yk_text_plural_suffix(profiling->cluster->device_count), (int)ranks,
                       yk_text_plural_suffix(ranks));
    }
    for (int32_t i = 1; i < ranks; i++) {
        if (profiling->cluster->devices[i].is_cpu != profiling->cluster->devices[0].is_cpu) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: ranks measure CPUs or GPUs, not both at once; measure each kind by "
                           "itself",
                           request->cluster);
        }
    }
    return check_slowness(profiling);
}

/* A GPU that --cluster calls by another name than its own, or another part of one, would be known
 * by the wrong one. */
static yk_status check_gpu(struct yk_profiling_state *profiling, int32_t number)
{
    const struct yk_device *named =
        &profiling->cluster->devices[yk_train_team_rank(&profiling->team)];
    struct yk_cluster *here = NULL;
    const char *line = NULL;
    YK_TRY(yk_device_gpu_as_cluster_option(number, profiling->arena, &line));
    YK_TRY(yk_cluster_parse_line(line, &here));
    const struct yk_device *found = &here->devices[0];
    const bool same = named->type && strcmp(named->type, found->type) == 0 &&
                      fabs(named->fraction - found->fraction) <= nearly_the_part;
    yk_cluster_destroy(here);
    return same ? YK_OK
                : yk_fail(YK_ERROR_INPUT, "--cluster has %.3g%% of %s, but the GPU here is %s",
                          100 * named->fraction, named->type ? named->type : named->name, line);
}

/* Builds or checks the cluster without asking the other ranks. */
static yk_status build_local_cluster(struct yk_profiling_state *profiling, int64_t ranks)
{
    const struct yk_profile_job_request *request = profiling->request;
    const struct yk_device_choice *choice = &profiling->targets[profiling->target].choice;
    if (request->cluster) {
        return choice->gpu ? check_gpu(profiling, choice->number) : YK_OK;
    }
    if (choice->gpu && request->slow) {
        return yk_fail(YK_ERROR_USAGE,
                       "--slow is for CPUs; tools/lab gives ranks unequal parts of a GPU");
    }
    if (choice->gpu) {
        return name_gpu(profiling, choice->number);
    }
    if (ranks == 1 || profiling->team.launcher.local_size == ranks) {
        return share_machine(profiling->slowness, ranks, &profiling->cluster);
    }
    return yk_fail(YK_ERROR_USAGE, "ranks on several machines of which some are slow: say by "
                                   "--cluster which part of a device each is");
}

yk_status yk_profiling_make_target_cluster(struct yk_profiling_state *profiling)
{
    const struct yk_profile_job_request *request = profiling->request;
    const struct yk_train_team *team = &profiling->team;
    const int64_t ranks = yk_train_team_is_single_rank(team) ? 1 : team->ranks.size;
    const char *line = NULL;
    if (!request->cluster) {
        yk_cluster_destroy(profiling->cluster);
        profiling->cluster = NULL;
    }
    if (request->cluster || request->slow || ranks == 1) {
        return yk_train_team_combine_status(team, build_local_cluster(profiling, ranks));
    }
    YK_TRY(yk_train_team_describe_as_cluster_option(
        team, &profiling->targets[profiling->target].choice, 0, profiling->arena, &line));
    return yk_train_team_combine_status(team, yk_cluster_parse_line(line, &profiling->cluster));
}
