/* String case: upper, lower and title case of strings, as Python's str.upper() and others. */
#ifndef YK_TOKENIZER_JINJA_STRING_CASE_H
#define YK_TOKENIZER_JINJA_STRING_CASE_H

#include "tokenizer/jinja/value.h"

enum yk_jinja_case {
    YK_JINJA_LOWER,
    YK_JINJA_CASEFOLD, /* for comparisons: lower case, but also "ss" for the letter sharp s */
    YK_JINJA_UPPER,
    YK_JINJA_CAPITALIZE,
    YK_JINJA_TITLE,
    YK_JINJA_SWAPCASE
};

/* Makes the string in another case. */
yk_status yk_jinja_string_case_change(struct yk_jinja_run *run,
                                      const struct yk_jinja_string *string, enum yk_jinja_case to,
                                      struct yk_jinja_value *out) YK_MUST_USE;

/* Sets `*out` to whether the string has letters with case, all of them upper (or lower) case. */
yk_status yk_jinja_string_case_is(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                  bool upper_case, bool *out) YK_MUST_USE;

#endif
