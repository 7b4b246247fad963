/*
 * Regex syntax: translates patterns from the syntax of Oniguruma, which Hugging Face's tokenizers
 * use, to that of PCRE2. Classes such as \w have other members there, and PCRE2 has neither sets
 * inside sets nor intersections of sets.
 */
#ifndef YK_TOKENIZER_REGEX_SYNTAX_H
#define YK_TOKENIZER_REGEX_SYNTAX_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_REGEX_SYNTAX_MAX_NAME_BYTES = 40 /* of a property */
};

/* Returns whether PCRE2 knows a script with this name, of at most so many bytes. */
typedef bool yk_regex_is_script(const char *name, size_t length);

/* Appends the translation of a pattern. Fails if a set has no closing bracket, is nested too deeply
 * or has an unknown POSIX class; other mistakes are left to PCRE2. */
yk_status yk_regex_syntax_translate(const char *pattern, size_t length,
                                    yk_regex_is_script *is_script, struct yk_text *out) YK_MUST_USE;

#endif
