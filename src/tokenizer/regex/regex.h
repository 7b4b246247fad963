/*
 * Regex: a regular expression that splits text. It is matched by PCRE2 (or, if it is a word
 * pattern, tokenizer/regex/word_pattern.h, mostly without it), but means the same as in Oniguruma,
 * which Hugging Face's tokenizers use: \s is Unicode white space; \w is a letter, mark, digit or
 * connector; ^ and $ match at the beginning and the end of each line. A regex is immutable: any
 * number of threads may share it. Each thread needs its own workspace, which it may use with
 * several regexes.
 */
#ifndef YK_TOKENIZER_REGEX_REGEX_H
#define YK_TOKENIZER_REGEX_REGEX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_regex;
struct yk_regex_workspace;

/* Compiles a pattern. If `literal`, the pattern is a plain string, not a regular expression. */
yk_status yk_regex_create(const char *pattern, size_t length, bool literal,
                          struct yk_regex **out) YK_MUST_USE;
void yk_regex_destroy(struct yk_regex *pattern);

/* Returns the plain string that the pattern is, or NULL if it is a regular expression or empty. */
const char *yk_regex_get_literal(const struct yk_regex *pattern, size_t *length);

yk_status yk_regex_workspace_create(struct yk_regex_workspace **out) YK_MUST_USE;
void yk_regex_workspace_destroy(struct yk_regex_workspace *workspace);

/*
 * Finds the leftmost match in `text` that begins at or after byte `from`. `text` must be UTF-8, and
 * a character must begin at `from`. Fails if the search takes too many steps or too much time.
 */
yk_status yk_regex_find(const struct yk_regex *pattern, struct yk_regex_workspace *workspace,
                        const char *text, size_t length, size_t from, bool *found, size_t *begin,
                        size_t *end) YK_MUST_USE;

#endif
