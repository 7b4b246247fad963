/* Expression parser: makes syntax trees of expressions, with the grammar of jinja2. */
#ifndef YK_TOKENIZER_JINJA_EXPRESSION_PARSER_H
#define YK_TOKENIZER_JINJA_EXPRESSION_PARSER_H

#include "tokenizer/jinja/parser.h"

/* Reads an expression. Without `conditional`, it ends before an "if". For parser->read. */
yk_status yk_jinja_expression_parser_read(struct yk_jinja_parser *parser, bool conditional,
                                          struct yk_jinja_expression **out) YK_MUST_USE;

#endif
