#include "base/names.h"

#include "base/arena.h"
#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 64,
    EMPTY = -1
};

struct yk_names {
    struct yk_arena *arena;
    const char **names; /* by number */
    uint64_t *hashes;   /* by number */
    int32_t *slots;     /* open addressing, twice as many as names have room */
    int32_t count;
    int32_t capacity;
};

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    }
    return hash;
}

static int32_t *slot_of(const struct yk_names *names, uint64_t hash, const char *name)
{
    const uint64_t mask = (uint64_t)names->capacity * 2 - 1;
    uint64_t position = (hash ^ (hash >> 32)) & mask;
    while (names->slots[position] != EMPTY) {
        const int32_t number = names->slots[position];
        if (names->hashes[number] == hash && strcmp(names->names[number], name) == 0) {
            break;
        }
        position = (position + 1) & mask;
    }
    return &names->slots[position];
}

static yk_status grow(struct yk_names *names)
{
    if (names->capacity > INT32_MAX / 4) {
        return yk_fail(YK_ERROR_INPUT, "more than %d names", names->capacity);
    }
    const int32_t capacity = names->capacity ? names->capacity * 2 : FIRST_CAPACITY;
    const char **texts = realloc(names->names, (size_t)capacity * sizeof *texts);
    if (texts) {
        names->names = texts;
    }
    uint64_t *hashes = realloc(names->hashes, (size_t)capacity * sizeof *hashes);
    if (hashes) {
        names->hashes = hashes;
    }
    int32_t *slots = realloc(names->slots, (size_t)capacity * 2 * sizeof *slots);
    if (slots) {
        names->slots = slots;
    }
    YK_TRY_MEMORY(texts && hashes && slots);
    names->capacity = capacity;
    memset(slots, 0xff, (size_t)capacity * 2 * sizeof *slots);
    for (int32_t i = 0; i < names->count; i++) {
        *slot_of(names, hashes[i], texts[i]) = i;
    }
    return YK_OK;
}

yk_status yk_names_create(struct yk_names **out)
{
    struct yk_names *names = calloc(1, sizeof *names);
    YK_TRY_MEMORY(names);
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_arena_create(&names->arena), fail);
    YK_TRY_GOTO(grow(names), fail);
    *out = names;
    return YK_OK;
fail:
    yk_names_destroy(names);
    return status;
}

void yk_names_destroy(struct yk_names *names)
{
    if (!names) {
        return;
    }
    yk_arena_destroy(names->arena);
    free(names->names);
    free(names->hashes);
    free(names->slots);
    free(names);
}

yk_status yk_names_add(struct yk_names *names, const char *name, bool *added, int32_t *out)
{
    const uint64_t hash = hash_of(name);
    const int32_t existing = *slot_of(names, hash, name);
    *added = existing == EMPTY;
    if (!*added) {
        *out = existing;
        return YK_OK;
    }
    if (names->count == names->capacity) {
        YK_TRY(grow(names));
    }
    const char *copy = yk_arena_copy_text(names->arena, name, strlen(name));
    YK_TRY_MEMORY(copy);
    const int32_t number = names->count++;
    names->names[number] = copy;
    names->hashes[number] = hash;
    *slot_of(names, hash, name) = number;
    *out = number;
    return YK_OK;
}

int32_t yk_names_find(const struct yk_names *names, const char *name)
{
    return *slot_of(names, hash_of(name), name);
}

const char *yk_names_nearest(const struct yk_names *names, const char *word)
{
    return yk_nearest(word, names->names, (size_t)names->count);
}

int32_t yk_names_count(const struct yk_names *names)
{
    return names->count;
}

const char *yk_names_at(const struct yk_names *names, int32_t number)
{
    return names->names[number];
}
