/* Container methods: the methods of lists, tuples, dicts, cyclers and floats. */
#ifndef YK_TOKENIZER_JINJA_CONTAINER_METHODS_H
#define YK_TOKENIZER_JINJA_CONTAINER_METHODS_H

#include "tokenizer/jinja/function.h"

extern const struct yk_jinja_function_table yk_jinja_list_methods;
extern const struct yk_jinja_function_table yk_jinja_tuple_methods;
extern const struct yk_jinja_function_table yk_jinja_dict_methods;
extern const struct yk_jinja_function_table yk_jinja_cycler_methods;
extern const struct yk_jinja_function_table yk_jinja_float_methods;

#endif
