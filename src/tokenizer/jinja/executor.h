/* Executor: runs the statements of a template. */
#ifndef YK_TOKENIZER_JINJA_EXECUTOR_H
#define YK_TOKENIZER_JINJA_EXECUTOR_H

#include "tokenizer/jinja/evaluator.h"

/* Runs a list of statements. */
yk_status yk_jinja_executor_run(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_statement *statements) YK_MUST_USE;

#endif
