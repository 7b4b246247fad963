#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BLOCK_BYTES = 4096,
    LARGEST_STEP_BYTES = 1 << 20
};

struct block {
    struct block *next;
    size_t size;
    size_t used;
    alignas(max_align_t) unsigned char bytes[];
};

struct yk_arena {
    struct block *blocks; /* the newest first; only this one has free space */
};

yk_status yk_arena_create(struct yk_arena **out)
{
    struct yk_arena *arena = calloc(1, sizeof *arena);
    YK_TRY_ALLOCATED(arena);
    *out = arena;
    return YK_OK;
}

void yk_arena_destroy(struct yk_arena *arena)
{
    if (!arena) {
        return;
    }
    struct block *block = arena->blocks;
    while (block) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

/* The size of blocks doubles up to a limit: small arenas stay small, and large ones need few
 * allocations. */
static struct block *add_block(struct yk_arena *arena, size_t min_bytes)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK_BYTES;
    if (size > LARGEST_STEP_BYTES) {
        size = LARGEST_STEP_BYTES;
    }
    if (size < min_bytes) {
        size = min_bytes;
    }
    struct block *block = calloc(1, sizeof *block + size);
    if (!block) {
        return NULL;
    }
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *yk_arena_allocate(struct yk_arena *arena, size_t count, size_t size)
{
    const size_t alignment = alignof(max_align_t);
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + alignment - 1) / alignment * alignment;
    struct block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) {
        block = add_block(arena, bytes);
        if (!block) {
            return NULL;
        }
    }
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

char *yk_arena_copy_text(struct yk_arena *arena, const char *text, size_t length)
{
    char *copy = yk_arena_allocate(arena, length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *yk_arena_format(struct yk_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length >= 0 ? yk_arena_allocate(arena, (size_t)length + 1, 1) : NULL;
    if (text) {
        va_start(arguments, format);
        (void)vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}

yk_status yk_arena_strdup(struct yk_arena *arena, const char *text, const char **out)
{
    *out = text ? yk_arena_copy_text(arena, text, strlen(text)) : NULL;
    return text && !*out ? yk_fail_out_of_memory() : YK_OK;
}
