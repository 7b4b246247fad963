/* Value sort: a stable sort by keys, as Python's sorted(). */
#ifndef YK_TOKENIZER_JINJA_VALUE_SORT_H
#define YK_TOKENIZER_JINJA_VALUE_SORT_H

#include "tokenizer/jinja/value.h"

struct yk_jinja_sorted_item {
    struct yk_jinja_value key;
    struct yk_jinja_value item;
};

/* Sorts `count` items, which it may reorder, and makes a list of them. In reverse order, items with
 * equal keys keep their order. Fails if the keys have no order. */
yk_status yk_jinja_value_sort(struct yk_jinja_run *run, struct yk_jinja_sorted_item *items,
                              int64_t count, bool reverse, struct yk_jinja_value *out) YK_MUST_USE;

#endif
