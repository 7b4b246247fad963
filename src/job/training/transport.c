#include "job/training/transport.h"

#include "base/log.h"
#include "cluster/discover.h"
#include "cluster/visible_devices.h"
#include "comm/host_collective.h"
#include "comm/rendezvous/rendezvous.h"
#include "job/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NAME_SIZE = 320,
    HOST_SIZE = 256,
};

bool yk_train_transport_choice_at(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"auto", "NCCL where that can be, else through the memory of the host"},
        {"nccl", "NCCL"},
        {"mpi", "MPI, through the memory of the host"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static const char no_nccl[] =
    "yoke-nccl.so, by which GPUs exchange numbers, is not here: build yoke where NCCL is installed "
    "(libnccl-dev)";

yk_status yk_train_transport_load_plugin(const char *file, const char *missing,
                                         const struct yk_comm_backend **out)
{
    char path[YK_PLUGIN_PATH_SIZE];
    return yk_plugin_find_file(file, path) ? yk_comm_load_plugin(path, out)
                                           : yk_fail(YK_ERROR_SYSTEM, "%s", missing);
}

const char *yk_train_transport_host_id(char *buffer, size_t size)
{
    const char *claimed = getenv("NCCL_HOSTID");
    buffer[0] = '\0';
    if (claimed && *claimed) {
        (void)snprintf(buffer, size, "%s", claimed);
    } else {
        (void)gethostname(buffer, size - 1);
        buffer[size - 1] = '\0';
    }
    return buffer;
}

/* A name of the GPU that is unique among all hosts. */
static yk_status name_gpu(const struct yk_device_choice *choice, char out[NAME_SIZE])
{
    struct yk_machine machine;
    char host[HOST_SIZE];
    YK_TRY(yk_discover_machine(NULL, &machine));
    const struct yk_visible_device visible = yk_visible_devices_find_gpu(
        getenv("CUDA_VISIBLE_DEVICES"), machine.gpus, machine.gpu_count, choice->number);
    memset(out, 0, NAME_SIZE);
    (void)snprintf(out, NAME_SIZE, "%s:%d:%d", yk_train_transport_host_id(host, sizeof host),
                   visible.gpu, visible.instance);
    return YK_OK;
}

/* Whether two ranks share a GPU, as NCCL identifies GPUs. */
static yk_status find_shared(const struct yk_communicator *met,
                             const struct yk_device_choice *choice, bool *out)
{
    char own[NAME_SIZE];
    *out = false;
    YK_TRY(yk_host_collective_agree_on_status(met, name_gpu(choice, own)));
    for (int32_t i = 0; i < met->size; i++) {
        struct yk_text text = {0};
        if (met->rank == i) {
            yk_text_add(&text, own);
        }
        const yk_status status = yk_host_collective_broadcast_text(met, i, &text);
        *out = *out || (i < met->rank && strcmp(yk_text_chars(&text), own) == 0);
        yk_text_free(&text);
        YK_TRY(status);
    }
    double shared = *out ? 1 : 0;
    YK_TRY(yk_host_collective_all_reduce_max(met, &shared, 1));
    *out = shared > 0;
    return YK_OK;
}

/* Chooses the communication plug-in; the same one on all ranks. */
static yk_status choose(const struct yk_communicator *met, const struct yk_device_choice *choice,
                        const char *word, const struct yk_comm_backend **out)
{
    const bool automatic = strcmp(word, "auto") == 0;
    bool shared = false;
    *out = &yk_comm_host_staging;
    if (strcmp(word, "mpi") == 0) {
        return YK_OK;
    }
    YK_TRY(find_shared(met, choice, &shared));
    if (shared) {
        if (met->rank == 0 && automatic) {
            yk_log(YK_LOG_NOTE, "ranks share a GPU, which NCCL refuses: they exchange through the "
                                "memory of the host");
        }
        return automatic ? YK_OK
                         : yk_fail(YK_ERROR_INPUT,
                                   "--wire nccl: ranks share a GPU, which NCCL refuses; give each "
                                   "one of its own, or use --wire mpi");
    }
    const struct yk_comm_backend *nccl = NULL;
    yk_status status = yk_train_transport_load_plugin("yoke-nccl.so", no_nccl, &nccl);
    status = yk_host_collective_agree_on_status(met, status);
    if (status == YK_OK) {
        *out = nccl;
    } else if (automatic && met->rank == 0) {
        yk_log(YK_LOG_NOTE, "%s; GPUs exchange through the memory of the host",
               yk_status_message());
    }
    return automatic ? YK_OK : status;
}

static yk_status open_lane(const struct yk_device_choice *choice, struct yk_train_transport *wire)
{
    const struct yk_backend_device_options options = {0};
    struct yk_device_context *context = &wire->context;
    YK_TRY(yk_device_open_context(choice, &options, context));
    context->backend->lane_destroy(context->lane);
    context->lane = NULL;
    return context->backend->lane_create(context->device, "comm", &context->lane);
}

static yk_status exchange_with_all(void *user, yk_status mine, void *bytes, size_t size)
{
    YK_TRY(yk_host_collective_agree_on_status(user, mine));
    return yk_host_collective_broadcast_bytes(user, 0, bytes, size);
}

yk_status yk_train_transport_open_over_mpi(const struct yk_communicator *met,
                                           const struct yk_device_choice *choice, const char *word,
                                           struct yk_train_transport *out)
{
    const struct yk_comm_backend *comm = NULL;
    YK_TRY(choose(met, choice, word, &comm));
    YK_TRY(yk_host_collective_agree_on_status(met, open_lane(choice, out)));
    const struct yk_comm_bootstrap bootstrap = {
        .rank = met->rank,
        .size = met->size,
        .share = exchange_with_all,
        .user = (void *)(uintptr_t)met,
    };
    const struct yk_comm_options options = {
        .backend = out->context.backend,
        .device = out->context.device,
        .lane = out->context.lane,
        .bootstrap = &bootstrap,
        .host_communicator = met,
    };
    return yk_host_collective_agree_on_status(met,
                                              yk_communicator_open(comm, &options, &out->ranks));
}

yk_status yk_train_transport_open_by_rendezvous(const struct yk_launcher *launcher,
                                                const struct yk_device_choice *choice,
                                                struct yk_train_transport *out)
{
    const struct yk_comm_backend *comm = NULL;
    struct yk_rendezvous_options rendezvous;
    if (!choice->gpu) {
        return yk_fail(YK_ERROR_INPUT,
                       "%d ranks without MPI exchange numbers by NCCL, each with a GPU, and this "
                       "one would compute on the CPU (yoke doctor tells of GPUs); start ranks on "
                       "CPUs with mpirun, or with srun --mpi=pmix",
                       (int)launcher->size);
    }
    YK_TRY(yk_rendezvous_options_from_environment(launcher, &rendezvous));
    YK_TRY(yk_train_transport_load_plugin("yoke-nccl.so", no_nccl, &comm));
    YK_TRY(open_lane(choice, out));
    const struct yk_comm_bootstrap bootstrap = yk_rendezvous_make_bootstrap(&rendezvous);
    const struct yk_comm_options options = {
        .backend = out->context.backend,
        .device = out->context.device,
        .lane = out->context.lane,
        .bootstrap = &bootstrap,
    };
    return yk_communicator_open(comm, &options, &out->ranks);
}

void yk_train_transport_close(struct yk_train_transport *wire)
{
    yk_communicator_close(&wire->ranks);
    yk_device_close_context(&wire->context);
    *wire = (struct yk_train_transport){0};
}
