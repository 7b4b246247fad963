/* Value compare: Python's truth, equality and order of values. */
#ifndef YK_TOKENIZER_JINJA_VALUE_COMPARE_H
#define YK_TOKENIZER_JINJA_VALUE_COMPARE_H

#include "tokenizer/jinja/value.h"

/* Returns whether Python regards the value as true. */
bool yk_jinja_value_compare_truth(struct yk_jinja_value value);

/* Returns whether two values are one object. */
bool yk_jinja_value_compare_identity(struct yk_jinja_value a, struct yk_jinja_value b);

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

#endif
