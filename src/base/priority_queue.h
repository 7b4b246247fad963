/*
 * Priority queue: a heap of numbers, each with a key. The number with the smallest key comes first,
 * ties by number. The key of a number can be changed while it is in the queue. It is not
 * thread-safe.
 */
#ifndef YK_BASE_PRIORITY_QUEUE_H
#define YK_BASE_PRIORITY_QUEUE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct yk_priority_queue {
    int32_t count;
    int32_t *heap;   /* (count) numbers */
    int32_t *places; /* index of each number in `heap`; −1: not in the queue */
    double *keys;    /* key of each number in the queue */
};

/* Creates an empty queue for the numbers 0 to `size` − 1 in `arena`. */
yk_status yk_priority_queue_create(struct yk_arena *arena, int32_t size,
                                   struct yk_priority_queue *out) YK_MUST_USE;

/* Adds `number` with this key, or changes its key. */
void yk_priority_queue_set(struct yk_priority_queue *queue, int32_t number, double key);

/* Removes and returns the first number. Returns −1 if the queue is empty. */
int32_t yk_priority_queue_pop(struct yk_priority_queue *queue, double *out_key);

#endif
