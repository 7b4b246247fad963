#include "support/exchanges/thread_barrier.h"

#include <stdio.h>

bool thread_floor_is_broken(struct thread_floor *floor, const int32_t *ranks, int32_t count)
{
    for (int32_t i = 0; ranks && i < count; i++) {
        if (floor->left[ranks[i]] && !yk_first_failure_is_set(&floor->failure)) {
            char sentence[64];
            (void)snprintf(sentence, sizeof sentence, "rank %d: left while others wait for it",
                           (int)ranks[i]);
            yk_first_failure_set(&floor->failure, YK_ERROR_LOST, "%s", sentence);
            pthread_cond_broadcast(&floor->changed);
        }
    }
    return yk_first_failure_is_set(&floor->failure);
}

bool thread_barrier_enter(struct thread_barrier *barrier, int32_t me, const void *item)
{
    struct thread_floor *floor = barrier->floor;
    pthread_mutex_lock(&floor->mutex);
    const uint64_t number = barrier->begun + 1;
    if (thread_floor_is_broken(floor, barrier->ranks, barrier->members)) {
        pthread_mutex_unlock(&floor->mutex);
        return false;
    }
    barrier->shown[me] = item;
    barrier->come++;
    if (barrier->come == barrier->members) {
        barrier->come = 0;
        barrier->begun = number;
        pthread_cond_broadcast(&floor->changed);
    }
    while (barrier->begun < number &&
           !thread_floor_is_broken(floor, barrier->ranks, barrier->members)) {
        pthread_cond_wait(&floor->changed, &floor->mutex);
    }
    const bool begun = barrier->begun >= number;
    pthread_mutex_unlock(&floor->mutex);
    return begun;
}

void thread_barrier_leave(struct thread_barrier *barrier)
{
    struct thread_floor *floor = barrier->floor;
    pthread_mutex_lock(&floor->mutex);
    const uint64_t number = barrier->ended + 1;
    barrier->gone++;
    if (barrier->gone == barrier->members) {
        barrier->gone = 0;
        barrier->ended = number;
        pthread_cond_broadcast(&floor->changed);
    }
    while (barrier->ended < number) {
        pthread_cond_wait(&floor->changed, &floor->mutex);
    }
    pthread_mutex_unlock(&floor->mutex);
}

void thread_floor_break(struct thread_floor *floor, yk_status status, const char *sentence)
{
    pthread_mutex_lock(&floor->mutex);
    yk_first_failure_set(&floor->failure, status, "%s", sentence);
    pthread_cond_broadcast(&floor->changed);
    pthread_mutex_unlock(&floor->mutex);
}
