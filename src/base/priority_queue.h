/*
 * Priority queue: a heap of integers (numbers), each with a key. The number with the smallest key
 * comes first. Of numbers with equal keys, the smallest comes first. The key of a number can be
 * changed while the number is in the queue. A queue is not thread-safe.
 */
#ifndef YK_BASE_PRIORITY_QUEUE_H
#define YK_BASE_PRIORITY_QUEUE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct yk_priority_queue {
    int32_t count;
    int32_t *heap;   /* (count) the numbers in the queue */
    int32_t *places; /* (size) index of each number in `heap`; −1 means: not in the queue */
    double *keys;    /* (size) key of each number that is in the queue */
};

/* Creates an empty queue for the numbers 0 to `size` − 1 in `arena`. */
yk_status yk_priority_queue_create(struct yk_arena *arena, int32_t size,
                                   struct yk_priority_queue *out) YK_MUST_USE;

/* Adds `number` with this key. If `number` is already in the queue, changes its key. */
void yk_priority_queue_insert_or_update(struct yk_priority_queue *queue, int32_t number,
                                        double key);

/* Removes and returns the first number, and sets `*out_key` to its key. Returns −1 if the queue is
 * empty. */
int32_t yk_priority_queue_pop(struct yk_priority_queue *queue, double *out_key);

#endif
