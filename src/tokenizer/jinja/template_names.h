/*
 * Template names: which variables of a template are undefined until it sets them. jinja2 decides
 * when it compiles a template whether a name is first read or first set outside of all bodies. A
 * name that is first set never has the value that the caller gave: where a macro or the body of a
 * loop reads it before it is set, it is undefined.
 */
#ifndef YK_TOKENIZER_JINJA_TEMPLATE_NAMES_H
#define YK_TOKENIZER_JINJA_TEMPLATE_NAMES_H

#include "tokenizer/jinja/syntax.h"

/* Sets syntax->hidden. */
yk_status yk_jinja_template_names_find_hidden(struct yk_jinja_syntax *syntax) YK_MUST_USE;

#endif
