/* Array: enlarges dynamic arrays. The capacity is doubled when it is used up. */
#ifndef YK_BASE_ARRAY_H
#define YK_BASE_ARRAY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Ensures capacity for at least `count` + 1 elements of `size` bytes. May move the array and then
 * changes `*array`. An empty array is NULL with a `*capacity` of 0. */
yk_status yk_array_grow(void **array, int32_t *capacity, int32_t count, size_t size) YK_MUST_USE;

/* Ensures capacity for one more element in `array`, which has `count` elements. If memory is
 * exhausted, the calling function returns the failure. */
#define YK_TRY_GROW_ARRAY(array, capacity, count)                                                  \
    YK_TRY(yk_array_grow((void **)&(array), &(capacity), (count), sizeof *(array)))

#endif
