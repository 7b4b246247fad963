/* Polls all communicators for errors, and aborts them after the first one. */
#include "comm/nccl/nccl_internal.h"

#include <time.h>

static const double use_s = 1;   /* that somebody may be within NCCL and not be disturbed */
static const double abort_s = 5; /* that NCCL may take to end what is on the device */

enum {
    POLL_NS = 100000000, /* between two looks */
};

static void check_communicator(struct yk_comm_world *world, ncclComm_t comm)
{
    ncclResult_t result = ncclSuccess;
    if (comm && ncclCommGetAsyncError(comm, &result) == ncclSuccess && result != ncclSuccess &&
        result != ncclInProgress) {
        (void)yk_nccl_call_set_world_failure(world, result, "exchanging");
    }
}

static void check_all(struct yk_comm_world *world)
{
    if (!atomic_load(&world->aborted)) {
        check_communicator(world, world->comm);
        for (const struct yk_comm_group *g = world->groups; g; g = g->next) {
            check_communicator(world, g->comm);
        }
    }
}

/* The list is open meanwhile. */
static void wait_a_little(struct yk_comm_world *world)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&world->wake, &world->list, &until);
}

static void *watch(void *user)
{
    struct yk_comm_world *world = user;
    (void)pthread_mutex_lock(&world->list);
    while (!world->leaving && !yk_first_failure_is_set(&world->failure)) {
        check_all(world);
        if (!yk_first_failure_is_set(&world->failure)) {
            wait_a_little(world);
        }
    }
    const bool has_failed = yk_first_failure_is_set(&world->failure);
    (void)pthread_mutex_unlock(&world->list);
    if (has_failed) {
        yk_nccl_error_monitor_abort_communicators(world);
    }
    return NULL;
}

yk_status yk_nccl_error_monitor_start(struct yk_comm_world *world)
{
    if (pthread_create(&world->watcher, NULL, watch, world) != 0) {
        return yk_fail(YK_ERROR_SYSTEM, "nccl: the system refuses a thread");
    }
    world->is_watched = true;
    return YK_OK;
}

void yk_nccl_error_monitor_stop(struct yk_comm_world *world)
{
    if (world->is_watched) {
        (void)pthread_mutex_lock(&world->list);
        world->leaving = true;
        (void)pthread_cond_signal(&world->wake);
        (void)pthread_mutex_unlock(&world->list);
        (void)pthread_join(world->watcher, NULL);
        world->is_watched = false;
    }
}

/* NCCL waits for all that is on the stream, which may be of any communicator: all are aborted in
 * one group before one is waited for. */
static ncclResult_t run_abort(struct yk_nccl_call_with_deadline *call)
{
    const struct yk_comm_world *world = call->world;
    (void)ncclGroupStart();
    (void)ncclCommAbort(world->comm);
    for (const struct yk_comm_group *g = world->groups; g; g = g->next) {
        (void)ncclCommAbort(g->comm);
    }
    (void)ncclGroupEnd();
    return ncclSuccess;
}

/* Whoever enqueues an exchange is waited for, but not for long: it may be stuck within NCCL, or in
 * a full stream, because of what is aborted here. */
void yk_nccl_error_monitor_abort_communicators(struct yk_comm_world *world)
{
    struct timespec until;
    struct yk_nccl_call_with_deadline call = {
        .run = run_abort, .world = world, .doing = "giving up"};
    if (atomic_exchange(&world->aborted, true)) {
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)use_s;
    const bool is_locked = pthread_mutex_timedlock(&world->use, &until) == 0;
    (void)pthread_mutex_lock(&world->list);
    const bool is_done = yk_nccl_call_run_with_deadline(&call, abort_s);
    (void)pthread_mutex_unlock(&world->list);
    if (is_locked) {
        (void)pthread_mutex_unlock(&world->use);
    }
    atomic_store(&world->gone, is_done);
}
