/* Expression parser: makes syntax trees of expressions, with the grammar of jinja2. */
#ifndef YK_TOKENIZER_JINJA_EXPRESSION_PARSER_H
#define YK_TOKENIZER_JINJA_EXPRESSION_PARSER_H

#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/syntax.h"

/* A parser, also of statements. */
struct yk_jinja_parser {
    struct yk_jinja_syntax *syntax;
    const struct yk_jinja_library *library;
    const struct yk_jinja_token *token; /* the current one */
    int32_t depth;
    bool uses_caller; /* these names were read since the flags were cleared */
    bool uses_kwargs;
    bool uses_varargs;
};

yk_status yk_jinja_expression_parser_fail(const struct yk_jinja_parser *parser,
                                          const char *what) YK_MUST_USE;

/* Enters a level of recursion. If it succeeds, the caller decrements parser->depth at the end. */
yk_status yk_jinja_expression_parser_enter(struct yk_jinja_parser *parser) YK_MUST_USE;

/* These return whether the current token is this one; the last also advances then. */
bool yk_jinja_expression_parser_at_name(const struct yk_jinja_parser *parser, const char *name);
bool yk_jinja_expression_parser_at_operator(const struct yk_jinja_parser *parser,
                                            uint32_t operator);
bool yk_jinja_expression_parser_skip_name(struct yk_jinja_parser *parser, const char *name);
bool yk_jinja_expression_parser_skip_operator(struct yk_jinja_parser *parser, uint32_t operator);

/* Fails unless the current token is this operator, and advances. */
yk_status yk_jinja_expression_parser_expect_operator(struct yk_jinja_parser *parser,
                                                     uint32_t operator) YK_MUST_USE;

/* Makes a string of the template. */
yk_status yk_jinja_expression_parser_new_string(struct yk_jinja_parser *parser, const char *bytes,
                                                size_t length,
                                                const struct yk_jinja_string **out) YK_MUST_USE;

/* Reads the name at the current token as a string and as a number in the names. */
yk_status yk_jinja_expression_parser_read_name(struct yk_jinja_parser *parser,
                                               const struct yk_jinja_string **out,
                                               int32_t *number) YK_MUST_USE;

yk_status yk_jinja_expression_parser_read(struct yk_jinja_parser *parser,
                                          struct yk_jinja_expression **out) YK_MUST_USE;

/* Reads an expression, or several with commas, which are a tuple. `conditional` allows "a if b else
 * c" in it; without, "if" ends the tuple. `end` is a name that ends it, too, or NULL. */
yk_status yk_jinja_expression_parser_read_tuple(struct yk_jinja_parser *parser, bool conditional,
                                                const char *end,
                                                struct yk_jinja_expression **out) YK_MUST_USE;

/* Reads a target of an assignment: a name, a tuple of targets or, if `attributes` is true, an
 * attribute of a namespace. */
yk_status yk_jinja_expression_parser_read_target(struct yk_jinja_parser *parser, bool attributes,
                                                 const char *end,
                                                 struct yk_jinja_expression **out) YK_MUST_USE;

/* Reads filters. The innermost has no operand. `*out` is NULL if there is none. */
yk_status yk_jinja_expression_parser_read_filters(struct yk_jinja_parser *parser, bool at_name,
                                                  struct yk_jinja_expression **out) YK_MUST_USE;

#endif
