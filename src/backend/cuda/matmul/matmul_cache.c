#include "backend/cuda/matmul/matmul_cache.h"

#include "base/hash.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    struct yk_matmul_shape shape;
    struct yk_matmul_algorithm_choice choice;
    bool used;
};

/* What a line of the file holds, in hexadecimal. */
struct line {
    uint64_t origin;
    struct yk_matmul_shape shape;
    struct yk_matmul_algorithm_choice choice;
};
_Static_assert(sizeof(struct line) == sizeof(uint64_t) + sizeof(struct yk_matmul_shape) +
                                          sizeof(struct yk_matmul_algorithm_choice),
               "lines have no padding");

enum {
    FIRST_CAPACITY = 256,
    LINE_DIGITS = 2 * sizeof(struct line),
    LINE_SIZE = LINE_DIGITS + 2,
};

struct yk_matmul_cache {
    struct entry *entries; /* open addressing; never more than half full */
    size_t capacity;
    size_t count;
    char *path;      /* NULL means: no file */
    uint64_t origin; /* hash of the origin text */
};

static struct entry *find_entry(struct entry *entries, size_t capacity,
                                const struct yk_matmul_shape *shape)
{
    size_t at = (size_t)yk_hash_bytes(shape, sizeof *shape) % capacity;
    while (entries[at].used && memcmp(&entries[at].shape, shape, sizeof *shape) != 0) {
        at = (at + 1) % capacity;
    }
    return &entries[at];
}

static yk_status grow(struct yk_matmul_cache *cache)
{
    const size_t capacity = cache->capacity > 0 ? 2 * cache->capacity : FIRST_CAPACITY;
    struct entry *entries = calloc(capacity, sizeof *entries);
    YK_TRY_ALLOCATED(entries);
    for (size_t i = 0; i < cache->capacity; i++) {
        if (cache->entries[i].used) {
            *find_entry(entries, capacity, &cache->entries[i].shape) = cache->entries[i];
        }
    }
    free(cache->entries);
    cache->entries = entries;
    cache->capacity = capacity;
    return YK_OK;
}

static yk_status keep(struct yk_matmul_cache *cache, const struct yk_matmul_shape *shape,
                      const struct yk_matmul_algorithm_choice *choice)
{
    if (2 * (cache->count + 1) > cache->capacity) {
        YK_TRY(grow(cache));
    }
    struct entry *entry = find_entry(cache->entries, cache->capacity, shape);
    cache->count += entry->used ? 0 : 1;
    *entry = (struct entry){*shape, *choice, true};
    return YK_OK;
}

const struct yk_matmul_algorithm_choice *yk_matmul_cache_find(const struct yk_matmul_cache *cache,
                                                              const struct yk_matmul_shape *shape)
{
    if (cache->capacity == 0) {
        return NULL;
    }
    const struct entry *entry = find_entry(cache->entries, cache->capacity, shape);
    return entry->used ? &entry->choice : NULL;
}

/* ---- the file ---- */

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Returns false if the text is not a line in hexadecimal. */
static bool parse_line(const char *text, struct line *out)
{
    unsigned char *bytes = (unsigned char *)out;
    for (size_t i = 0; i < sizeof *out; i++) {
        const int high = digit(text[2 * i]);
        const int low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        bytes[i] = (unsigned char)(high * 16 + low);
    }
    return text[LINE_DIGITS] == '\n';
}

static yk_status read_file(struct yk_matmul_cache *cache)
{
    char text[LINE_SIZE + 1];
    struct line line;
    yk_status status = YK_OK;
    FILE *file = fopen(cache->path, "r");
    if (!file) {
        return YK_OK;
    }
    while (status == YK_OK && fgets(text, sizeof text, file)) {
        if (parse_line(text, &line) && line.origin == cache->origin) {
            status = keep(cache, &line.shape, &line.choice);
        }
    }
    (void)fclose(file);
    return status;
}

void yk_matmul_cache_append_line_to_file(const char *path, const char *line, size_t length)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0644);
    if (file >= 0) {
        const ssize_t written = write(file, line, length);
        (void)written;
        (void)close(file);
    }
}

yk_status yk_matmul_cache_open(const char *path, const char *origin, struct yk_matmul_cache **out)
{
    struct yk_matmul_cache *cache = calloc(1, sizeof *cache);
    YK_TRY_ALLOCATED(cache);
    yk_status status = YK_OK;
    cache->origin = yk_hash_bytes(origin, strlen(origin));
    if (path) {
        cache->path = strdup(path);
        status = cache->path ? read_file(cache) : yk_fail_out_of_memory();
    }
    YK_TRY_OR_CLEAN_UP(status, yk_matmul_cache_close(cache));
    *out = cache;
    return YK_OK;
}

void yk_matmul_cache_close(struct yk_matmul_cache *cache)
{
    if (cache) {
        free(cache->entries);
        free(cache->path);
        free(cache);
    }
}

yk_status yk_matmul_cache_add(struct yk_matmul_cache *cache, const struct yk_matmul_shape *shape,
                              const struct yk_matmul_algorithm_choice *choice)
{
    static const char digits[] = "0123456789abcdef";
    const struct line line = {cache->origin, *shape, *choice};
    unsigned char bytes[sizeof line];
    char text[LINE_SIZE];
    memcpy(bytes, &line, sizeof line);
    YK_TRY(keep(cache, shape, choice));
    if (!cache->path || !choice->exists) {
        return YK_OK;
    }
    for (size_t i = 0; i < sizeof line; i++) {
        text[2 * i] = digits[bytes[i] / 16];
        text[2 * i + 1] = digits[bytes[i] % 16];
    }
    text[LINE_DIGITS] = '\n';
    yk_matmul_cache_append_line_to_file(cache->path, text, LINE_DIGITS + 1);
    return YK_OK;
}
