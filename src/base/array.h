/* Grow: room for one more element at the end of an array that is reallocated by doubling. */
#ifndef YK_BASE_ARRAY_H
#define YK_BASE_ARRAY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Makes `*array` hold at least `count` + 1 elements of `size` bytes; `*capacity` starts as 0. */
yk_status yk_array_grow(void **array, int32_t *capacity, int32_t count, size_t size) YK_MUST_USE;

#endif
