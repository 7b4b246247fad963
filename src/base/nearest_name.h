/* Nearest name: a suggestion for a misspelled name ("did you mean …?"). */
#ifndef YK_BASE_NEAREST_NAME_H
#define YK_BASE_NEAREST_NAME_H

#include <stddef.h>

/*
 * Returns the name with the smallest edit distance from `word`, or NULL if no name is similar
 * enough. The edit distance counts insertions, deletions, replacements, and swaps of neighbouring
 * characters.
 */
const char *yk_nearest_name(const char *word, const char *const *names, size_t count);

#endif
