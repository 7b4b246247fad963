#include "tokenizer/token_spans.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 256
};

void yk_token_spans_free(struct yk_token_spans *spans)
{
    free(spans->items);
    *spans = (struct yk_token_spans){0};
}

yk_status yk_token_spans_status(const struct yk_token_spans *spans)
{
    return spans->failed ? yk_fail_out_of_memory() : YK_OK;
}

/* Ensures capacity for `more` spans. Returns false if memory is exhausted. */
static bool reserve(struct yk_token_spans *spans, size_t more)
{
    const size_t free_items = (size_t)(spans->capacity - spans->count);
    if (spans->failed || more <= free_items) {
        return !spans->failed;
    }
    size_t capacity = spans->capacity > 0 ? (size_t)spans->capacity : FIRST_CAPACITY;
    while (capacity - (size_t)spans->count < more && capacity <= INT64_MAX / 64) {
        capacity *= 2;
    }
    struct yk_token_span *items = capacity - (size_t)spans->count < more
                                      ? NULL
                                      : realloc(spans->items, capacity * sizeof *items);
    if (!items) {
        spans->failed = true;
        return false;
    }
    spans->items = items;
    spans->capacity = (int64_t)capacity;
    return true;
}

void yk_token_spans_add(struct yk_token_spans *spans, size_t begin, size_t end)
{
    yk_token_spans_add_repeated(spans, (struct yk_token_span){.begin = begin, .end = end}, 1);
}

void yk_token_spans_add_repeated(struct yk_token_spans *spans, struct yk_token_span span,
                                 size_t times)
{
    if (reserve(spans, times)) {
        for (size_t i = 0; i < times; i++) {
            spans->items[spans->count++] = span;
        }
    }
}

void yk_token_spans_add_all(struct yk_token_spans *spans, const struct yk_token_span *items,
                            size_t count)
{
    if (count > 0 && reserve(spans, count)) {
        memcpy(spans->items + spans->count, items, count * sizeof *items);
        spans->count += (int64_t)count;
    }
}
