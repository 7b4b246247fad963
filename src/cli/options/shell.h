/*
 * Shell: one shell that can complete yoke's command line, as an entry of one table.
 *
 * To add one: write src/cli/options/shell_NAME.c with its `const struct yk_shell yk_shell_NAME`,
 * and add it to the table in commands/completion.c.
 */
#ifndef YK_CLI_OPTIONS_SHELL_H
#define YK_CLI_OPTIONS_SHELL_H

#include "base/text.h"

struct yk_shell {
    const char *name;
    const char *summary; /* where its script goes */
    void (*write)(struct yk_text *out);
};

extern const struct yk_shell yk_shell_bash;
extern const struct yk_shell yk_shell_zsh;
extern const struct yk_shell yk_shell_fish;

#endif
