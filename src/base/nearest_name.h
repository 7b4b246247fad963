/* Nearest name: a suggestion for a misspelled name ("did you mean …?"). */
#ifndef YK_BASE_NEAREST_NAME_H
#define YK_BASE_NEAREST_NAME_H

#include <stddef.h>

/*
 * The name with the smallest edit distance from `word`, which counts insertions, deletions,
 * replacements and swaps of neighbours. Returns NULL if no name is similar enough.
 */
const char *yk_nearest_name(const char *word, const char *const *names, size_t count);

#endif
