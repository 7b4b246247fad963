/*
 * Parser: makes the syntax tree of a template from its tokens, with the grammar of jinja2.
 * statement_parser.c reads the statements, expression_parser.c what operators join, and
 * operand_parser.c the operands; all use parser.c, which holds the current token and makes nodes.
 * template_analysis.c checks the finished tree.
 */
#ifndef YK_TOKENIZER_JINJA_PARSER_H
#define YK_TOKENIZER_JINJA_PARSER_H

#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/syntax.h"

/* Parses tokens into `syntax`, whose arena and names the caller has set. Error messages begin with
 * "line 3: ". */
yk_status yk_jinja_statement_parser_read(const struct yk_jinja_token *tokens,
                                         const struct yk_jinja_library *library,
                                         struct yk_jinja_syntax *syntax) YK_MUST_USE;

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

/* The operand parser: names, constants, displays such as [1, 2] and tuples, and what follows them:
 * attributes, items, calls, filters and tests. */

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

/* Reads an expression. Without `conditional`, it ends before an "if". For parser->read. */
yk_status yk_jinja_expression_parser_read(struct yk_jinja_parser *parser, bool conditional,
                                          struct yk_jinja_expression **out) YK_MUST_USE;

/* The template analysis: what jinja2 decides when it compiles a template, before any value is
 * known. */

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
