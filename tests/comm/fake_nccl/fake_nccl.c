#include "fake_nccl.h"

#include "fake_inside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    COMMS = 256,
};

static struct {
    struct yk_thread_world *world;
    int32_t ranks;
    struct yk_backend_device *devices[FAKE_RANKS];
    struct yk_backend_lane *lanes[FAKE_RANKS];
    struct yk_ranks seats[FAKE_RANKS];
    struct ncclComm comms[COMMS];
    int comm_count;
    atomic_bool lost;   /* somebody is gone */
    atomic_int joining; /* threads that wait for others to join */
    pthread_mutex_t lock;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fake_nccl_begin(int32_t ranks, enum fake_kind kind)
{
    fake_cuda_begin(kind);
    fake_exchanges_begin();
    fake.ranks = ranks;
    fake.comm_count = 0;
    atomic_store(&fake.lost, false);
    memset(fake.seats, 0, sizeof fake.seats);
    if (yk_thread_world_create(ranks, &fake.world) != YK_OK) {
        fake.world = NULL;
    }
}

void fake_nccl_end(void)
{
    while (atomic_load(&fake.joining) > 0) {
        (void)usleep(100);
    }
    yk_thread_world_destroy(fake.world);
    fake.world = NULL;
}

void fake_nccl_sit(int32_t rank, struct yk_backend_device *device, struct yk_backend_lane *lane)
{
    fake.devices[rank] = device;
    fake.lanes[rank] = lane;
}

void fake_nccl_lose(int32_t rank)
{
    atomic_store(&fake.lost, true);
    yk_thread_world_break(fake.world, rank, YK_ERROR_LOST, "it is gone");
}

void *fake_native(const struct yk_backend_lane *lane, int32_t *number)
{
    for (int32_t i = 0; i < fake.ranks; i++) {
        *number = fake.lanes[i] == lane ? i : *number;
    }
    return (void *)(uintptr_t)lane;
}

/* ---- communicators ---- */

static struct ncclComm *make_comm(struct ncclComm comm)
{
    (void)pthread_mutex_lock(&fake.lock);
    struct ncclComm *place = &fake.comms[fake.comm_count < COMMS - 1 ? fake.comm_count++ : 0];
    *place = comm;
    (void)pthread_mutex_unlock(&fake.lock);
    return place;
}

bool fake_is_alive(const struct ncclComm *comm)
{
    if (!comm || comm->is_dead) {
        fake_misuse("a communicator that is no more");
        return false;
    }
    return true;
}

ncclResult_t ncclGetVersion(int *version)
{
    *version = 22809;
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *out)
{
    (void)snprintf(out->internal, sizeof out->internal, "world of %d", (int)fake.ranks);
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    return result == ncclRemoteError ? "remote process exited or there was a network error"
                                     : "other error";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return atomic_load(&fake.lost) ? "Connection closed by remote peer" : "";
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    char expected[sizeof id.internal];
    struct yk_ranks *seat = &fake.seats[rank];
    (void)snprintf(expected, sizeof expected, "world of %d", size);
    if (strcmp(id.internal, expected) != 0 || config->blocking != 1 || config->maxCTAs < 1 ||
        rank != fake_current_device()) {
        fake_misuse("joining in an unexpected way");
        return ncclInvalidArgument;
    }
    const struct yk_comm_options options = {
        .backend = &yk_backend_cpu, .device = fake.devices[rank], .lane = fake.lanes[rank]};
    yk_thread_world_seat(fake.world, rank);
    (void)atomic_fetch_add(&fake.joining, 1);
    const yk_status status = yk_ranks_open(&yk_comm_threads, &options, seat);
    (void)atomic_fetch_sub(&fake.joining, 1);
    if (status != YK_OK) {
        return ncclSystemError;
    }
    *out = make_comm((struct ncclComm){seat, seat->all, size, rank, true, false});
    return ncclSuccess;
}

struct wish {
    int color;
    int key;
};

/* Those of one color, in the order of their keys. */
static int32_t choose(const struct wish *wishes, int32_t size, int32_t *members)
{
    int32_t count = 0;
    for (int key = 0; key < size; key++) {
        for (int32_t i = 0; i < size; i++) {
            if (wishes[i].color == 0 && wishes[i].key == key) {
                members[count++] = i;
            }
        }
    }
    return count;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out,
                           ncclConfig_t *config)
{
    const struct yk_ranks *ranks = comm->ranks;
    const struct wish own = {color, key};
    struct wish wishes[FAKE_RANKS];
    int64_t firsts[FAKE_RANKS + 1] = {0, 1, 2, 3, 4};
    int32_t members[FAKE_RANKS] = {0};
    struct yk_comm_group *group = NULL;
    (void)config;
    const struct yk_comm_gather op = {ranks->all, &own, wishes, firsts, sizeof own};
    yk_comm_threads.gather(&op);
    if (!fake_is_alive(comm) || yk_ranks_finish(ranks) != YK_OK) {
        return ncclRemoteError;
    }
    const int32_t count = choose(wishes, ranks->size, members);
    if (yk_comm_threads.group_create(ranks->world, members, count, &group) != YK_OK) {
        return ncclRemoteError;
    }
    *out =
        group ? make_comm((struct ncclComm){comm->ranks, group, count, key, false, false}) : NULL;
    return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *out)
{
    *out = comm->size;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *out)
{
    *out = comm->me;
    return ncclSuccess;
}

static void bury(struct ncclComm *comm)
{
    if (!fake_is_alive(comm)) {
        return;
    }
    comm->is_dead = true;
    (void)!yk_backend_cpu.finish(comm->ranks->lane);
    if (comm->is_world) {
        yk_ranks_close(comm->ranks);
    } else {
        yk_comm_threads.group_destroy(comm->group);
    }
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    bury(comm);
    return ncclSuccess;
}

/* The end of one rank's communicator is seen by all others. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    if (fake_is_alive(comm)) {
        atomic_store(&fake.lost, true);
        yk_thread_world_break(fake.world, fake_current_device(), YK_ERROR_LOST, "it has given up");
    }
    bury(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out)
{
    *out = fake_is_alive(comm) && yk_comm_threads.check(comm->ranks->world) == YK_OK
               ? ncclSuccess
               : ncclRemoteError;
    return ncclSuccess;
}
