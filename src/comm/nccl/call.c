/* What NCCL waits in, on a thread that is left behind when it takes too long. */
#include "comm/nccl/world.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double look_s = 0.02; /* between two looks at the world's trouble */

/* Whoever is last frees it: the thread that runs, or the one that waited. */
struct desk {
    struct yk_nccl_call errand;
    ncclResult_t result;
    bool is_done;
    bool is_left;
    pthread_mutex_t lock;
    pthread_cond_t done;
};

static void free_desk(struct desk *desk)
{
    (void)pthread_cond_destroy(&desk->done);
    (void)pthread_mutex_destroy(&desk->lock);
    free(desk);
}

static struct desk *make_desk(const struct yk_nccl_call *errand)
{
    struct desk *desk = calloc(1, sizeof *desk);
    pthread_condattr_t attributes;
    if (!desk) {
        return NULL;
    }
    desk->errand = *errand;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&desk->lock, NULL);
    (void)pthread_cond_init(&desk->done, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return desk;
}

static void *work(void *user)
{
    struct desk *desk = user;
    (void)cudaSetDevice(desk->errand.world->device);
    const ncclResult_t result = desk->errand.run(&desk->errand);
    (void)pthread_mutex_lock(&desk->lock);
    desk->result = result;
    desk->is_done = true;
    const bool is_left = desk->is_left;
    (void)pthread_cond_signal(&desk->done);
    (void)pthread_mutex_unlock(&desk->lock);
    if (is_left) {
        free_desk(desk);
    }
    return NULL;
}

static void wait_a_little(struct desk *desk)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(look_s * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&desk->done, &desk->lock, &until);
}

/* False when it was left. */
static bool await(struct desk *desk, double most_s)
{
    struct yk_comm_world *world = desk->errand.world;
    const bool was_troubled = yk_failure_is_set(&world->trouble);
    const double begun_s = yk_clock_now_s();
    (void)pthread_mutex_lock(&desk->lock);
    while (!desk->is_done && yk_clock_now_s() - begun_s < most_s &&
           (was_troubled || !yk_failure_is_set(&world->trouble))) {
        wait_a_little(desk);
    }
    const bool is_done = desk->is_done;
    desk->is_left = !is_done;
    (void)pthread_mutex_unlock(&desk->lock);
    return is_done;
}

static void tell_left(struct yk_comm_world *world, const char *doing, double most_s)
{
    char sentence[YK_FAILURE_SIZE];
    (void)snprintf(sentence, sizeof sentence,
                   "nccl, %s: not all %d ranks have come within %g s; see what the others say, "
                   "whether NCCL_SOCKET_IFNAME names the network that joins them, or set "
                   "YOKE_MEET_S to more seconds",
                   doing, (int)world->size, most_s);
    yk_failure_set(&world->trouble, YK_ERROR_LOST, sentence);
}

enum yk_nccl_call_result yk_nccl_call_run(struct yk_nccl_call *errand, double most_s)
{
    struct yk_comm_world *world = errand->world;
    pthread_t thread;
    struct desk *desk = make_desk(errand);
    const int code = desk ? pthread_create(&thread, NULL, work, desk) : ENOMEM;
    if (code != 0) {
        if (desk) {
            free_desk(desk);
        }
        yk_failure_set(&world->trouble, YK_ERROR_SYSTEM, "nccl: the system refuses a thread");
        return YK_NCCL_CALL_FAILED;
    }
    if (!await(desk, most_s)) {
        (void)pthread_detach(thread);
        atomic_store(&world->has_left, true);
        tell_left(world, errand->doing, most_s);
        return YK_NCCL_CALL_TIMED_OUT;
    }
    (void)pthread_join(thread, NULL);
    const ncclResult_t result = desk->result;
    *errand = desk->errand;
    free_desk(desk);
    if (result != ncclSuccess) {
        (void)yk_nccl_world_fail(world, result, errand->doing);
        return YK_NCCL_CALL_FAILED;
    }
    return YK_NCCL_CALL_DONE;
}
