/*
 * Token matcher: searches a text for any of a set of names. A matcher is immutable: any number of
 * threads may share one. The names are not copied and must outlive it.
 */
#ifndef YK_TOKENIZER_TOKEN_MATCHER_H
#define YK_TOKENIZER_TOKEN_MATCHER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_token_matcher;

struct yk_token_pattern {
    const char *bytes; /* at least one byte; unique in a matcher */
    size_t length;
    int32_t number; /* chosen by the caller */
};

yk_status yk_token_matcher_create(const struct yk_token_pattern *names, int32_t count,
                                  struct yk_token_matcher **out) YK_MUST_USE;
void yk_token_matcher_destroy(struct yk_token_matcher *matcher);
/* The leftmost name in `text` at or after byte `from`, of several the longest. Returns NULL if
 * there is none. */
const struct yk_token_pattern *yk_token_matcher_find(const struct yk_token_matcher *matcher,
                                                     const char *text, size_t length, size_t from,
                                                     size_t *begin);

#endif
