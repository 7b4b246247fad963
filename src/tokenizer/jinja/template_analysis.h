/* Template analysis: what jinja2 decides when it compiles a template, before any value is known. */
#ifndef YK_TOKENIZER_JINJA_TEMPLATE_ANALYSIS_H
#define YK_TOKENIZER_JINJA_TEMPLATE_ANALYSIS_H

#include "tokenizer/jinja/syntax.h"

/* Fails if the template has unknown filters or tests that are not in an "if", {% break %} outside
 * of loops, or an assignment to "loop" in a loop. Error messages begin with "line 3: ". */
yk_status yk_jinja_template_analysis_check(const struct yk_jinja_syntax *syntax) YK_MUST_USE;

/*
 * Sets syntax->hidden: which variables are undefined until the template sets them. jinja2 looks
 * whether a name is first read or first set outside of all bodies. A name that is first set never
 * has the value that the caller gave: where a macro or the body of a loop reads it before it is
 * set, it is undefined.
 */
yk_status yk_jinja_template_analysis_find_hidden(struct yk_jinja_syntax *syntax) YK_MUST_USE;

#endif
