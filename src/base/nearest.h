/* Nearest: the known name a mistyped one was probably meant to be. */
#ifndef YK_BASE_NEAREST_H
#define YK_BASE_NEAREST_H

#include <stddef.h>

/*
 * The name of `names` that takes the fewest insertions, deletions, replacements and swaps of
 * neighbours to get from `word`; NULL when none is close enough to be worth suggesting.
 */
const char *yk_nearest(const char *word, const char *const *names, size_t count);

#endif
