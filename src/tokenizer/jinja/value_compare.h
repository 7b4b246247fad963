/* Value compare: Python's truth, equality and order of values, and sorted(). */
#ifndef YK_TOKENIZER_JINJA_VALUE_COMPARE_H
#define YK_TOKENIZER_JINJA_VALUE_COMPARE_H

#include "tokenizer/jinja/value.h"

/* Returns whether Python regards the value as true. */
bool yk_jinja_value_compare_truth(struct yk_jinja_value value);

/* Sets `*out` to whether two values are one object. */
yk_status yk_jinja_value_compare_identity(struct yk_jinja_run *run, struct yk_jinja_value a,
                                          struct yk_jinja_value b, bool *out) YK_MUST_USE;

yk_status yk_jinja_value_compare_equal(struct yk_jinja_run *run, struct yk_jinja_value a,
                                       struct yk_jinja_value b, bool *out) YK_MUST_USE;

enum yk_jinja_order {
    YK_JINJA_LESS,
    YK_JINJA_LESS_OR_EQUAL,
    YK_JINJA_GREATER,
    YK_JINJA_GREATER_OR_EQUAL
};

/* Sets `*out` to whether a < b, a ≤ b … Fails if the types have no order. */
yk_status yk_jinja_value_compare_order(struct yk_jinja_run *run, struct yk_jinja_value a,
                                       struct yk_jinja_value b, enum yk_jinja_order order,
                                       bool *out) YK_MUST_USE;

struct yk_jinja_sorted_item {
    struct yk_jinja_value key;
    struct yk_jinja_value item;
};

/* Sorts items by their keys. Items with equal keys keep their order, in reverse order too. Fails if
 * the keys have no order. */
yk_status yk_jinja_value_compare_sort(struct yk_jinja_run *run, struct yk_jinja_sorted_item *items,
                                      int64_t count, bool reverse) YK_MUST_USE;

/* Sorts items likewise, and makes a list of them. */
yk_status yk_jinja_value_compare_sort_to_list(struct yk_jinja_run *run,
                                              struct yk_jinja_sorted_item *items, int64_t count,
                                              bool reverse, struct yk_jinja_value *out) YK_MUST_USE;

#endif
