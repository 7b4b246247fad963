/* Literal: the numbers and strings that stand in a template, written as in Python. */
#ifndef YK_TOKENIZER_JINJA_LITERAL_H
#define YK_TOKENIZER_JINJA_LITERAL_H

#include "tokenizer/jinja/lexer.h"

#include <stdbool.h>

/* Reads the number at the beginning of `bytes`, which end with a zero byte. After a dot, as in
 * "items.0.5", it is an integer. Sets all members of `out` but the line, which the caller has set
 * for messages. What the token needs belongs to the arena. */
yk_status yk_jinja_literal_read_number(const char *bytes, bool after_dot, struct yk_arena *arena,
                                       struct yk_jinja_token *out) YK_MUST_USE;

/* Reads a string, whose quotes are not in `bytes`, likewise, and resolves its escapes. */
yk_status yk_jinja_literal_read_string(const char *bytes, size_t length, struct yk_arena *arena,
                                       struct yk_jinja_token *out) YK_MUST_USE;

#endif
