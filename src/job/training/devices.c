#include "job/training/devices.h"

#include "cluster/topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_SIZE = 64,
};

#define MIB (1024.0 * 1024.0)

int32_t yk_train_devices_ranks(const struct yk_train_request *request,
                               const struct yk_train_team *team)
{
    return !yk_train_team_is_alone(team)            ? team->ranks.size
           : request->dry_run && request->ranks > 1 ? (int32_t)request->ranks
                                                    : 1;
}

/* ---- where ranks compute ---- */

/* Where ranks that will be compute, unless they are told: on GPUs where each can have its own. */
static yk_status foresee(int32_t ranks, struct yk_device_choice *device)
{
    int32_t gpus = 0;
    YK_TRY(yk_device_count_gpus(&gpus));
    if (ranks > 1 && gpus < ranks) {
        *device = (struct yk_device_choice){0};
    }
    return YK_OK;
}

yk_status yk_train_devices_choose(const struct yk_train_request *request,
                                  const struct yk_train_team *team, struct yk_device_choice *out)
{
    YK_TRY(yk_train_team_choose_device(team, request->device, out));
    return yk_train_team_is_alone(team) && out->automatic
               ? foresee(yk_train_devices_ranks(request, team), out)
               : YK_OK;
}

/* ---- what they are called in a plan ---- */

/* This machine's cores and memory, divided among so many ranks, as a line that a plan's file can
 * keep. */
static yk_status describe_machine(int64_t threads, int32_t ranks, struct yk_arena *arena,
                                  const char **out)
{
    struct yk_topology machine;
    char line[LINE_SIZE];
    YK_TRY(yk_topology_find(&machine));
    int64_t cores = machine.core_count > 0 ? machine.core_count : machine.thread_count;
    cores = threads > 0 ? threads : cores >= ranks ? cores / ranks : 1;
    int length = ranks > 1 ? snprintf(line, sizeof line, "%dxcpu:%" PRId64, (int)ranks, cores)
                           : snprintf(line, sizeof line, "cpu:%" PRId64, cores);
    if (machine.memory_bytes > MIB) {
        length += snprintf(line + length, sizeof line - (size_t)length, ":%.0fMiB",
                           machine.memory_bytes / MIB / ranks - 0.5);
    }
    *out = yk_arena_copy_text(arena, line, (size_t)length);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

/* GPUs of this machine for ranks that will be: "1xh200:143771MiB + 1xh200:143771MiB". Ranks may
 * share one. */
static yk_status describe_gpus(int32_t ranks, int32_t first, struct yk_arena *arena,
                               const char **out)
{
    struct yk_text text = {0};
    int32_t gpus = 0;
    yk_status status = yk_device_count_gpus(&gpus);
    for (int32_t i = 0; i < ranks && status == YK_OK; i++) {
        const char *line = NULL;
        status = yk_device_describe_gpu(gpus > 0 ? (first + i) % gpus : first, arena, &line);
        if (status == YK_OK) {
            yk_text_addf(&text, "%s1x%s", i > 0 ? " + " : "", line);
        }
    }
    if (status == YK_OK) {
        status = yk_text_status(&text);
    }
    if (status == YK_OK) {
        *out = yk_arena_copy_text(arena, yk_text_chars(&text), text.length);
        status = *out ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(&text);
    return status;
}

yk_status yk_train_devices_describe(const struct yk_train_request *request,
                                    const struct yk_train_team *team,
                                    const struct yk_device_choice *device, struct yk_arena *arena,
                                    const char **out)
{
    if (request->cluster) {
        *out = request->cluster;
        return YK_OK;
    }
    if (!yk_train_team_is_alone(team)) {
        return yk_train_team_describe(team, device, request->threads, arena, out);
    }
    const int32_t ranks = yk_train_devices_ranks(request, team);
    if (!device->gpu) {
        return describe_machine(request->threads, ranks, arena, out);
    }
    return ranks > 1 ? describe_gpus(ranks, device->number, arena, out)
                     : yk_device_describe_gpu(device->number, arena, out);
}

/* ---- whether a cluster serves ---- */

static yk_status refuse_devices(const struct yk_train_request *request, const char *source,
                                bool from_plan, const char *reason)
{
    return from_plan ? yk_fail(YK_ERROR_INPUT,
                               "%s: the plan is for %s, but %s; make another plan, or leave --plan "
                               "out",
                               request->plan, source, reason)
                     : yk_fail(YK_ERROR_INPUT, "%s: %s; name others, or leave --cluster out",
                               source, reason);
}

yk_status yk_train_devices_check(const struct yk_train_request *request, const char *source,
                                 bool from_plan, int32_t ranks, const struct yk_cluster *cluster,
                                 struct yk_device_choice *device)
{
    int32_t cpus = 0;
    for (int32_t i = 0; i < cluster->device_count; i++) {
        cpus += cluster->devices[i].is_cpu ? 1 : 0;
    }
    const bool gpu = cpus < cluster->device_count;
    if (gpu && cpus > 0) {
        return refuse_devices(request, source, from_plan,
                              "training runs on CPUs or on GPUs, not on both at once");
    }
    if (gpu && !device->gpu && !request->dry_run) {
        return refuse_devices(request, source, from_plan,
                              "no GPU is used here (yoke doctor says what is missing)");
    }
    if (!gpu && device->gpu && request->device && strncmp(request->device, "cuda", 4) == 0) {
        return refuse_devices(request, source, from_plan, "--device asks for a GPU");
    }
    device->gpu = gpu;
    if (!request->plan && cluster->device_count != ranks) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %d device%s for %d rank%s; start one for each by --ranks %d, or by "
                       "mpirun or srun",
                       source, (int)cluster->device_count, cluster->device_count == 1 ? "" : "s",
                       (int)ranks, ranks == 1 ? "" : "s", (int)cluster->device_count);
    }
    return YK_OK;
}
