/*
 * Event queue: what ends when, the earliest first; of two at one time, the one of the smaller
 * number.
 *
 * A heap of numbers below a fixed count that knows where each number is, since ends move whenever
 * bandwidth is shared anew.
 */
#ifndef YK_SIM_EVENT_QUEUE_H
#define YK_SIM_EVENT_QUEUE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct yk_event_queue {
    int32_t count;
    int32_t *heap;   /* numbers */
    int32_t *places; /* of each number in the heap, −1: not in it */
    double *at_s;    /* of each number in the heap */
};

yk_status yk_event_queue_create(struct yk_arena *arena, int32_t size,
                                struct yk_event_queue *out) YK_MUST_USE;

/* Moves `number` to that time, wherever it was before. */
void yk_event_queue_set(struct yk_event_queue *events, int32_t number, double at_s);

/* Removes the first; −1 when there is none. */
int32_t yk_event_queue_pop(struct yk_event_queue *events, double *out_at_s);

#endif
