#include "sim/event_queue.h"

#include <stdbool.h>

yk_status yk_event_queue_create(struct yk_arena *arena, int32_t size, struct yk_event_queue *out)
{
    struct yk_event_queue agenda = {0};
    YK_TRY_NEW(arena, agenda.heap, size);
    YK_TRY_NEW(arena, agenda.places, size);
    YK_TRY_NEW(arena, agenda.at_s, size);
    for (int32_t i = 0; i < size; i++) {
        agenda.places[i] = -1;
    }
    *out = agenda;
    return YK_OK;
}

static bool comes_before(const struct yk_event_queue *agenda, int32_t a, int32_t b)
{
    return agenda->at_s[a] < agenda->at_s[b] || (agenda->at_s[a] == agenda->at_s[b] && a < b);
}

static void set(struct yk_event_queue *agenda, int32_t place, int32_t number)
{
    agenda->heap[place] = number;
    agenda->places[number] = place;
}

static void lift(struct yk_event_queue *agenda, int32_t place)
{
    const int32_t number = agenda->heap[place];
    while (place > 0 && comes_before(agenda, number, agenda->heap[(place - 1) / 2])) {
        set(agenda, place, agenda->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    set(agenda, place, number);
}

static void sink(struct yk_event_queue *agenda, int32_t place)
{
    const int32_t number = agenda->heap[place];
    for (int32_t below = 2 * place + 1; below < agenda->count; below = 2 * place + 1) {
        if (below + 1 < agenda->count &&
            comes_before(agenda, agenda->heap[below + 1], agenda->heap[below])) {
            below++;
        }
        if (!comes_before(agenda, agenda->heap[below], number)) {
            break;
        }
        set(agenda, place, agenda->heap[below]);
        place = below;
    }
    set(agenda, place, number);
}

void yk_event_queue_set(struct yk_event_queue *agenda, int32_t number, double at_s)
{
    agenda->at_s[number] = at_s;
    if (agenda->places[number] < 0) {
        set(agenda, agenda->count++, number);
    }
    lift(agenda, agenda->places[number]);
    sink(agenda, agenda->places[number]);
}

int32_t yk_event_queue_pop(struct yk_event_queue *agenda, double *out_at_s)
{
    if (agenda->count == 0) {
        return -1;
    }
    const int32_t first = agenda->heap[0];
    *out_at_s = agenda->at_s[first];
    agenda->places[first] = -1;
    agenda->count--;
    if (agenda->count > 0) {
        set(agenda, 0, agenda->heap[agenda->count]);
        sink(agenda, 0);
    }
    return first;
}
