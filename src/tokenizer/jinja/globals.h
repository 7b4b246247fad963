/* Globals: the functions that every template can call, such as namespace() and raise_exception().
 */
#ifndef YK_TOKENIZER_JINJA_GLOBALS_H
#define YK_TOKENIZER_JINJA_GLOBALS_H

#include "tokenizer/jinja/function.h"

#include "base/name_index.h"

/* Sets the variables of a template that are global functions, but not those that are hidden. */
yk_status yk_jinja_globals_set(struct yk_jinja_run *run, const struct yk_name_index *names,
                               const bool *hidden, struct yk_jinja_value *variables) YK_MUST_USE;

#endif
