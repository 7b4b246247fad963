/* Carve: cuts one allocation into aligned parts. With no memory at all it only counts, so that
 * the same lines say how much is needed and where everything is. */
#ifndef YK_NN_CARVE_H
#define YK_NN_CARVE_H

#include "backend/backend.h"

#include <stddef.h>
#include <stdint.h>

struct yk_carver {
    char *base; /* NULL: count only */
    size_t used;
};

/* `count` elements of `size` bytes, aligned as a device's memory is. */
static inline void *yk_carve(struct yk_carver *carver, int64_t count, size_t size)
{
    const size_t at = carver->used;
    const size_t bytes = (size_t)count * size;
    carver->used +=
        (bytes + YK_BACKEND_ALIGNMENT - 1) / YK_BACKEND_ALIGNMENT * YK_BACKEND_ALIGNMENT;
    return carver->base ? carver->base + at : NULL;
}

#endif
