#include "tokenizer/token_map.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 1 << 6, /* a power of two */
    SHOWN_COLUMNS = 80    /* of a token in messages */
};

struct entry {
    size_t start; /* in `bytes` */
    size_t length;
    int32_t id;
};

/* Open addressing, at most half full; the hash's upper half rules most others out. */
struct slot {
    uint32_t tag;
    int32_t entry; /* its place and one; 0: a free slot */
};

struct yk_token_map {
    struct yk_text bytes; /* tokens one after another, each with a zero behind */
    struct entry *entries;
    int32_t entry_capacity;
    int32_t count;
    int32_t *by_id; /* entries; −1: none */
    int32_t id_capacity;
    int32_t limit;
    struct slot *slots;
    size_t slot_count;
};

yk_status yk_token_map_create(struct yk_token_map **out)
{
    struct yk_token_map *map = calloc(1, sizeof *map);
    YK_TRY_MEMORY(map);
    map->slots = calloc(FIRST_SLOTS, sizeof *map->slots);
    if (!map->slots) {
        free(map);
        return yk_fail_out_of_memory();
    }
    map->slot_count = FIRST_SLOTS;
    *out = map;
    return YK_OK;
}

void yk_token_map_destroy(struct yk_token_map *map)
{
    if (map) {
        yk_text_free(&map->bytes);
        free(map->entries);
        free(map->by_id);
        free(map->slots);
        free(map);
    }
}

/* The slot of a token, or the free one where it belongs. */
static struct slot *seek(const struct yk_token_map *map, uint64_t hash, const char *token,
                         size_t length)
{
    const uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = (size_t)hash & (map->slot_count - 1);
    while (map->slots[at].entry > 0) {
        const struct slot *slot = &map->slots[at];
        if (slot->tag == tag) {
            const struct entry *entry = &map->entries[slot->entry - 1];
            if (entry->length == length &&
                memcmp(map->bytes.bytes + entry->start, token, length) == 0) {
                break;
            }
        }
        at = (at + 1) & (map->slot_count - 1);
    }
    return &map->slots[at];
}

static yk_status widen_slots(struct yk_token_map *map)
{
    struct slot *larger = calloc(map->slot_count * 2, sizeof *larger);
    YK_TRY_MEMORY(larger);
    free(map->slots);
    map->slots = larger;
    map->slot_count *= 2;
    for (int32_t i = 0; i < map->count; i++) {
        const struct entry *entry = &map->entries[i];
        const char *token = map->bytes.bytes + entry->start;
        const uint64_t hash = yk_hash_bytes(token, entry->length);
        *seek(map, hash, token, entry->length) =
            (struct slot){.tag = (uint32_t)(hash >> 32), .entry = i + 1};
    }
    return YK_OK;
}

/* Makes `by_id` reach up to `id`. */
static yk_status widen_ids(struct yk_token_map *map, int32_t id)
{
    if (id >= map->id_capacity) {
        const int32_t capacity =
            id < YK_TOKEN_MAP_MAX_TOKENS / 2 ? 2 * id + FIRST_SLOTS : YK_TOKEN_MAP_MAX_TOKENS;
        int32_t *by_id = realloc(map->by_id, (size_t)capacity * sizeof *by_id);
        YK_TRY_MEMORY(by_id);
        map->by_id = by_id;
        map->id_capacity = capacity;
    }
    for (; map->limit <= id; map->limit++) {
        map->by_id[map->limit] = -1;
    }
    return YK_OK;
}

static yk_status check_new(const struct yk_token_map *map, const char *token, size_t length,
                           int64_t id)
{
    size_t ignored = 0;
    const int shown = length < SHOWN_COLUMNS ? (int)length : SHOWN_COLUMNS;
    if (id < 0 || id >= YK_TOKEN_MAP_MAX_TOKENS) {
        return yk_fail(YK_ERROR_INPUT,
                       "the id of \"%.*s\" is %" PRId64 ", where 0 to %d are allowed", shown, token,
                       id, YK_TOKEN_MAP_MAX_TOKENS - 1);
    }
    if (yk_token_map_find(map, token, length) >= 0) {
        return yk_fail(YK_ERROR_INPUT, "the token \"%.*s\" stands there twice", shown, token);
    }
    const char *other = yk_token_map_token(map, (int32_t)id, &ignored);
    if (other) {
        return yk_fail(YK_ERROR_INPUT, "\"%.*s\" and \"%.*s\" have the same id, %" PRId64,
                       SHOWN_COLUMNS, other, shown, token, id);
    }
    return YK_OK;
}

yk_status yk_token_map_add(struct yk_token_map *map, const char *token, size_t length, int64_t id)
{
    YK_TRY(check_new(map, token, length, id));
    YK_TRY(yk_array_grow((void **)&map->entries, &map->entry_capacity, map->count,
                         sizeof *map->entries));
    if ((size_t)map->count * 2 >= map->slot_count) {
        YK_TRY(widen_slots(map));
    }
    const size_t start = map->bytes.length;
    yk_text_add_bytes(&map->bytes, token, length);
    yk_text_add_bytes(&map->bytes, "", 1);
    YK_TRY(yk_text_status(&map->bytes));
    YK_TRY(widen_ids(map, (int32_t)id));
    const uint64_t hash = yk_hash_bytes(token, length);
    map->entries[map->count] = (struct entry){.start = start, .length = length, .id = (int32_t)id};
    *seek(map, hash, token, length) =
        (struct slot){.tag = (uint32_t)(hash >> 32), .entry = map->count + 1};
    map->by_id[id] = map->count;
    map->count++;
    return YK_OK;
}

int32_t yk_token_map_find(const struct yk_token_map *map, const char *token, size_t length)
{
    const struct slot *slot = seek(map, yk_hash_bytes(token, length), token, length);
    return slot->entry > 0 ? map->entries[slot->entry - 1].id : -1;
}

const char *yk_token_map_token(const struct yk_token_map *map, int32_t id, size_t *length)
{
    const int32_t found = id >= 0 && id < map->limit ? map->by_id[id] : -1;
    if (found < 0) {
        return NULL;
    }
    *length = map->entries[found].length;
    return map->bytes.bytes + map->entries[found].start;
}

int32_t yk_token_map_limit(const struct yk_token_map *map)
{
    return map->limit;
}

int32_t yk_token_map_count(const struct yk_token_map *map)
{
    return map->count;
}
