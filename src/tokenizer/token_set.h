/*
 * Token matcher: searches a text for any of a set of names. A matcher is immutable: any number of
 * threads may share one. The names are not copied and must outlive it.
 */
#ifndef YK_TOKENIZER_TOKEN_SET_H
#define YK_TOKENIZER_TOKEN_SET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_token_set;

struct yk_token_name {
    const char *bytes; /* at least one byte; unique in a matcher */
    size_t length;
    int32_t number; /* chosen by the caller */
};

yk_status yk_token_set_create(const struct yk_token_name *names, int32_t count,
                              struct yk_token_set **out) YK_MUST_USE;
void yk_token_set_destroy(struct yk_token_set *set);
/* The leftmost name in `text` at or after byte `from`, of several the longest. Returns NULL if
 * there is none. */
const struct yk_token_name *yk_token_set_find(const struct yk_token_set *set, const char *text,
                                              size_t length, size_t from, size_t *begin);

#endif
