/*
 * Ids: a row of tokens that grows.
 *
 * A plain struct that starts as {0} and is freed by yk_ids_free(). Running out of memory is
 * remembered in `failed` and reported once by yk_ids_status(), as yk_text does. One thread at a
 * time.
 */
#ifndef YK_DATA_IDS_H
#define YK_DATA_IDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_ids {
    int32_t *items;
    int64_t count;
    int64_t capacity;
    bool failed;
};

void yk_ids_free(struct yk_ids *ids);
yk_status yk_ids_status(const struct yk_ids *ids) YK_MUST_USE;

void yk_ids_add(struct yk_ids *ids, int32_t id);
void yk_ids_add_all(struct yk_ids *ids, const int32_t *items, int64_t count);

#endif
