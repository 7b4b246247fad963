/* Text filters: filters that make texts, such as trim and tojson. */
#ifndef YK_TOKENIZER_JINJA_TEXT_FILTERS_H
#define YK_TOKENIZER_JINJA_TEXT_FILTERS_H

#include "tokenizer/jinja/function.h"

extern const struct yk_jinja_function_table yk_jinja_text_filters;

#endif
