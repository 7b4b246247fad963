/*
 * Regex: a regular expression that says where a text is cut, matched by PCRE2 as Oniguruma, which
 * Hugging Face's tokenizers use, matches it: \s is what Unicode calls white space and \w a letter,
 * mark, digit or connector, ^ and $ are the ends of lines.
 * A regex does not change once it is made: any number of threads may share one. Each thread needs a
 * workspace of its own, which may serve several.
 */
#ifndef YK_TOKENIZER_REGEX_H
#define YK_TOKENIZER_REGEX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_regex;
struct yk_regex_workspace;

/* With `literal`, the text itself is what is looked for. */
yk_status yk_regex_create(const char *pattern, size_t length, bool literal,
                          struct yk_regex **out) YK_MUST_USE;
void yk_regex_destroy(struct yk_regex *pattern);

yk_status yk_regex_workspace_create(struct yk_regex_workspace **out) YK_MUST_USE;
void yk_regex_workspace_destroy(struct yk_regex_workspace *workspace);

/*
 * The leftmost match in `text`, which must be UTF-8, from byte `from` on, the beginning of a
 * character. A pattern that tries too many ways is given up with an error.
 */
yk_status yk_regex_find(const struct yk_regex *pattern, struct yk_regex_workspace *workspace,
                        const char *text, size_t length, size_t from, bool *found, size_t *begin,
                        size_t *end) YK_MUST_USE;

#endif
