#include "tokenizer/string_list.h"

#include <stdlib.h>

enum {
    FIRST_CAPACITY = 64
};

void yk_string_list_free(struct yk_string_list *list)
{
    yk_text_free(&list->bytes);
    free(list->ends);
    *list = (struct yk_string_list){0};
}

void yk_string_list_clear(struct yk_string_list *list)
{
    list->bytes.length = 0;
    list->count = 0;
}

yk_status yk_string_list_status(const struct yk_string_list *list)
{
    return list->failed ? yk_fail_out_of_memory() : yk_text_status(&list->bytes);
}

void yk_string_list_end_string(struct yk_string_list *list)
{
    if (list->count == list->capacity) {
        const int64_t capacity = list->capacity > 0 ? 2 * list->capacity : FIRST_CAPACITY;
        size_t *ends = realloc(list->ends, (size_t)capacity * sizeof *ends);
        if (!ends) {
            list->failed = true;
            return;
        }
        list->ends = ends;
        list->capacity = capacity;
    }
    list->ends[list->count++] = list->bytes.length;
}

void yk_string_list_add(struct yk_string_list *list, const char *bytes, size_t length)
{
    yk_text_add_bytes(&list->bytes, bytes, length);
    yk_string_list_end_string(list);
}

const char *yk_string_list_get(const struct yk_string_list *list, int64_t index, size_t *length)
{
    const size_t begin = index > 0 ? list->ends[index - 1] : 0;
    *length = list->ends[index] - begin;
    return yk_text_chars(&list->bytes) + begin;
}
