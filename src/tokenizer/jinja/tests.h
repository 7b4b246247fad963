/* Tests: what can stand behind "is", such as defined and string. */
#ifndef YK_TOKENIZER_JINJA_TESTS_H
#define YK_TOKENIZER_JINJA_TESTS_H

#include "tokenizer/jinja/function.h"

extern const struct yk_jinja_function_table yk_jinja_tests;

#endif
