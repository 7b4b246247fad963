/*
 * Interpreter: the state of one rendering, that is the variables of the scopes that are open, and
 * the text that is written to. scope.c reads and sets variables, the evaluator computes
 * expressions, the executor runs statements.
 */
#ifndef YK_TOKENIZER_JINJA_INTERPRETER_H
#define YK_TOKENIZER_JINJA_INTERPRETER_H

#include "tokenizer/jinja/syntax.h"

#include "base/text.h"

struct yk_jinja_scope_entry {
    int32_t name;
    struct yk_jinja_value value;
};

/* The variables of the body of a loop, a macro …; they hide those of the parents. */
struct yk_jinja_scope {
    struct yk_jinja_scope *parent; /* NULL: the variables of the template follow */
    struct yk_jinja_scope_entry *entries;
    int32_t count;
    int32_t capacity;
};

enum yk_jinja_flow {
    YK_JINJA_FLOW_NEXT,
    YK_JINJA_FLOW_BREAK,
    YK_JINJA_FLOW_CONTINUE
};

struct yk_jinja_interpreter {
    struct yk_jinja_run run;
    const struct yk_jinja_syntax *syntax;
    struct yk_jinja_value *variables; /* of the template, by number of the name; absent: not set */
    struct yk_jinja_scope *scope;     /* the innermost; NULL outside of all bodies */
    struct yk_text *out;              /* what is written to: the output, or the text of a block */
    struct yk_jinja_output *output;
    size_t max_output_bytes;
    enum yk_jinja_flow flow;
    int32_t error_line; /* 0: no expression or statement has failed */
};

/* Opens a scope inside the scope `parent`. */
yk_status yk_jinja_scope_open(struct yk_jinja_interpreter *interpreter,
                              struct yk_jinja_scope *parent) YK_MUST_USE;

/* Sets `*out` to the variable of the innermost scope that has it; absent: none has. */
yk_status yk_jinja_scope_find(struct yk_jinja_interpreter *interpreter, int32_t name,
                              struct yk_jinja_value *out) YK_MUST_USE;

/* Sets a variable of the innermost scope. */
yk_status yk_jinja_scope_set(struct yk_jinja_interpreter *interpreter, int32_t name,
                             struct yk_jinja_value value) YK_MUST_USE;

/* Assigns to a name, to a tuple of targets or to an attribute of a namespace. */
yk_status yk_jinja_scope_assign(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_expression *target,
                                struct yk_jinja_value value) YK_MUST_USE;

yk_status yk_jinja_evaluator_compute(struct yk_jinja_interpreter *interpreter,
                                     const struct yk_jinja_expression *expression,
                                     struct yk_jinja_value *out) YK_MUST_USE;

/* Applies filters that have no operand to `operand`. */
yk_status yk_jinja_evaluator_apply_filters(struct yk_jinja_interpreter *interpreter,
                                           const struct yk_jinja_expression *filters,
                                           struct yk_jinja_value operand,
                                           struct yk_jinja_value *out) YK_MUST_USE;

/* Computes a call with one more named argument, caller. */
yk_status yk_jinja_evaluator_call_with_caller(struct yk_jinja_interpreter *interpreter,
                                              const struct yk_jinja_expression *call,
                                              struct yk_jinja_value caller,
                                              struct yk_jinja_value *out) YK_MUST_USE;

/* Runs a list of statements. */
yk_status yk_jinja_executor_run(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_statement *statements) YK_MUST_USE;

#endif
