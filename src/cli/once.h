/*
 * Once: whether this process is the first of the ranks on this machine to say a sentence, so that
 * what goes wrong for all of them is said once.
 */
#ifndef YK_CLI_ONCE_H
#define YK_CLI_ONCE_H

#include <stdbool.h>

/* Each sentence leaves an empty file in the folder that the launcher has for this run, and removes
 * after it. Without such a folder everybody is the first. */
bool yk_once_is_first(const char *sentence);

#endif
