/* Array: enlarges dynamic arrays. The capacity is doubled when it is used up. */
#ifndef YK_BASE_ARRAY_H
#define YK_BASE_ARRAY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Ensures capacity for at least `count` + 1 elements of `size` bytes. If the array must be moved,
 * changes `*array`. Before the first call, `*array` is NULL and `*capacity` is 0. */
yk_status yk_array_grow(void **array, int32_t *capacity, int32_t count, size_t size) YK_MUST_USE;

/* Ensures capacity for one more element in `array`, which has `count` elements. If memory is
 * exhausted, the calling function returns the failure. */
#define YK_TRY_GROW_ARRAY(array, capacity, count)                                                  \
    YK_TRY(yk_array_grow((void **)&(array), &(capacity), (count), sizeof *(array)))

#endif
