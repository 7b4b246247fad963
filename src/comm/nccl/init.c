/* Creates the communicator of the world, and connects all ranks by a first message. */
#include "comm/nccl/nccl_internal.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NEIGHBOURS = 16, /* in worlds of so many ranks, each pair is connected from the start */
    HOST_SIZE = 256,
};

static ncclResult_t run_init(struct yk_nccl_call_with_deadline *call)
{
    const struct yk_comm_world *world = call->world;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1; /* otherwise every exchange takes a thread of its own to be put */
    config.maxCTAs = call->key;
    return ncclCommInitRankConfig(&call->comm, world->size, call->id, world->rank, &config);
}

/* What tells ranks of one host: NCCL goes by the same. */
static uint64_t hash_host(void)
{
    char host[HOST_SIZE] = "";
    const char *named = getenv("NCCL_HOSTID");
    if (!named || !*named) {
        (void)gethostname(host, sizeof host - 1);
        named = host;
    }
    return yk_hash_bytes(named, strlen(named));
}

static int32_t count_different(const uint64_t *numbers, int32_t count)
{
    int32_t different = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t before = 0;
        while (before < i && numbers[before] != numbers[i]) {
            before++;
        }
        different += before == i;
    }
    return different;
}

/* Every pair's connection is made by a message, of what is in `stage` to places behind it. */
static ncclResult_t connect_pairs(const struct yk_comm_world *world)
{
    const size_t bytes = sizeof(uint64_t);
    ncclResult_t result = ncclGroupStart();
    for (int32_t i = 0; result == ncclSuccess && i < world->size; i++) {
        char *place = world->stage + (size_t)(world->size + i) * bytes;
        if (i != world->rank) {
            result = ncclSend(world->stage, bytes, ncclUint8, i, world->comm, world->stream);
        }
        if (i != world->rank && result == ncclSuccess) {
            result = ncclRecv(place, bytes, ncclUint8, i, world->comm, world->stream);
        }
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

/* The first exchanges: they tell whether NCCL works at all, and how many hosts there are. */
static ncclResult_t run_first_exchanges(struct yk_nccl_call_with_deadline *call)
{
    struct yk_comm_world *world = call->world;
    const size_t bytes = sizeof(uint64_t);
    char *own = world->stage + (size_t)world->rank * bytes;
    uint64_t *hosts = (uint64_t *)(void *)world->host_stage;
    hosts[0] = hash_host();
    if (cudaMemcpyAsync(own, hosts, bytes, cudaMemcpyDefault, world->stream) != cudaSuccess) {
        return ncclUnhandledCudaError;
    }
    ncclResult_t result =
        ncclAllGather(own, world->stage, bytes, ncclUint8, world->comm, world->stream);
    if (result == ncclSuccess && world->size <= NEIGHBOURS) {
        result = connect_pairs(world);
    }
    if (result != ncclSuccess) {
        return result;
    }
    if (cudaMemcpyAsync(hosts, world->stage, (size_t)world->size * bytes, cudaMemcpyDefault,
                        world->stream) != cudaSuccess ||
        cudaStreamSynchronize(world->stream) != cudaSuccess) {
        return ncclUnhandledCudaError;
    }
    call->hosts = count_different(hosts, world->size);
    return ncclSuccess;
}

static yk_status find_address(ncclUniqueId *out)
{
    const ncclResult_t result = ncclGetUniqueId(out);
    return result == ncclSuccess
               ? YK_OK
               : yk_fail(YK_ERROR_SYSTEM,
                         "nccl: no address to meet at: %s: %s; see whether NCCL_SOCKET_IFNAME "
                         "names a network",
                         ncclGetErrorString(result), ncclGetLastError(NULL));
}

yk_status yk_nccl_init_broadcast_unique_id(const struct yk_comm_bootstrap *bootstrap,
                                           yk_status mine, ncclUniqueId *out)
{
    ncclUniqueId id = {{0}};
    if (mine == YK_OK && bootstrap->rank == 0) {
        mine = find_address(&id);
    }
    YK_TRY(bootstrap->share(bootstrap->user, mine, &id, sizeof id));
    *out = id;
    return YK_OK;
}

yk_status yk_nccl_init_create_world_communicator(struct yk_comm_world *world,
                                                 const ncclUniqueId *id, int blocks)
{
    struct yk_nccl_call_with_deadline call = {.run = run_init,
                                              .world = world,
                                              .doing = "meeting the other ranks",
                                              .id = *id,
                                              .key = blocks};
    if (yk_nccl_call_run_with_deadline(&call, world->timeout_s)) {
        world->comm = call.comm;
        call.run = run_first_exchanges;
        (void)yk_nccl_call_run_with_deadline(&call, world->timeout_s);
        world->hosts = call.hosts;
    }
    return yk_first_failure_check(&world->failure);
}
