/*
 * Token ids: a list of token ids that grows when ids are added. The list is a plain struct,
 * initialized with {0}. If an addition fails because there is not enough memory, `failed` is set
 * and yk_token_ids_status() returns the error. Only one thread at a time may use a list.
 */
#ifndef YK_TOKENIZER_TOKEN_IDS_H
#define YK_TOKENIZER_TOKEN_IDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_token_ids {
    int32_t *items;
    int64_t count;
    int64_t capacity;
    bool failed;
};

void yk_token_ids_free(struct yk_token_ids *ids);
yk_status yk_token_ids_status(const struct yk_token_ids *ids) YK_MUST_USE;

/* Ensures capacity for `more` ids. Returns false if there is not enough memory. */
bool yk_token_ids_reserve(struct yk_token_ids *ids, int64_t more);

static inline void yk_token_ids_add(struct yk_token_ids *ids, int32_t id)
{
    if (ids->count < ids->capacity || yk_token_ids_reserve(ids, 1)) {
        ids->items[ids->count++] = id;
    }
}

void yk_token_ids_add_all(struct yk_token_ids *ids, const int32_t *items, int64_t count);

#endif
