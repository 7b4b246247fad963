/*
 * Operand parser: makes syntax trees of names, constants, displays such as [1, 2] and tuples, and
 * of what follows them: attributes, items, calls, filters and tests.
 */
#ifndef YK_TOKENIZER_JINJA_OPERAND_PARSER_H
#define YK_TOKENIZER_JINJA_OPERAND_PARSER_H

#include "tokenizer/jinja/parser.h"

/* Reads a name, a constant, a display or an expression in parentheses; if `attributes` is true, a
 * name may have an attribute to assign to. */
yk_status yk_jinja_operand_parser_read_primary(struct yk_jinja_parser *parser, bool attributes,
                                               struct yk_jinja_expression **out) YK_MUST_USE;

/* Both read what follows `*out`, and set `*out` to the whole. */
yk_status yk_jinja_operand_parser_read_postfix(struct yk_jinja_parser *parser,
                                               struct yk_jinja_expression **out) YK_MUST_USE;
yk_status
yk_jinja_operand_parser_read_filters_and_tests(struct yk_jinja_parser *parser,
                                               struct yk_jinja_expression **out) YK_MUST_USE;

/* Reads an expression, or several with commas, which are a tuple. `conditional` allows "a if b else
 * c" in it; without, "if" ends the tuple. `end` is a name that ends it, too, or NULL. */
yk_status yk_jinja_operand_parser_read_tuple(struct yk_jinja_parser *parser, bool conditional,
                                             const char *end,
                                             struct yk_jinja_expression **out) YK_MUST_USE;

/* Reads a target of an assignment: a name, a tuple of targets or, if `attributes` is true, an
 * attribute of a namespace. */
yk_status yk_jinja_operand_parser_read_target(struct yk_jinja_parser *parser, bool attributes,
                                              const char *end,
                                              struct yk_jinja_expression **out) YK_MUST_USE;

/* Reads filters. The innermost has no operand. `*out` is NULL if there is none. */
yk_status yk_jinja_operand_parser_read_filters(struct yk_jinja_parser *parser, bool at_name,
                                               struct yk_jinja_expression **out) YK_MUST_USE;

#endif
