#include "support/exchanges/thread_barrier.h"

#include <stdio.h>

bool thread_floor_is_broken(struct thread_floor *floor, const int32_t *ranks, int32_t count)
{
    for (int32_t i = 0; ranks && i < count; i++) {
        if (floor->left[ranks[i]] && !yk_failure_is_set(&floor->trouble)) {
            char words[64];
            (void)snprintf(words, sizeof words, "rank %d: left while others wait for it",
                           (int)ranks[i]);
            yk_failure_set(&floor->trouble, YK_ERROR_LOST, words);
            pthread_cond_broadcast(&floor->changed);
        }
    }
    return yk_failure_is_set(&floor->trouble);
}

bool thread_meeting_begin(struct thread_meeting *meeting, int32_t me, const void *thing)
{
    struct thread_floor *floor = meeting->floor;
    pthread_mutex_lock(&floor->mutex);
    const uint64_t number = meeting->begun + 1;
    if (thread_floor_is_broken(floor, meeting->ranks, meeting->members)) {
        pthread_mutex_unlock(&floor->mutex);
        return false;
    }
    meeting->shown[me] = thing;
    meeting->come++;
    if (meeting->come == meeting->members) {
        meeting->come = 0;
        meeting->begun = number;
        pthread_cond_broadcast(&floor->changed);
    }
    while (meeting->begun < number &&
           !thread_floor_is_broken(floor, meeting->ranks, meeting->members)) {
        pthread_cond_wait(&floor->changed, &floor->mutex);
    }
    const bool begun = meeting->begun >= number;
    pthread_mutex_unlock(&floor->mutex);
    return begun;
}

void thread_meeting_end(struct thread_meeting *meeting)
{
    struct thread_floor *floor = meeting->floor;
    pthread_mutex_lock(&floor->mutex);
    const uint64_t number = meeting->ended + 1;
    meeting->gone++;
    if (meeting->gone == meeting->members) {
        meeting->gone = 0;
        meeting->ended = number;
        pthread_cond_broadcast(&floor->changed);
    }
    while (meeting->ended < number) {
        pthread_cond_wait(&floor->changed, &floor->mutex);
    }
    pthread_mutex_unlock(&floor->mutex);
}

void thread_floor_break(struct thread_floor *floor, yk_status status, const char *sentence)
{
    pthread_mutex_lock(&floor->mutex);
    yk_failure_set(&floor->trouble, status, sentence);
    pthread_cond_broadcast(&floor->changed);
    pthread_mutex_unlock(&floor->mutex);
}
