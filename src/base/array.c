#include "base/array.h"

#include <stdlib.h>

yk_status yk_array_grow(void **array, int32_t *capacity, int32_t count, size_t size)
{
    if (count < *capacity) {
        return YK_OK;
    }
    if (*capacity > INT32_MAX / 2) {
        return yk_fail(YK_ERROR_INPUT, "more than %d entries in one list", *capacity);
    }
    const int32_t larger = *capacity ? *capacity * 2 : 16;
    void *moved = realloc(*array, (size_t)larger * size);
    YK_TRY_ALLOCATED(moved);
    *array = moved;
    *capacity = larger;
    return YK_OK;
}
