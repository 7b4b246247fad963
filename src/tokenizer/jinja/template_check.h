/* Template check: what jinja2 refuses when it compiles a template: unknown filters and tests that
 * are not in an "if", and {% break %} outside of loops. */
#ifndef YK_TOKENIZER_JINJA_TEMPLATE_CHECK_H
#define YK_TOKENIZER_JINJA_TEMPLATE_CHECK_H

#include "tokenizer/jinja/syntax.h"

/* Error messages begin with "line 3: ". */
yk_status yk_jinja_template_check(const struct yk_jinja_syntax *syntax) YK_MUST_USE;

#endif
