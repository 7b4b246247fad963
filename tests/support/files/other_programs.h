/* Outside: programs that tests hold what yoke writes against, where a machine has them. */
#ifndef YK_TESTS_OUTSIDE_H
#define YK_TESTS_OUTSIDE_H

#include "base/text.h"

#include <stdbool.h>

/* Whether the shell finds a program of that name. */
bool outside_has(const char *program);

/* A new folder; outside_remove() deletes it with all that is in it. */
char *outside_make_folder(void);
void outside_remove(char *folder);

/* Writes `folder`/`name`, executable. */
void outside_write(const char *folder, const char *name, const char *text);

/* Runs a command of the shell in `folder`, adds what it prints, errors included, and returns its
 * exit code. */
int outside_run(const char *folder, const char *command, struct yk_text *out);

#endif
