#include "job/training/team.h"

#include "cluster/topology.h"
#include "comm/host_collective.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HOST_SIZE = 256,
    DEVICE_SIZE = 128,
};

#define MIB (1024.0 * 1024.0)

/* Opens a comm lane on the core that is reserved for communication. */
static yk_status open_lane(struct yk_train_team *team)
{
    const bool pinned = !team->cores.shared;
    const struct yk_backend_device_options options = {
        .threads = 1,
        .cores = pinned ? team->cores.compute : NULL,
        .core_count = pinned ? team->cores.compute_count : 0,
        .comm_core = team->cores.comm_core,
    };
    YK_TRY(yk_backend_cpu.open(&options, &team->device));
    return yk_backend_cpu.lane_create(team->device, "comm", &team->lane);
}

static yk_status choose_cores(struct yk_train_team *team, int64_t threads, struct yk_arena *arena)
{
    struct yk_allowed_cores allowed;
    int32_t *wanted = NULL;
    YK_TRY(yk_cores_find_allowed(arena, &allowed));
    if (threads > 0) {
        YK_TRY_NEW(arena, wanted, team->launcher.local_size);
        for (int32_t i = 0; i < team->launcher.local_size; i++) {
            wanted[i] = (int32_t)threads;
        }
    }
    return yk_cores_assign(&(struct yk_cores_request){team->launcher, wanted}, &allowed, arena,
                           &team->cores);
}

static yk_status join_by_mpi(struct yk_train_team *team)
{
    static const char missing[] =
        "yoke-mpi.so, by which ranks exchange numbers, is not here: build yoke where Open MPI is "
        "installed (libopenmpi-dev)";
    const struct yk_comm_backend *comm = NULL;
    YK_TRY(yk_train_transport_load_plugin("yoke-mpi.so", missing, &comm));
    YK_TRY(open_lane(team));
    const struct yk_comm_options options = {
        .backend = &yk_backend_cpu, .device = team->device, .lane = team->lane};
    return yk_communicator_open(comm, &options, &team->ranks);
}

/* ---- the device of each rank ---- */

/* Chooses a device without asking the other ranks. */
static yk_status choose_alone(const struct yk_launcher *launcher, const char *word,
                              struct yk_device_choice *out)
{
    int32_t gpus = 0;
    YK_TRY(yk_device_resolve_option(word, out));
    if (!out->gpu || (word && strchr(word, ':'))) {
        return YK_OK;
    }
    YK_TRY(yk_device_count_gpus(&gpus));
    out->number = gpus > 0 ? launcher->local_rank % gpus : 0;
    /* A rank with its own NCCL_HOSTID does not share the GPUs that it sees. */
    const bool own = getenv("NCCL_HOSTID") || launcher->local_size <= gpus;
    if (out->automatic && !own) {
        *out = (struct yk_device_choice){0};
    }
    return YK_OK;
}

yk_status yk_train_team_choose_device(const struct yk_train_team *team, const char *word,
                                      struct yk_device_choice *out)
{
    if (yk_train_team_is_single_rank(team)) {
        return yk_device_resolve_option(word, out);
    }
    YK_TRY(yk_train_team_combine_status(team, choose_alone(&team->launcher, word, out)));
    double cpu_ranks = out->gpu ? 0 : 1;
    YK_TRY(yk_host_collective_all_reduce_sum(&team->ranks, &cpu_ranks, 1));
    if (cpu_ranks > 0 && cpu_ranks < team->ranks.size && out->automatic) {
        *out = (struct yk_device_choice){0};
    }
    return YK_OK;
}

static yk_status join_by_nccl(struct yk_train_team *team, const char *word)
{
    struct yk_device_choice choice;
    YK_TRY(choose_alone(&team->launcher, word, &choice));
    YK_TRY(yk_train_transport_open_by_rendezvous(&team->launcher, &choice, &team->gpu_transport));
    team->ranks = team->gpu_transport.ranks;
    return YK_OK;
}

yk_status yk_train_team_open(const struct yk_launcher *launcher,
                             const struct yk_train_team_request *request, struct yk_arena *arena,
                             struct yk_train_team *out)
{
    out->job = request->job;
    out->launcher = *launcher;
    if (launcher->size <= 1) {
        return YK_OK;
    }
    (void)pthread_mutex_init(&out->lock, NULL);
    YK_TRY(choose_cores(out, request->threads, arena));
    return launcher->uses_rendezvous ? join_by_nccl(out, request->device) : join_by_mpi(out);
}

