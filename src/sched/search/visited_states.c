#include "sched/search/partial_schedule.h"

#include <string.h>

enum {
    WAYS = 4
};
static const size_t TABLE_BYTES = (size_t)96 << 20;

struct yk_visited_states {
    uint64_t *hashes; /* 0: an empty entry */
    uint16_t *keys;   /* (entries, key_length) */
    int64_t *times;   /* (entries, most_times) */
    size_t bucket_mask;
    size_t next_way; /* the entry of a full bucket that is forgotten next */
    size_t key_length;
    size_t max_times;
};

yk_status yk_visited_states_create(struct yk_arena *arena, int32_t key_length, int32_t max_times,
                                   int64_t max_states, struct yk_visited_states **out)
{
    struct yk_visited_states *visited = NULL;
    YK_TRY_NEW(arena, visited, 1);
    visited->key_length = (size_t)key_length;
    visited->max_times = (size_t)max_times;
    const size_t entry_bytes = sizeof(uint64_t) + visited->key_length * sizeof(uint16_t) +
                               visited->max_times * sizeof(int64_t);
    size_t buckets = 1;
    while (buckets * 2 * WAYS * entry_bytes <= TABLE_BYTES && buckets * WAYS < (size_t)max_states) {
        buckets *= 2;
    }
    YK_TRY_NEW(arena, visited->hashes, buckets * WAYS);
    YK_TRY_NEW(arena, visited->keys, buckets * WAYS * visited->key_length);
    YK_TRY_NEW(arena, visited->times, buckets * WAYS * visited->max_times);
    visited->bucket_mask = buckets - 1;
    *out = visited;
    return YK_OK;
}

static uint64_t hash_of(const uint16_t *key, size_t length)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ key[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash | 1;
}

/* Whether every time of `a` is at or before that of `b`. */
static bool no_later(const int64_t *a, const int64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i] > b[i]) {
            return false;
        }
    }
    return true;
}

bool yk_visited_states_dominate_or_add(struct yk_visited_states *visited, const uint16_t *key,
                                       const int64_t *times, int32_t time_count)
{
    const size_t count = (size_t)time_count;
    const uint64_t hash = hash_of(key, visited->key_length);
    const size_t first = ((size_t)(hash >> 20) & visited->bucket_mask) * WAYS;
    size_t place = SIZE_MAX;
    for (size_t entry = first; entry < first + WAYS; entry++) {
        if (visited->hashes[entry] == 0) {
            place = place == SIZE_MAX ? entry : place;
            continue;
        }
        if (visited->hashes[entry] != hash || memcmp(&visited->keys[entry * visited->key_length],
                                                     key, visited->key_length * sizeof *key) != 0) {
            continue;
        }
        int64_t *known = &visited->times[entry * visited->max_times];
        if (no_later(known, times, count)) {
            return true;
        }
        if (no_later(times, known, count)) {
            place = entry; /* the new state makes this one needless */
        }
    }
    if (place == SIZE_MAX) {
        place = first + visited->next_way++ % WAYS;
    }
    visited->hashes[place] = hash;
    memcpy(&visited->keys[place * visited->key_length], key, visited->key_length * sizeof *key);
    memcpy(&visited->times[place * visited->max_times], times, count * sizeof *times);
    return false;
}
