#include "fake_nccl.h"

#include "fake_inside.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    COMMS = 256,
};

static struct {
    struct yk_thread_world *world;
    int32_t ranks;
    struct yk_backend_device *devices[FAKE_RANKS];
    struct yk_backend_lane *lanes[FAKE_RANKS];
    struct yk_communicator seats[FAKE_RANKS];
    struct ncclComm comms[COMMS];
    atomic_bool lost; /* somebody is gone */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* one of those below, which are under the lock */
    int comm_count;
    int alive;   /* communicators that have not ended */
    int joining; /* threads that wait for others to join */
    bool holds_destroy;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void change(int *count, int by)
{
    (void)pthread_mutex_lock(&fake.lock);
    *count += by;
    (void)pthread_cond_broadcast(&fake.changed);
    (void)pthread_mutex_unlock(&fake.lock);
}

void fake_nccl_begin(int32_t ranks, enum fake_kind kind)
{
    fake_cuda_begin(kind);
    fake_exchanges_begin();
    fake.ranks = ranks;
    fake.comm_count = 0;
    atomic_store(&fake.lost, false);
    memset(fake.seats, 0, sizeof fake.seats);
    memset(fake.devices, 0, sizeof fake.devices);
    memset(fake.lanes, 0, sizeof fake.lanes);
    if (yk_thread_world_create(ranks, &fake.world) != YK_OK) {
        fake.world = NULL;
    }
}

/* Nobody is left to meet the others at the end: a world that is broken is not waited for. */
static void free_all(void)
{
    yk_thread_world_break(fake.world, 0, YK_ERROR_LOST, "it is over");
    for (int i = 0; i < fake.comm_count; i++) {
        if (!fake.comms[i].is_world) {
            yk_comm_threads.group_destroy(fake.comms[i].group);
        }
    }
    for (int32_t i = 0; i < FAKE_RANKS; i++) {
        yk_communicator_close(&fake.seats[i]);
        yk_backend_cpu.lane_destroy(fake.lanes[i]);
        yk_backend_cpu.close(fake.devices[i]);
    }
    yk_thread_world_destroy(fake.world);
    fake.world = NULL;
}

void fake_nccl_end(void)
{
    (void)pthread_mutex_lock(&fake.lock);
    while (fake.alive > 0 || fake.joining > 0) {
        (void)pthread_cond_wait(&fake.changed, &fake.lock);
    }
    (void)pthread_mutex_unlock(&fake.lock);
    fake_cuda_await_threads();
    free_all();
}

void fake_nccl_await_joining(void)
{
    (void)pthread_mutex_lock(&fake.lock);
    while (fake.joining == 0) {
        (void)pthread_cond_wait(&fake.changed, &fake.lock);
    }
    (void)pthread_mutex_unlock(&fake.lock);
}

void fake_nccl_hold_destroy(bool holds)
{
    (void)pthread_mutex_lock(&fake.lock);
    fake.holds_destroy = holds;
    (void)pthread_cond_broadcast(&fake.changed);
    (void)pthread_mutex_unlock(&fake.lock);
}

void fake_nccl_sit(int32_t rank, struct yk_backend_device *device, struct yk_backend_lane *lane)
{
    fake.devices[rank] = device;
    fake.lanes[rank] = lane;
}

void fake_nccl_drop_rank(int32_t rank)
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

static struct ncclComm *make_comm(struct yk_communicator *ranks, struct yk_comm_group *group,
                                  int size, int me, bool is_world)
{
    (void)pthread_mutex_lock(&fake.lock);
    assert(fake.comm_count < COMMS);
    struct ncclComm *place = &fake.comms[fake.comm_count++];
    *place = (struct ncclComm){ranks, group, size, me, is_world, false, false};
    fake.alive++;
    (void)pthread_mutex_unlock(&fake.lock);
    return place;
}

bool fake_is_alive(const struct ncclComm *comm)
{
    if (!comm || atomic_load(&comm->is_dead)) {
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
    struct yk_communicator *seat = &fake.seats[rank];
    (void)snprintf(expected, sizeof expected, "world of %d", size);
    if (strcmp(id.internal, expected) != 0 || config->blocking != 1 || config->maxCTAs < 1 ||
        rank != fake_current_device()) {
        fake_misuse("joining in an unexpected way");
        return ncclInvalidArgument;
    }
    const struct yk_comm_options options = {
        .backend = &yk_backend_cpu, .device = fake.devices[rank], .lane = fake.lanes[rank]};
    yk_thread_world_seat(fake.world, rank);
    change(&fake.joining, 1);
    const yk_status status = yk_communicator_open(&yk_comm_threads, &options, seat);
    change(&fake.joining, -1);
    if (status != YK_OK) {
        return ncclSystemError;
    }
    *out = make_comm(seat, seat->world_group, size, rank, true);
    return ncclSuccess;
}

struct split_request {
    int color;
    int key;
};

/* Those of one color, in the order of their keys. */
static int32_t choose(const struct split_request *requests, int32_t size, int32_t *members)
{
    int32_t count = 0;
    for (int key = 0; key < size; key++) {
        for (int32_t i = 0; i < size; i++) {
            if (requests[i].color == 0 && requests[i].key == key) {
                members[count++] = i;
            }
        }
    }
    return count;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out,
                           ncclConfig_t *config)
{
    const struct yk_communicator *ranks = comm->ranks;
    const struct split_request own = {color, key};
    struct split_request requests[FAKE_RANKS];
    int64_t firsts[FAKE_RANKS + 1] = {0, 1, 2, 3, 4};
    int32_t members[FAKE_RANKS] = {0};
    struct yk_comm_group *group = NULL;
    (void)config;
    const struct yk_comm_all_gather op = {ranks->world_group, &own, requests, firsts, sizeof own};
    yk_comm_threads.all_gather(&op);
    if (!fake_is_alive(comm) || yk_communicator_synchronize(ranks) != YK_OK) {
        return ncclRemoteError;
    }
    const int32_t count = choose(requests, ranks->size, members);
    if (yk_comm_threads.group_create(ranks->world, members, count, &group) != YK_OK) {
        return ncclRemoteError;
    }
    *out = group ? make_comm(comm->ranks, group, count, key, false) : NULL;
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

/* False, and a misuse, where it has ended already. */
static bool begin_end(struct ncclComm *comm)
{
    if (!comm || atomic_exchange(&comm->is_dead, true)) {
        fake_misuse("the end of a communicator that is no more");
        return false;
    }
    return true;
}

/* What it is made of stays until fake_nccl_end(): other threads may be within an exchange. */
static void bury(const struct ncclComm *comm)
{
    (void)!yk_backend_cpu.lane_synchronize(comm->ranks->lane);
    change(&fake.alive, -1);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (begin_end(comm)) {
        (void)pthread_mutex_lock(&fake.lock);
        while (fake.holds_destroy) {
            (void)pthread_cond_wait(&fake.changed, &fake.lock);
        }
        (void)pthread_mutex_unlock(&fake.lock);
        bury(comm);
    }
    return ncclSuccess;
}

/* The end of one rank's communicator is seen by all others. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    if (comm) {
        atomic_store(&comm->is_aborted, true);
    }
    if (begin_end(comm)) {
        atomic_store(&fake.lost, true);
        yk_thread_world_break(fake.world, fake_current_device(), YK_ERROR_LOST, "it has given up");
        bury(comm);
    }
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out)
{
    *out = fake_is_alive(comm) && yk_comm_threads.check(comm->ranks->world) == YK_OK
               ? ncclSuccess
               : ncclRemoteError;
    return ncclSuccess;
}
