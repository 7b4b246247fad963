/*
 * Bump allocator: divides one allocation into aligned arrays. With `base` NULL it only counts, so
 * that the same code computes the size of an allocation and the addresses in it.
 */
#ifndef YK_NN_BUMP_ALLOCATOR_H
#define YK_NN_BUMP_ALLOCATOR_H

#include "backend/backend.h"

#include <stddef.h>
#include <stdint.h>

struct yk_bump_allocator {
    char *base;  /* NULL: only count */
    size_t used; /* bytes */
};

/* Allocates `count` elements of `size` bytes, aligned for the device. NULL if it only counts. */
static inline void *yk_bump_allocate(struct yk_bump_allocator *allocator, int64_t count,
                                     size_t size)
{
    const size_t at = allocator->used;
    const size_t bytes = (size_t)count * size;
    allocator->used +=
        (bytes + YK_BACKEND_ALIGNMENT - 1) / YK_BACKEND_ALIGNMENT * YK_BACKEND_ALIGNMENT;
    return allocator->base ? allocator->base + at : NULL;
}

#endif
