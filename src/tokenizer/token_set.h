/*
 * Token set: names that are searched for in a text, all at once. A set does not change once it is
 * made: any number of threads may share one. The names belong to the caller and must outlive it.
 */
#ifndef YK_TOKENIZER_TOKEN_SET_H
#define YK_TOKENIZER_TOKEN_SET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_token_set;

struct yk_token_name {
    const char *bytes; /* at least one, none of them twice in a set */
    size_t length;
    int32_t number; /* the caller's */
};

yk_status yk_token_set_create(const struct yk_token_name *names, int32_t count,
                              struct yk_token_set **out) YK_MUST_USE;
void yk_token_set_destroy(struct yk_token_set *set);
/* The leftmost name in `text` from byte `from` on, of several there the longest; NULL: none. */
const struct yk_token_name *yk_token_set_find(const struct yk_token_set *set, const char *text,
                                              size_t length, size_t from, size_t *begin);

#endif
