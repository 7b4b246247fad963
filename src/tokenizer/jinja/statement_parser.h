/* Statement parser: makes the syntax tree of a template. */
#ifndef YK_TOKENIZER_JINJA_STATEMENT_PARSER_H
#define YK_TOKENIZER_JINJA_STATEMENT_PARSER_H

#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/syntax.h"

/* Parses tokens into `syntax`, whose arena and names the caller has set. Error messages begin with
 * "line 3: ". */
yk_status yk_jinja_statement_parser_read(const struct yk_jinja_token *tokens,
                                         const struct yk_jinja_library *library,
                                         struct yk_jinja_syntax *syntax) YK_MUST_USE;

#endif
