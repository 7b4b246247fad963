/*
 * Library: all functions that a template can call. Filters, tests and methods of values are tables;
 * `yk_jinja_library` finds a function in them by its name. Global functions are variables.
 */
#ifndef YK_TOKENIZER_JINJA_LIBRARY_H
#define YK_TOKENIZER_JINJA_LIBRARY_H

#include "tokenizer/jinja/function.h"

#include "base/name_index.h"

extern const struct yk_jinja_library yk_jinja_library;

/* Filters that make texts, such as trim and tojson; of lists and dicts, such as map and join; that
 * compare the items of lists, such as sort and groupby; of numbers, such as int and round. */
extern const struct yk_jinja_function_table yk_jinja_text_filters;
extern const struct yk_jinja_function_table yk_jinja_sequence_filters;
extern const struct yk_jinja_function_table yk_jinja_order_filters;
extern const struct yk_jinja_function_table yk_jinja_number_filters;

/* What can stand behind "is", such as defined and string. */
extern const struct yk_jinja_function_table yk_jinja_tests;

/* The methods of values, by kind. */
extern const struct yk_jinja_function_table yk_jinja_string_methods;
extern const struct yk_jinja_function_table yk_jinja_list_methods;
extern const struct yk_jinja_function_table yk_jinja_tuple_methods;
extern const struct yk_jinja_function_table yk_jinja_dict_methods;
extern const struct yk_jinja_function_table yk_jinja_cycler_methods;
extern const struct yk_jinja_function_table yk_jinja_range_methods;
extern const struct yk_jinja_function_table yk_jinja_integer_methods;
extern const struct yk_jinja_function_table yk_jinja_float_methods;

/* Sets the variables of a template that are global functions, such as namespace() and
 * raise_exception(), but not those that are hidden. */
yk_status yk_jinja_globals_set(struct yk_jinja_run *run, const struct yk_name_index *names,
                               const bool *hidden, struct yk_jinja_value *variables) YK_MUST_USE;

#endif
