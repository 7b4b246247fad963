/*
 * Token matcher: searches a text for the names of several tokens at once. A matcher is immutable:
 * any number of threads may share it. The names are not copied and must outlive the matcher.
 */
#ifndef YK_TOKENIZER_TOKEN_MATCHER_H
#define YK_TOKENIZER_TOKEN_MATCHER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_token_matcher;

struct yk_token_pattern {
    const char *bytes; /* the name, at least one byte; unique in a matcher */
    size_t length;
    int32_t number; /* any number that the caller chooses */
};

yk_status yk_token_matcher_create(const struct yk_token_pattern *names, int32_t count,
                                  struct yk_token_matcher **out) YK_MUST_USE;
void yk_token_matcher_destroy(struct yk_token_matcher *matcher);
/* Returns the leftmost name in `text` that begins at or after byte `from`, and sets `*begin` to its
 * index. If several names begin there, returns the longest. Returns NULL if `text` contains no
 * name. */
const struct yk_token_pattern *yk_token_matcher_find(const struct yk_token_matcher *matcher,
                                                     const char *text, size_t length, size_t from,
                                                     size_t *begin);

#endif
