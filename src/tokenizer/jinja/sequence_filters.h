/* Sequence filters: filters of lists and dicts, such as map and sort. */
#ifndef YK_TOKENIZER_JINJA_SEQUENCE_FILTERS_H
#define YK_TOKENIZER_JINJA_SEQUENCE_FILTERS_H

#include "tokenizer/jinja/function.h"

extern const struct yk_jinja_function_table yk_jinja_sequence_filters;

#endif
