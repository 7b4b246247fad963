/*
 * Arena: an allocator whose memory is freed all at once. Allocations are zeroed and aligned for any
 * type. An arena belongs to one phase of the work (reading a graph, one schedule). Only one thread
 * at a time may use an arena.
 */
#ifndef YK_BASE_ARENA_H
#define YK_BASE_ARENA_H

#include "base/status.h"

#include <stddef.h>

struct yk_arena;

yk_status yk_arena_create(struct yk_arena **out) YK_MUST_USE;
void yk_arena_destroy(struct yk_arena *arena);

/* Allocates `count` zeroed elements of `size` bytes. Returns NULL if count * size overflows or if
 * memory is exhausted. */
void *yk_arena_allocate(struct yk_arena *arena, size_t count, size_t size);

/* Copies `length` bytes into the arena and adds a terminating zero. Returns NULL if memory is
 * exhausted. */
char *yk_arena_copy_text(struct yk_arena *arena, const char *text, size_t length);

/* Formats a text like printf() into the arena. Returns NULL if memory is exhausted. */
char *yk_arena_format(struct yk_arena *arena, const char *format, ...) YK_PRINTF_LIKE(2, 3);

/* Copies a string into the arena. If `text` is NULL, sets `*out` to NULL. */
yk_status yk_arena_strdup(struct yk_arena *arena, const char *text, const char **out) YK_MUST_USE;

/* Sets `pointer` to `count` new zeroed elements. If memory is exhausted, the calling function
 * returns the failure. */
#define YK_TRY_NEW(arena, pointer, count)                                                          \
    do {                                                                                           \
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): may be an array of pointers */              \
        (pointer) = yk_arena_allocate((arena), (size_t)(count), sizeof *(pointer));                \
        if (!(pointer)) {                                                                          \
            return yk_fail_out_of_memory();                                                        \
        }                                                                                          \
    } while (0)

/* Creates an arena, allocates a zeroed struct in this arena, and sets `pointer` to the struct
 * and `pointer->arena` to the arena. If memory is exhausted, the calling function returns the
 * failure. */
#define YK_TRY_NEW_WITH_OWN_ARENA(pointer)                                                         \
    do {                                                                                           \
        struct yk_arena *yk_arena_owned_ = NULL;                                                   \
        YK_TRY(yk_arena_create(&yk_arena_owned_));                                                 \
        (pointer) = yk_arena_allocate(yk_arena_owned_, 1, sizeof *(pointer));                      \
        if (!(pointer)) {                                                                          \
            yk_arena_destroy(yk_arena_owned_);                                                     \
            return yk_fail_out_of_memory();                                                        \
        }                                                                                          \
        (pointer)->arena = yk_arena_owned_;                                                        \
    } while (0)

/* Creates a temporary arena in a new variable with the name `arena`, evaluates `expression`, and
 * destroys the arena. If the arena cannot be created or the expression fails, the calling function
 * returns the failure. */
#define YK_TRY_WITH_TEMPORARY_ARENA(arena, expression)                                             \
    do {                                                                                           \
        struct yk_arena *(arena) = NULL;                                                           \
        YK_TRY(yk_arena_create(&(arena)));                                                         \
        const yk_status yk_arena_status_ = (expression);                                           \
        yk_arena_destroy(arena);                                                                   \
        YK_TRY(yk_arena_status_);                                                                  \
    } while (0)

#endif
