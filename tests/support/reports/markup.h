/* Markup: a small check that XML is well formed: every tag closed in order, nothing unescaped. */
#ifndef YK_TESTS_MARKUP_H
#define YK_TESTS_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` is well formed. Also counts its elements called `name` into `count`. */
bool markup_is_balanced(const char *text, const char *name, size_t *count);

/* How often `word` occurs in `text`. */
size_t markup_occurrences(const char *text, const char *word);

#endif
