/*
 * Token spans: for each token the part of the text that it stands for, as a list that grows when
 * spans are added. The list is a plain struct, initialized with {0}. If an addition fails because
 * there is not enough memory, `failed` is set and yk_token_spans_status() returns the error. Only
 * one thread at a time may use a list.
 */
#ifndef YK_TOKENIZER_TOKEN_SPANS_H
#define YK_TOKENIZER_TOKEN_SPANS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes from `begin` on, up to but without `end`. */
struct yk_token_span {
    size_t begin;
    size_t end;
};

struct yk_token_spans {
    struct yk_token_span *items;
    int64_t count;
    int64_t capacity;
    bool failed;
};

void yk_token_spans_free(struct yk_token_spans *spans);
yk_status yk_token_spans_status(const struct yk_token_spans *spans) YK_MUST_USE;

void yk_token_spans_add(struct yk_token_spans *spans, size_t begin, size_t end);
/* Adds the same span `times` times. */
void yk_token_spans_add_repeated(struct yk_token_spans *spans, struct yk_token_span span,
                                 size_t times);
void yk_token_spans_add_all(struct yk_token_spans *spans, const struct yk_token_span *items,
                            size_t count);

#endif
