/*
 * Bump allocator: divides one allocation into aligned arrays. If `base` is NULL, the allocator only
 * counts the bytes. So the same code can first compute the size of the allocation, and then the
 * addresses of the arrays.
 */
#ifndef YK_NN_BUMP_ALLOCATOR_H
#define YK_NN_BUMP_ALLOCATOR_H

#include "backend/backend.h"

#include <stddef.h>
#include <stdint.h>

struct yk_bump_allocator {
    char *base;  /* beginning of the allocation; NULL means: only count the bytes */
    size_t used; /* number of bytes used so far */
};

/* Allocates `count` elements of `size` bytes, aligned for the device. Returns NULL if the allocator
 * only counts. */
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
