/*
 * Thread barrier: where threads of one process wait for each other, each with something to show.
 *
 * A barrier begins when all of its members have come and ends when all have gone. In between each
 * may read what the others show. All barriers of a world share its mutex and its failure.
 */
#ifndef YK_TESTS_SUPPORT_EXCHANGES_THREAD_BARRIER_H
#define YK_TESTS_SUPPORT_EXCHANGES_THREAD_BARRIER_H

#include "comm/comm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct thread_floor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct yk_first_failure failure; /* set under the mutex */
    bool *left;                      /* (ranks): who has left, or waits for the others to leave */
};

struct thread_barrier {
    struct thread_floor *floor;
    int32_t members;
    const int32_t *ranks; /* (members): nobody comes once one of them has left; NULL: all leave */
    int32_t come;
    int32_t gone;
    uint64_t begun; /* so far */
    uint64_t ended;
    const void **shown; /* (members) */
};

/* Shows `item` as member `me` and waits for the others. False, and no barrier, when there is
 * a failure before all have come; once one begins, it is for all of them. */
bool thread_barrier_enter(struct thread_barrier *barrier, int32_t me, const void *item);

/* Waits until nobody reads any more: others end soon, whatever failed. */
void thread_barrier_leave(struct thread_barrier *barrier);

/* Under the mutex: whether there is a failure. That a rank has left while it is waited for is some.
 */
bool thread_floor_is_broken(struct thread_floor *floor, const int32_t *ranks, int32_t count);

/* Sets the failure and wakes all who wait for others to come. */
void thread_floor_break(struct thread_floor *floor, yk_status status, const char *sentence);

#endif
