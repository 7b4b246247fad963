/* Value text: Python's str() and repr() of values. */
#ifndef YK_TOKENIZER_JINJA_VALUE_TEXT_H
#define YK_TOKENIZER_JINJA_VALUE_TEXT_H

#include "tokenizer/jinja/value.h"

#include "base/text.h"

enum {
    YK_JINJA_MAX_PLAIN_BYTES =
        32,                   /* of a number or a constant, with what separates it from others */
    YK_JINJA_FLOAT_STEPS = 64 /* of writing a float */
};

/* Appends str(value). Fails if the text of the value is not the same in every run of Python, as
 * that of a generator. */
yk_status yk_jinja_value_text_add(struct yk_jinja_run *run, struct yk_jinja_value value,
                                  struct yk_text *out) YK_MUST_USE;

/* Appends repr(value). */
yk_status yk_jinja_value_text_add_repr(struct yk_jinja_run *run, struct yk_jinja_value value,
                                       struct yk_text *out) YK_MUST_USE;

/* Makes the string str(value). A string is returned as it is. */
yk_status yk_jinja_value_text_make(struct yk_jinja_run *run, struct yk_jinja_value value,
                                   const struct yk_jinja_string **out) YK_MUST_USE;

/* Appends a backslash, a letter and the hexadecimal digits of a number, as in \u00e9. */
void yk_jinja_value_text_add_escape(char letter, uint32_t number, size_t digits,
                                    struct yk_text *out);

void yk_jinja_value_text_add_integer(int64_t integer, struct yk_text *out);

/* Appends the shortest decimal that is read as the same number, as Python's repr() does. */
void yk_jinja_value_text_add_float(double number, struct yk_text *out);

#endif
