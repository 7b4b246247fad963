/* Library: all filters, tests and methods of values. */
#ifndef YK_TOKENIZER_JINJA_LIBRARY_H
#define YK_TOKENIZER_JINJA_LIBRARY_H

#include "tokenizer/jinja/function.h"

extern const struct yk_jinja_library yk_jinja_library;

#endif
