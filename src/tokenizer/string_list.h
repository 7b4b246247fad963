/*
 * String list: strings of bytes in order. The list is a plain struct, initialized with {0}. If an
 * addition fails because there is not enough memory, yk_string_list_status() returns the error.
 * Only one thread at a time may use a list.
 */
#ifndef YK_TOKENIZER_STRING_LIST_H
#define YK_TOKENIZER_STRING_LIST_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_string_list {
    struct yk_text bytes; /* of all strings, one behind the other */
    size_t *ends;         /* (count) in `bytes` */
    int64_t count;
    int64_t capacity;
    bool failed;
};

void yk_string_list_free(struct yk_string_list *list);
void yk_string_list_clear(struct yk_string_list *list);
yk_status yk_string_list_status(const struct yk_string_list *list) YK_MUST_USE;

/* Adds a string. The caller may also append to `bytes` and then end the string. */
void yk_string_list_add(struct yk_string_list *list, const char *bytes, size_t length);
void yk_string_list_end_string(struct yk_string_list *list);

const char *yk_string_list_get(const struct yk_string_list *list, int64_t index, size_t *length);

#endif
