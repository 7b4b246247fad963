/* Number filters: filters of numbers, such as int and round. */
#ifndef YK_TOKENIZER_JINJA_NUMBER_FILTERS_H
#define YK_TOKENIZER_JINJA_NUMBER_FILTERS_H

#include "tokenizer/jinja/function.h"

extern const struct yk_jinja_function_table yk_jinja_number_filters;

#endif