struct yk_backend_device_options yk_train_team_backend_options(const struct yk_train_team *team,
                                                               const char *wire)
{
    const bool alone = yk_train_team_is_single_rank(team);
    const bool pinned = !alone && !team->cores.shared;
    /* MPI communicates through host memory and occupies no multiprocessors. */
    const bool by_host = wire && strcmp(wire, "mpi") == 0;
    return (struct yk_backend_device_options){
        .cores = pinned ? team->cores.compute : NULL,
        .core_count = pinned ? team->cores.compute_count : 0,
        .comm_core = team->cores.comm_core,
        .comm_sm_count = alone || by_host ? 0 : YK_COMM_MAX_NCCL_CTAS,
    };
}

/* Fails if the transport of --wire is not available to these ranks. */
static yk_status check_wire(const struct yk_train_team *team, const struct yk_device_choice *choice,
                            const char *word)
{
    if (!choice->gpu && strcmp(word, "nccl") == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "--wire nccl: NCCL connects GPUs, and these ranks compute on "
                       "CPUs, which exchange by MPI; leave --wire out");
    }
    if (team->launcher.uses_rendezvous && strcmp(word, "mpi") == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "--wire mpi: these ranks were started without MPI and exchange by NCCL; "
                       "start them with mpirun or srun --mpi=pmix, or leave --wire out");
    }
    return YK_OK;
}

yk_status yk_train_team_connect_gpus(struct yk_train_team *team,
                                     const struct yk_device_choice *choice, const char *word)
{
    if (!yk_train_team_is_single_rank(team)) {
        YK_TRY(yk_train_team_combine_status(team, check_wire(team, choice, word)));
    }
    const bool needed =
        choice->gpu && !yk_train_team_is_single_rank(team) && team->gpu_transport.ranks.size == 0;
    return needed ? yk_train_team_report_failure(
                        team, yk_train_transport_open_over_mpi(&team->ranks, choice, word,
                                                               &team->gpu_transport))
                  : YK_OK;
}

void yk_train_team_close(struct yk_train_team *team)
{
    const bool by_mpi = team->ranks.world != team->gpu_transport.ranks.world;
    yk_watchdog_close(team->watchdog);
    yk_train_transport_close(&team->gpu_transport);
    if (by_mpi) {
        yk_communicator_close(&team->ranks);
    }
    yk_backend_cpu.lane_destroy(team->lane);
    yk_backend_cpu.close(team->device);
    *team = (struct yk_train_team){0};
}

/* Reports before any rank exits, because a launcher kills the other ranks when one exits. */
yk_status yk_train_team_report_failure(const struct yk_train_team *team, yk_status agreed)
{
    static const char first[] = "rank 0: ";
    if (yk_train_team_is_single_rank(team) || agreed == YK_OK || agreed == YK_ERROR_STOPPED) {
        return agreed;
    }
    if (team->ranks.rank == 0) {
        const char *sentence = yk_status_message();
        sentence += strncmp(sentence, first, sizeof first - 1) == 0 ? sizeof first - 1 : 0;
        yk_job_report_end(team->job);
        if (*sentence != '\0') { /* an empty message has already been reported */
            yk_job_report_failure(team->job, sentence);
        }
    }
    return yk_fail(agreed, "%s", "");
}

yk_status yk_train_team_combine_status(const struct yk_train_team *team, yk_status mine)
{
    return yk_train_team_is_single_rank(team)
               ? mine
               : yk_train_team_report_failure(
                     team, yk_host_collective_agree_on_status(&team->ranks, mine));
}

yk_status yk_train_team_broadcast_numbers(const struct yk_train_team *team, double *numbers,
                                          int64_t count)
{
    if (yk_train_team_is_single_rank(team)) {
        return YK_OK;
    }
    for (int64_t i = 0; i < count && team->ranks.rank > 0; i++) {
        numbers[i] = 0;
    }
    return yk_host_collective_all_reduce_sum(&team->ranks, numbers, count);
}

/* ---- description of devices ---- */

/* "cpu:2:4000MiB": the cores of this rank and its share of the memory. */
static yk_status describe_cores(const struct yk_train_team *team, int64_t threads,
                                struct yk_text *out)
{
    struct yk_topology machine;
    YK_TRY(yk_topology_find(&machine));
    const int64_t cores = threads > 0 ? threads : team->cores.compute_count;
    const double memory_mib = machine.memory_bytes / MIB / team->launcher.local_size - 0.5;
    yk_text_addf(out, "cpu:%" PRId64, cores > 0 ? cores : 1);
    if (memory_mib >= 1) {
        yk_text_addf(out, ":%.0fMiB", memory_mib);
    }
    return yk_text_status(out);
}

