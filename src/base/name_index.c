#include "base/name_index.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/nearest_name.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 64
};

/* The tag, the upper half of the hash, excludes most other names without a comparison. */
struct slot {
    uint32_t tag;
    int32_t number; /* number + 1; 0 means: empty */
};

struct yk_name_index {
    struct yk_arena *arena; /* owns this struct and the names */
    const char **names;     /* by number */
    size_t *lengths;        /* by number */
    struct slot *slots;     /* (2 capacity) open addressing */
    int32_t count;
    int32_t capacity;
};

/* The slot of a name, or the empty one where it belongs. */
static struct slot *slot_of(const struct yk_name_index *names, uint64_t hash, const char *name,
                            size_t length)
{
    const uint64_t mask = (uint64_t)names->capacity * 2 - 1;
    uint64_t position = hash & mask;
    while (names->slots[position].number > 0) {
        const int32_t number = names->slots[position].number - 1;
        if (names->slots[position].tag == (uint32_t)(hash >> 32) &&
            names->lengths[number] == length && memcmp(names->names[number], name, length) == 0) {
            break;
        }
        position = (position + 1) & mask;
    }
    return &names->slots[position];
}

static void fill_slot(struct yk_name_index *names, uint64_t hash, int32_t number)
{
    *slot_of(names, hash, names->names[number], names->lengths[number]) =
        (struct slot){.tag = (uint32_t)(hash >> 32), .number = number + 1};
}

static yk_status grow(struct yk_name_index *names)
{
    if (names->capacity > INT32_MAX / 4) {
        return yk_fail(YK_ERROR_INPUT, "more than %d names", names->capacity);
    }
    const int32_t capacity = names->capacity ? names->capacity * 2 : FIRST_CAPACITY;
    const char **texts = realloc(names->names, (size_t)capacity * sizeof *texts);
    names->names = texts ? texts : names->names;
    size_t *lengths = realloc(names->lengths, (size_t)capacity * sizeof *lengths);
    names->lengths = lengths ? lengths : names->lengths;
    struct slot *slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (!texts || !lengths || !slots) {
        free(slots);
        return yk_fail_out_of_memory();
    }
    free(names->slots);
    names->slots = slots;
    names->capacity = capacity;
    for (int32_t i = 0; i < names->count; i++) {
        fill_slot(names, yk_hash_bytes(texts[i], lengths[i]), i);
    }
    return YK_OK;
}

yk_status yk_name_index_create(struct yk_name_index **out)
{
    struct yk_name_index *names = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(names);
    YK_TRY_OR_CLEAN_UP(grow(names), yk_name_index_destroy(names));
    *out = names;
    return YK_OK;
}

void yk_name_index_destroy(struct yk_name_index *names)
{
    if (names) {
        free(names->names);
        free(names->lengths);
        free(names->slots);
        yk_arena_destroy(names->arena);
    }
}

yk_status yk_name_index_add_bytes(struct yk_name_index *names, const char *bytes, size_t length,
                                  bool *added, int32_t *out)
{
    const uint64_t hash = yk_hash_bytes(bytes, length);
    *out = slot_of(names, hash, bytes, length)->number - 1;
    *added = *out < 0;
    if (!*added) {
        return YK_OK;
    }
    if (names->count == names->capacity) {
        YK_TRY(grow(names));
    }
    const char *copy = yk_arena_copy_text(names->arena, bytes, length);
    YK_TRY_ALLOCATED(copy);
    names->names[names->count] = copy;
    names->lengths[names->count] = length;
    fill_slot(names, hash, names->count);
    *out = names->count++;
    return YK_OK;
}

yk_status yk_name_index_add(struct yk_name_index *names, const char *name, bool *added,
                            int32_t *out)
{
    return yk_name_index_add_bytes(names, name, strlen(name), added, out);
}

int32_t yk_name_index_find_bytes(const struct yk_name_index *names, const char *bytes,
                                 size_t length)
{
    return slot_of(names, yk_hash_bytes(bytes, length), bytes, length)->number - 1;
}

int32_t yk_name_index_find(const struct yk_name_index *names, const char *name)
{
    return yk_name_index_find_bytes(names, name, strlen(name));
}

const char *yk_name_index_find_nearest(const struct yk_name_index *names, const char *word)
{
    return yk_nearest_name(word, names->names, (size_t)names->count);
}

yk_status yk_name_index_find_or_fail(const struct yk_name_index *names, const char *name,
                                     const char *unknown, int32_t *out)
{
    *out = yk_name_index_find(names, name);
    if (*out >= 0) {
        return YK_OK;
    }
    const char *nearest = yk_name_index_find_nearest(names, name);
    return yk_fail(YK_ERROR_INPUT, "%s \"%s\"%s%s%s", unknown, name,
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

int32_t yk_name_index_count(const struct yk_name_index *names)
{
    return names->count;
}

const char *yk_name_index_name(const struct yk_name_index *names, int32_t number)
{
    return names->names[number];
}

size_t yk_name_index_name_length(const struct yk_name_index *names, int32_t number)
{
    return names->lengths[number];
}
