/*
 * Regex syntax: translates patterns from the syntax of Oniguruma for Ruby, which Hugging Face's
 * tokenizers use, to that of PCRE2. The two look alike, but many patterns that both accept mean
 * something else: classes such as \w have other members, X{1,3}+ is possessive in PCRE2 only, (?m)
 * is Ruby's (?s). Everything that is not known to mean the same is therefore refused.
 */
#ifndef YK_TOKENIZER_REGEX_REGEX_SYNTAX_H
#define YK_TOKENIZER_REGEX_REGEX_SYNTAX_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_REGEX_SYNTAX_MAX_NAME_BYTES = 40 /* of a property */
};

/* Returns whether PCRE2 knows a script with this name, of at most so many bytes. */
typedef bool yk_regex_is_script(const char *name, size_t length);

/* Appends the translation of a pattern. Fails if the pattern is wrong in Oniguruma, or if it is not
 * known to mean the same in PCRE2. */
yk_status yk_regex_syntax_translate(const char *pattern, size_t length,
                                    yk_regex_is_script *is_script, struct yk_text *out) YK_MUST_USE;

#endif