/* The device of this rank and the name of its host. */
static yk_status describe_own(const struct yk_train_team *team,
                              const struct yk_device_choice *choice, int64_t threads,
                              struct yk_arena *arena, struct yk_text *out)
{
    char host[HOST_SIZE];
    if (choice->gpu) {
        const char *line = NULL;
        YK_TRY(yk_device_gpu_as_cluster_option(choice->number, arena, &line));
        yk_text_add(out, line);
    } else {
        YK_TRY(describe_cores(team, threads, out));
    }
    yk_text_addf(out, " %s", yk_train_transport_host_id(host, sizeof host));
    return yk_text_status(out);
}

struct member {
    char device[DEVICE_SIZE];
    char host[HOST_SIZE];
};

static yk_status read_members(const struct yk_host_collective_gathered_bytes *gathered,
                              int32_t count, struct yk_arena *arena, struct member **out)
{
    YK_TRY_NEW(arena, *out, count);
    for (int32_t i = 0; i < count; i++) {
        /* NOLINTNEXTLINE(cert-err34-c): written by describe_own() */
        (void)sscanf(gathered[i].bytes, "%127s %255s", (*out)[i].device, (*out)[i].host);
    }
    return YK_OK;
}

/* "1x(1xcpu:2:4000MiB + 1xcpu:2:4000MiB) + 1x(1xcpu:8:9000MiB)"; on one machine without
 * parentheses. */
static void write_line(const struct member *members, int32_t count, struct yk_text *out)
{
    int32_t hosts = 1;
    for (int32_t i = 1; i < count; i++) {
        hosts += strcmp(members[i].host, members[i - 1].host) != 0;
    }
    for (int32_t i = 0; i < count; i++) {
        const bool begins = i == 0 || strcmp(members[i].host, members[i - 1].host) != 0;
        const bool ends = i + 1 == count || strcmp(members[i].host, members[i + 1].host) != 0;
        yk_text_add(out, i > 0 ? " + " : "");
        yk_text_add(out, hosts > 1 && begins ? "1x(" : "");
        yk_text_addf(out, "1x%s", members[i].device);
        yk_text_add(out, hosts > 1 && ends ? ")" : "");
    }
}

static yk_status join_line(const struct yk_host_collective_gathered_bytes *gathered, int32_t count,
                           struct yk_arena *arena, struct yk_text *out)
{
    struct member *members = NULL;
    YK_TRY(read_members(gathered, count, arena, &members));
    write_line(members, count, out);
    return yk_text_status(out);
}

yk_status yk_train_team_describe_as_cluster_option(const struct yk_train_team *team,
                                                   const struct yk_device_choice *choice,
                                                   int64_t threads, struct yk_arena *arena,
                                                   const char **out)
{
    struct yk_text text = {0};
    struct yk_host_collective_gathered_bytes *gathered = NULL;
    yk_status status =
        yk_train_team_combine_status(team, describe_own(team, choice, threads, arena, &text));
    YK_IF_OK(yk_host_collective_gather_on_rank0(&team->ranks, yk_text_chars(&text), text.length,
                                                arena, &gathered));
    text.length = 0;
    YK_IF_OK(yk_train_team_combine_status(
        team, gathered ? join_line(gathered, team->ranks.size, arena, &text) : YK_OK));
    YK_IF_OK(yk_host_collective_broadcast_text(&team->ranks, 0, &text));
    YK_IF_OK(yk_text_move_to_arena(&text, arena, out));
    yk_text_free(&text);
    return status;
}

yk_status yk_train_team_report_cores_or_transport(const struct yk_train_team *team,
                                                  struct yk_arena *arena)
{
    struct yk_text text = {0};
    struct yk_host_collective_gathered_bytes *gathered = NULL;
    if (yk_train_team_is_single_rank(team)) {
        return YK_OK;
    }
    if (team->gpu_transport.ranks.size > 0) {
        yk_text_add(&text, team->ranks.rank == 0 ? "between GPUs: " : "");
        if (team->ranks.rank == 0) {
            team->gpu_transport.ranks.comm->describe(team->gpu_transport.ranks.world, &text);
        }
    } else {
        yk_cores_describe(&team->cores, team->ranks.rank, &text);
    }
    yk_status status = yk_host_collective_gather_on_rank0(&team->ranks, yk_text_chars(&text),
                                                          text.length, arena, &gathered);
    for (int32_t i = 0; status == YK_OK && gathered && i < team->ranks.size; i++) {
        if (gathered[i].size > 0) {
            yk_job_report_status_line(team->job, gathered[i].bytes, true);
        }
    }
    yk_text_free(&text);
    return status;
}
