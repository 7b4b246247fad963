#include "sim/event_queue.h"

#include <stdbool.h>

yk_status yk_event_queue_create(struct yk_arena *arena, int32_t size, struct yk_event_queue *out)
{
    struct yk_event_queue events = {0};
    YK_TRY_NEW(arena, events.heap, size);
    YK_TRY_NEW(arena, events.places, size);
    YK_TRY_NEW(arena, events.at_s, size);
    for (int32_t i = 0; i < size; i++) {
        events.places[i] = -1;
    }
    *out = events;
    return YK_OK;
}

static bool comes_before(const struct yk_event_queue *events, int32_t a, int32_t b)
{
    return events->at_s[a] < events->at_s[b] || (events->at_s[a] == events->at_s[b] && a < b);
}

static void set(struct yk_event_queue *events, int32_t place, int32_t number)
{
    events->heap[place] = number;
    events->places[number] = place;
}

static void lift(struct yk_event_queue *events, int32_t place)
{
    const int32_t number = events->heap[place];
    while (place > 0 && comes_before(events, number, events->heap[(place - 1) / 2])) {
        set(events, place, events->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    set(events, place, number);
}

static void sink(struct yk_event_queue *events, int32_t place)
{
    const int32_t number = events->heap[place];
    for (int32_t below = 2 * place + 1; below < events->count; below = 2 * place + 1) {
        if (below + 1 < events->count &&
            comes_before(events, events->heap[below + 1], events->heap[below])) {
            below++;
        }
        if (!comes_before(events, events->heap[below], number)) {
            break;
        }
        set(events, place, events->heap[below]);
        place = below;
    }
    set(events, place, number);
}

void yk_event_queue_set(struct yk_event_queue *events, int32_t number, double at_s)
{
    events->at_s[number] = at_s;
    if (events->places[number] < 0) {
        set(events, events->count++, number);
    }
    lift(events, events->places[number]);
    sink(events, events->places[number]);
}

int32_t yk_event_queue_pop(struct yk_event_queue *events, double *out_at_s)
{
    if (events->count == 0) {
        return -1;
    }
    const int32_t first = events->heap[0];
    *out_at_s = events->at_s[first];
    events->places[first] = -1;
    events->count--;
    if (events->count > 0) {
        set(events, 0, events->heap[events->count]);
        sink(events, 0);
    }
    return first;
}
