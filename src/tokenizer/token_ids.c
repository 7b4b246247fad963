#include "tokenizer/token_ids.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 256
};

void yk_token_ids_free(struct yk_token_ids *ids)
{
    free(ids->items);
    *ids = (struct yk_token_ids){0};
}

yk_status yk_token_ids_status(const struct yk_token_ids *ids)
{
    return ids->failed ? yk_fail_out_of_memory() : YK_OK;
}

bool yk_token_ids_reserve(struct yk_token_ids *ids, int64_t more)
{
    if (ids->failed || more <= ids->capacity - ids->count) {
        return !ids->failed;
    }
    int64_t capacity = ids->capacity > 0 ? ids->capacity : FIRST_CAPACITY;
    while (capacity - ids->count < more && capacity <= INT64_MAX / 16) {
        capacity *= 2;
    }
    int32_t *items =
        capacity - ids->count < more ? NULL : realloc(ids->items, (size_t)capacity * sizeof *items);
    if (!items) {
        ids->failed = true;
        return false;
    }
    ids->items = items;
    ids->capacity = capacity;
    return true;
}

void yk_token_ids_add_all(struct yk_token_ids *ids, const int32_t *items, int64_t count)
{
    if (count > 0 && yk_token_ids_reserve(ids, count)) {
        memcpy(ids->items + ids->count, items, (size_t)count * sizeof *items);
        ids->count += count;
    }
}
