#include "planner/search/parts.h"

#include "base/arena.h"
#include "base/units.h"

#include <stdlib.h>

struct room {
    double part; /* of the state that it holds at most */
    int32_t rank;
};

static double bytes_of(double room_bytes)
{
    return room_bytes > 0 ? room_bytes : 0; /* overdrawn, or no number: no room */
}

static int compare_rooms(const void *left, const void *right)
{
    const struct room *a = left;
    const struct room *b = right;
    if (a->part != b->part) {
        return a->part < b->part ? -1 : 1;
    }
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Water runs into vessels of unequal height: from the lowest on, those below the level are full,
 * and all others stand at the level. */
static void fill(struct room *rooms, int32_t count, double *parts)
{
    double rest = 1;
    qsort(rooms, (size_t)count, sizeof *rooms, compare_rooms);
    for (int32_t k = 0; k < count; k++) {
        const double level = rest / (count - k);
        const double part = rooms[k].part < level ? rooms[k].part : level;
        parts[rooms[k].rank] = part;
        rest -= part;
    }
}

static yk_status refuse(int32_t count, double state_bytes, const double *room_bytes, double sum,
                        double *parts)
{
    char state_words[YK_UNITS_SIZE];
    char room_words[YK_UNITS_SIZE];
    for (int32_t i = 0; i < count; i++) {
        parts[i] = sum > 0 ? bytes_of(room_bytes[i]) / sum : 1.0 / count;
    }
    yk_units_format(state_bytes, YK_UNIT_BYTES, state_words);
    yk_units_format(sum, YK_UNIT_BYTES, room_words);
    return yk_fail(YK_ERROR_NO_FIT,
                   "%s of sharded state do not fit into the %s that are left for it; recompute, "
                   "take fewer samples or more devices",
                   state_words, room_words);
}

yk_status yk_parts_find(int32_t count, double state_bytes, const double *room_bytes,
                        double *out_parts)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += bytes_of(room_bytes[i]);
    }
    if (sum < state_bytes) {
        return refuse(count, state_bytes, room_bytes, sum, out_parts);
    }
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct room *rooms = yk_arena_allocate(arena, (size_t)count, sizeof *rooms);
    if (!rooms) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    for (int32_t i = 0; i < count; i++) {
        const double part = state_bytes > 0 ? bytes_of(room_bytes[i]) / state_bytes : 1;
        rooms[i] = (struct room){part, i};
    }
    fill(rooms, count, out_parts);
    yk_arena_destroy(arena);
    return YK_OK;
}
