/*
 * Arena: memory that is allocated bit by bit and freed all at once. Everything is zeroed and
 * aligned for any type. One arena serves one phase (reading a graph, one schedule) and one thread
 * at a time.
 */
#ifndef YK_BASE_ARENA_H
#define YK_BASE_ARENA_H

#include "base/status.h"

#include <stddef.h>

struct yk_arena;

yk_status yk_arena_create(struct yk_arena **out) YK_MUST_USE;
void yk_arena_destroy(struct yk_arena *arena);

/* `count` elements of `size` bytes, zeroed. NULL when count * size overflows or memory is out. */
void *yk_arena_allocate(struct yk_arena *arena, size_t count, size_t size);

/* A copy of the `length` bytes at `text`, with a terminating zero. NULL when memory is out. */
char *yk_arena_copy_text(struct yk_arena *arena, const char *text, size_t length);

/* Copies `text`, which may be NULL, into the arena. */
yk_status yk_arena_strdup(struct yk_arena *arena, const char *text, const char **out) YK_MUST_USE;

/* Points `pointer` at `count` new zeroed elements, or leaves the calling function with an error. */
#define YK_TRY_NEW(arena, pointer, count)                                                          \
    do {                                                                                           \
        (pointer) = yk_arena_allocate((arena), (size_t)(count), sizeof *(pointer));                \
        if (!(pointer)) {                                                                          \
            return yk_fail_out_of_memory();                                                        \
        }                                                                                          \
    } while (0)

/* Points `pointer` at a new zeroed struct in an arena of its own, its member `arena`, or leaves the
 * calling function with an error. */
#define YK_TRY_NEW_OWNER(pointer)                                                                  \
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

/* Evaluates `expression` with a new arena called `arena`, which ends with it; its error, or that
 * there is no arena, leaves the calling function. */
#define YK_TRY_IN_ARENA(arena, expression)                                                         \
    do {                                                                                           \
        struct yk_arena *(arena) = NULL;                                                           \
        YK_TRY(yk_arena_create(&(arena)));                                                         \
        const yk_status yk_arena_status_ = (expression);                                           \
        yk_arena_destroy(arena);                                                                   \
        YK_TRY(yk_arena_status_);                                                                  \
    } while (0)

#endif
