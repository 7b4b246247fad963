#include "data/packing.h"

#include <assert.h>
#include <stdlib.h>

/* What is made on the way. */
struct work {
    const int64_t *lengths;
    int64_t count;
    int64_t *order;   /* (count) longest first */
    int64_t *windows; /* (count) of each thing */
    int64_t *free;    /* (2 leaves) a tree over the windows: leaf `leaves` + w is the room left in
                         window w, node n the most of 2n and 2n + 1, the root 1 */
    int64_t leaves;   /* a power of two, at least as many as there are things */
};

void yk_packing_free(struct yk_packing *packing)
{
    free(packing->items);
    free(packing->starts);
    *packing = (struct yk_packing){0};
}

/* Counts the things of each length and gives each length its places. */
static yk_status sort(struct work *work, int64_t room)
{
    int64_t *next = calloc((size_t)room + 2, sizeof *next);
    if (!next) {
        return yk_fail_out_of_memory();
    }
    for (int64_t i = 0; i < work->count; i++) {
        assert(work->lengths[i] > 0 && work->lengths[i] <= room);
        next[room - work->lengths[i] + 1]++;
    }
    for (int64_t i = 0; i < room; i++) {
        next[i + 1] += next[i];
    }
    for (int64_t i = 0; i < work->count; i++) {
        work->order[next[room - work->lengths[i]]++] = i;
    }
    free(next);
    return YK_OK;
}

/* Puts a thing into the first window that has room for it, and returns the window. */
static int64_t place(struct work *work, int64_t length)
{
    int64_t *room = work->free;
    int64_t node = 1;
    while (node < work->leaves) {
        node = 2 * node + (room[2 * node] < length);
    }
    const int64_t window = node - work->leaves;
    room[node] -= length;
    for (node /= 2; node > 0; node /= 2) {
        const int64_t left = room[2 * node];
        const int64_t right = room[2 * node + 1];
        room[node] = left > right ? left : right;
    }
    return window;
}

static yk_status list_windows(const struct work *work, struct yk_packing *out)
{
    out->items = calloc((size_t)work->count, sizeof *out->items);
    out->starts = calloc((size_t)out->windows + 2, sizeof *out->starts);
    if (!out->items || !out->starts) {
        return yk_fail_out_of_memory();
    }
    /* One place further on, so that filling in moves each start to where it belongs. */
    int64_t *next = out->starts + 1;
    for (int64_t i = 0; i < work->count; i++) {
        if (work->windows[i] + 1 < out->windows) {
            next[work->windows[i] + 1]++;
        }
    }
    for (int64_t w = 1; w < out->windows; w++) {
        next[w] += next[w - 1];
    }
    for (int64_t i = 0; i < work->count; i++) {
        const int64_t item = work->order[i];
        out->items[next[work->windows[item]]++] = item;
    }
    return YK_OK;
}

static yk_status pack(struct work *work, int64_t room, struct yk_packing *out)
{
    work->leaves = 1;
    while (work->leaves < work->count) {
        work->leaves *= 2;
    }
    work->order = calloc((size_t)work->count, sizeof *work->order);
    work->windows = calloc((size_t)work->count, sizeof *work->windows);
    work->free = calloc(2 * (size_t)work->leaves, sizeof *work->free);
    if (!work->order || !work->windows || !work->free) {
        return yk_fail_out_of_memory();
    }
    YK_TRY(sort(work, room));
    for (int64_t node = 1; node < 2 * work->leaves; node++) {
        work->free[node] = room;
    }
    for (int64_t i = 0; i < work->count; i++) {
        const int64_t item = work->order[i];
        const int64_t window = place(work, work->lengths[item]);
        work->windows[item] = window;
        out->windows = window + 1 > out->windows ? window + 1 : out->windows;
    }
    return list_windows(work, out);
}

yk_status yk_packing_compute(const int64_t *lengths, int64_t count, int64_t room,
                             struct yk_packing *out)
{
    assert(count > 0);
    struct work work = {.lengths = lengths, .count = count};
    struct yk_packing packing = {0};
    const yk_status status = pack(&work, room, &packing);
    free(work.order);
    free(work.windows);
    free(work.free);
    if (status != YK_OK) {
        yk_packing_free(&packing);
        return status;
    }
    *out = packing;
    return YK_OK;
}
