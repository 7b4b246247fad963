/*
 * Token ids: a list of tokens that grows. A plain struct that starts as {0}. Running out of memory
 * is remembered in `failed` and reported by yk_token_ids_status(), as yk_text does. One thread at a
 * time.
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

void yk_token_ids_add(struct yk_token_ids *ids, int32_t id);
void yk_token_ids_add_all(struct yk_token_ids *ids, const int32_t *items, int64_t count);

#endif
