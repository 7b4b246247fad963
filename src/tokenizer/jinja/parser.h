/* Parser: the tokens of a template while they are read, and the nodes of its syntax tree. */
#ifndef YK_TOKENIZER_JINJA_PARSER_H
#define YK_TOKENIZER_JINJA_PARSER_H

#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/syntax.h"

struct yk_jinja_parser {
    struct yk_jinja_syntax *syntax;
    const struct yk_jinja_library *library;
    /* yk_jinja_expression_parser_read(), which operands in parentheses need */
    yk_status (*read)(struct yk_jinja_parser *parser, bool conditional,
                      struct yk_jinja_expression **out);
    const struct yk_jinja_token *token; /* the current one */
    int32_t depth;
    bool uses_caller; /* these names were read since the flags were cleared */
    bool uses_kwargs;
    bool uses_varargs;
};

yk_status yk_jinja_parser_fail(const struct yk_jinja_parser *parser, const char *what) YK_MUST_USE;

/* Enters a level of recursion. If it succeeds, the caller decrements parser->depth at the end. */
yk_status yk_jinja_parser_enter(struct yk_jinja_parser *parser) YK_MUST_USE;

/* These return whether the current token is this one; the last also advances then. */
bool yk_jinja_parser_at_name(const struct yk_jinja_parser *parser, const char *name);
bool yk_jinja_parser_at_operator(const struct yk_jinja_parser *parser, uint32_t operator);
bool yk_jinja_parser_skip_name(struct yk_jinja_parser *parser, const char *name);
bool yk_jinja_parser_skip_operator(struct yk_jinja_parser *parser, uint32_t operator);

/* Fails unless the current token is this operator, and advances. */
yk_status yk_jinja_parser_expect_operator(struct yk_jinja_parser *parser,
                                          uint32_t operator) YK_MUST_USE;

/* Makes a string of the template. */
yk_status yk_jinja_parser_new_string(struct yk_jinja_parser *parser, const char *bytes,
                                     size_t length, const struct yk_jinja_string **out) YK_MUST_USE;

/* Reads the name at the current token as a string and as a number in the names. */
yk_status yk_jinja_parser_read_name(struct yk_jinja_parser *parser,
                                    const struct yk_jinja_string **out,
                                    int32_t *number) YK_MUST_USE;

/* A list of expressions while it is read. */
struct yk_jinja_expression_list {
    struct yk_jinja_expression **items;
    int32_t count;
    int32_t capacity;
};

/* Makes a node without operands. */
yk_status yk_jinja_parser_new_expression(struct yk_jinja_parser *parser,
                                         enum yk_jinja_expression_kind kind, int32_t line,
                                         struct yk_jinja_expression **out) YK_MUST_USE;

/* Makes a node with up to two operands. */
yk_status yk_jinja_parser_new_parent(struct yk_jinja_parser *parser,
                                     enum yk_jinja_expression_kind kind, int32_t line,
                                     struct yk_jinja_expression *first,
                                     struct yk_jinja_expression *second,
                                     struct yk_jinja_expression **out) YK_MUST_USE;

/* Sets the depth of a node that has got an operand. Fails if it is nested too deeply. */
yk_status yk_jinja_parser_check_depth(struct yk_jinja_expression *parent,
                                      const struct yk_jinja_expression *child) YK_MUST_USE;

yk_status yk_jinja_parser_append(struct yk_jinja_parser *parser,
                                 struct yk_jinja_expression_list *list,
                                 struct yk_jinja_expression *item) YK_MUST_USE;

/* Makes a node whose items are a list. */
yk_status yk_jinja_parser_new_list(struct yk_jinja_parser *parser,
                                   enum yk_jinja_expression_kind kind, int32_t line,
                                   const struct yk_jinja_expression_list *list,
                                   struct yk_jinja_expression **out) YK_MUST_USE;

yk_status yk_jinja_parser_new_constant(struct yk_jinja_parser *parser, int32_t line,
                                       struct yk_jinja_value value,
                                       struct yk_jinja_expression **out) YK_MUST_USE;

#endif
