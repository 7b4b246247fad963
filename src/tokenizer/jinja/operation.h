/* Operation: Python's arithmetic operators, and ~ of Jinja. Integers have 64 bits. */
#ifndef YK_TOKENIZER_JINJA_OPERATION_H
#define YK_TOKENIZER_JINJA_OPERATION_H

#include "tokenizer/jinja/value.h"

enum yk_jinja_operator {
    YK_JINJA_ADD,
    YK_JINJA_SUBTRACT,
    YK_JINJA_MULTIPLY,
    YK_JINJA_DIVIDE,
    YK_JINJA_FLOOR_DIVIDE,
    YK_JINJA_MODULO,
    YK_JINJA_POWER,
    YK_JINJA_OPERATOR_COUNT
};

yk_status yk_jinja_operation_apply(struct yk_jinja_run *run, enum yk_jinja_operator operator,
                                   struct yk_jinja_value left, struct yk_jinja_value right,
                                   struct yk_jinja_value *out) YK_MUST_USE;

/* Computes -value, or +value if `negative` is false. */
yk_status yk_jinja_operation_apply_sign(struct yk_jinja_value value, bool negative,
                                        struct yk_jinja_value *out) YK_MUST_USE;

/* Concatenates the texts of two values, as ~ does. */
yk_status yk_jinja_operation_join(struct yk_jinja_run *run, struct yk_jinja_value left,
                                  struct yk_jinja_value right,
                                  struct yk_jinja_value *out) YK_MUST_USE;

/* Makes the string with the special characters of HTML escaped, unless it is marked as safe. The
 * result is marked as safe. */
yk_status yk_jinja_operation_escape(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                    struct yk_jinja_value *out) YK_MUST_USE;

#endif
