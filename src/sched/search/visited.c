#include "sched/search/visited.h"

#include <string.h>

enum {
    WAYS = 4
};
static const size_t TABLE_BYTES = (size_t)96 << 20;

struct yk_visited {
    uint64_t *hashes; /* 0: an empty entry */
    uint16_t *keys;   /* (entries, key_length) */
    int64_t *times;   /* (entries, most_times) */
    size_t bucket_mask;
    size_t next_way; /* the entry of a full bucket that is forgotten next */
    size_t key_length;
    size_t most_times;
};

yk_status yk_visited_create(struct yk_arena *arena, int32_t key_length, int32_t most_times,
                            int64_t most_states, struct yk_visited **out)
{
    struct yk_visited *seen = NULL;
    YK_TRY_NEW(arena, seen, 1);
    seen->key_length = (size_t)key_length;
    seen->most_times = (size_t)most_times;
    const size_t entry_bytes =
        sizeof(uint64_t) + seen->key_length * sizeof(uint16_t) + seen->most_times * sizeof(int64_t);
    size_t buckets = 1;
    while (buckets * 2 * WAYS * entry_bytes <= TABLE_BYTES &&
           buckets * WAYS < (size_t)most_states) {
        buckets *= 2;
    }
    YK_TRY_NEW(arena, seen->hashes, buckets * WAYS);
    YK_TRY_NEW(arena, seen->keys, buckets * WAYS * seen->key_length);
    YK_TRY_NEW(arena, seen->times, buckets * WAYS * seen->most_times);
    seen->bucket_mask = buckets - 1;
    *out = seen;
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

bool yk_visited_dominates(struct yk_visited *seen, const uint16_t *key, const int64_t *times,
                          int32_t time_count)
{
    const size_t count = (size_t)time_count;
    const uint64_t hash = hash_of(key, seen->key_length);
    const size_t first = ((size_t)(hash >> 20) & seen->bucket_mask) * WAYS;
    size_t place = SIZE_MAX;
    for (size_t entry = first; entry < first + WAYS; entry++) {
        if (seen->hashes[entry] == 0) {
            place = place == SIZE_MAX ? entry : place;
            continue;
        }
        if (seen->hashes[entry] != hash || memcmp(&seen->keys[entry * seen->key_length], key,
                                                  seen->key_length * sizeof *key) != 0) {
            continue;
        }
        int64_t *known = &seen->times[entry * seen->most_times];
        if (no_later(known, times, count)) {
            return true;
        }
        if (no_later(times, known, count)) {
            place = entry; /* the new state makes this one needless */
        }
    }
    if (place == SIZE_MAX) {
        place = first + seen->next_way++ % WAYS;
    }
    seen->hashes[place] = hash;
    memcpy(&seen->keys[place * seen->key_length], key, seen->key_length * sizeof *key);
    memcpy(&seen->times[place * seen->most_times], times, count * sizeof *times);
    return false;
}
