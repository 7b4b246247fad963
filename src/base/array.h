/* Array: growth of a dynamic array by doubling. */
#ifndef YK_BASE_ARRAY_H
#define YK_BASE_ARRAY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Ensures capacity for at least `count` + 1 elements of `size` bytes. `*array` may move. An empty
 * array is NULL with a `*capacity` of 0. */
yk_status yk_array_grow(void **array, int32_t *capacity, int32_t count, size_t size) YK_MUST_USE;

/* Ensures capacity for one more element of `array`, which has `count`. Returns a failure from the
 * calling function if memory is exhausted. */
#define YK_TRY_GROW(array, capacity, count)                                                        \
    YK_TRY(yk_array_grow((void **)&(array), &(capacity), (count), sizeof *(array)))

#endif
