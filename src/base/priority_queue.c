#include "base/priority_queue.h"

#include "base/number.h"

#include <stdbool.h>

yk_status yk_priority_queue_create(struct yk_arena *arena, int32_t size,
                                   struct yk_priority_queue *out)
{
    struct yk_priority_queue queue = {0};
    YK_TRY_NEW(arena, queue.heap, size);
    YK_TRY_NEW(arena, queue.places, size);
    YK_TRY_NEW(arena, queue.keys, size);
    yk_number_fill_int32_array(queue.places, size, -1);
    *out = queue;
    return YK_OK;
}

static bool comes_before(const struct yk_priority_queue *queue, int32_t a, int32_t b)
{
    return queue->keys[a] < queue->keys[b] || (queue->keys[a] == queue->keys[b] && a < b);
}

static void set(struct yk_priority_queue *queue, int32_t place, int32_t number)
{
    queue->heap[place] = number;
    queue->places[number] = place;
}

static void lift(struct yk_priority_queue *queue, int32_t place)
{
    const int32_t number = queue->heap[place];
    while (place > 0 && comes_before(queue, number, queue->heap[(place - 1) / 2])) {
        set(queue, place, queue->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    set(queue, place, number);
}

static void sink(struct yk_priority_queue *queue, int32_t place)
{
    const int32_t number = queue->heap[place];
    for (int32_t below = 2 * place + 1; below < queue->count; below = 2 * place + 1) {
        if (below + 1 < queue->count &&
            comes_before(queue, queue->heap[below + 1], queue->heap[below])) {
            below++;
        }
        if (!comes_before(queue, queue->heap[below], number)) {
            break;
        }
        set(queue, place, queue->heap[below]);
        place = below;
    }
    set(queue, place, number);
}

void yk_priority_queue_insert_or_update(struct yk_priority_queue *queue, int32_t number, double key)
{
    queue->keys[number] = key;
    if (queue->places[number] < 0) {
        set(queue, queue->count++, number);
    }
    lift(queue, queue->places[number]);
    sink(queue, queue->places[number]);
}

int32_t yk_priority_queue_pop(struct yk_priority_queue *queue, double *out_key)
{
    if (queue->count == 0) {
        return -1;
    }
    const int32_t first = queue->heap[0];
    *out_key = queue->keys[first];
    queue->places[first] = -1;
    queue->count--;
    if (queue->count > 0) {
        set(queue, 0, queue->heap[queue->count]);
        sink(queue, 0);
    }
    return first;
}
