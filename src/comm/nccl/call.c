/* Blocking NCCL calls with a deadline, on a thread that is abandoned after the deadline. */
#include "comm/nccl/nccl_internal.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double poll_s = 0.02; /* between two checks whether the world has failed */

bool yk_nccl_call_set_world_failure(struct yk_comm_world *world, ncclResult_t result,
                                    const char *doing)
{
    char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE];
    const char *more = ncclGetLastError(NULL);
    (void)snprintf(sentence, sizeof sentence, "nccl, %s: %s%s%s", doing, ncclGetErrorString(result),
                   more && *more ? ": " : "", more ? more : "");
    for (char *c = sentence; *c; c++) {
        if (*c == '\n') {
            *c = ' ';
        }
    }
    const yk_status status = result == ncclInvalidArgument || result == ncclInvalidUsage
                                 ? YK_ERROR_INPUT
                             : result == ncclUnhandledCudaError ? YK_ERROR_SYSTEM
                                                                : YK_ERROR_LOST;
    yk_first_failure_set(&world->failure, status, "%s", sentence);
    return false;
}

/* Whoever is last frees it: the thread that runs, or the one that waited. */
struct thread_call {
    struct yk_nccl_call_with_deadline call;
    ncclResult_t result;
    bool is_done;
    bool is_abandoned;
    pthread_mutex_t lock;
    pthread_cond_t done;
};

static void free_call(struct thread_call *thread_call)
{
    (void)pthread_cond_destroy(&thread_call->done);
    (void)pthread_mutex_destroy(&thread_call->lock);
    free(thread_call);
}

static struct thread_call *create_call(const struct yk_nccl_call_with_deadline *call)
{
    struct thread_call *thread_call = calloc(1, sizeof *thread_call);
    pthread_condattr_t attributes;
    if (!thread_call) {
        return NULL;
    }
    thread_call->call = *call;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&thread_call->lock, NULL);
    (void)pthread_cond_init(&thread_call->done, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return thread_call;
}

static void *work(void *user)
{
    struct thread_call *thread_call = user;
    (void)cudaSetDevice(thread_call->call.world->device);
    const ncclResult_t result = thread_call->call.run(&thread_call->call);
    (void)pthread_mutex_lock(&thread_call->lock);
    thread_call->result = result;
    thread_call->is_done = true;
    const bool is_abandoned = thread_call->is_abandoned;
    (void)pthread_cond_signal(&thread_call->done);
    (void)pthread_mutex_unlock(&thread_call->lock);
    if (is_abandoned) {
        free_call(thread_call);
    }
    return NULL;
}

static void wait_a_little(struct thread_call *thread_call)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(poll_s * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&thread_call->done, &thread_call->lock, &until);
}

/* False when it was left. */
static bool await(struct thread_call *thread_call, double max_s)
{
    struct yk_comm_world *world = thread_call->call.world;
    const bool had_failed = yk_first_failure_is_set(&world->failure);
    const double begun_s = yk_clock_now_s();
    (void)pthread_mutex_lock(&thread_call->lock);
    while (!thread_call->is_done && yk_clock_now_s() - begun_s < max_s &&
           (had_failed || !yk_first_failure_is_set(&world->failure))) {
        wait_a_little(thread_call);
    }
    const bool is_done = thread_call->is_done;
    thread_call->is_abandoned = !is_done;
    (void)pthread_mutex_unlock(&thread_call->lock);
    return is_done;
}

static void fail_timed_out(struct yk_comm_world *world, const char *doing, double max_s)
{
    yk_first_failure_set(
        &world->failure, YK_ERROR_LOST,
        "nccl, %s: not all %d ranks have come within %g s; see what the others say, "
        "whether NCCL_SOCKET_IFNAME names the network that joins them, or set "
        "YOKE_MEET_S to more seconds",
        doing, (int)world->size, max_s);
}

bool yk_nccl_call_run_with_deadline(struct yk_nccl_call_with_deadline *call, double max_s)
{
    struct yk_comm_world *world = call->world;
    pthread_t thread;
    struct thread_call *thread_call = create_call(call);
    const int code = thread_call ? pthread_create(&thread, NULL, work, thread_call) : ENOMEM;
    if (code != 0) {
        if (thread_call) {
            free_call(thread_call);
        }
        yk_first_failure_set(&world->failure, YK_ERROR_SYSTEM, "nccl: the system refuses a thread");
        return false;
    }
    if (!await(thread_call, max_s)) {
        (void)pthread_detach(thread);
        atomic_store(&world->is_abandoned, true);
        fail_timed_out(world, call->doing, max_s);
        return false;
    }
    (void)pthread_join(thread, NULL);
    const ncclResult_t result = thread_call->result;
    *call = thread_call->call;
    free_call(thread_call);
    return result == ncclSuccess || yk_nccl_call_set_world_failure(world, result, call->doing);
}
