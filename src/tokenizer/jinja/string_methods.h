/* String methods: the methods of strings. */
#ifndef YK_TOKENIZER_JINJA_STRING_METHODS_H
#define YK_TOKENIZER_JINJA_STRING_METHODS_H

#include "tokenizer/jinja/function.h"

extern const struct yk_jinja_function_table yk_jinja_string_methods;

/* Returns whether the string has letters with case, all of them upper (or lower) case. */
bool yk_jinja_string_methods_has_case(const struct yk_jinja_string *string, bool upper);

#endif
