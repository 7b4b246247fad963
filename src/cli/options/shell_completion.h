/*
 * Shell completion: generates the completion script of yoke for one shell.
 *
 * To add a shell, write src/cli/options/shell_completion_NAME.c with a `const struct
 * yk_shell_completion yk_shell_completion_NAME`, and add this struct to the table in
 * commands/completion.c.
 */
#ifndef YK_CLI_OPTIONS_SHELL_COMPLETION_H
#define YK_CLI_OPTIONS_SHELL_COMPLETION_H

#include "base/text.h"

struct yk_shell_completion {
    const char *name;
    const char *summary; /* says where to install the script */
    void (*write)(struct yk_text *out);
};

extern const struct yk_shell_completion yk_shell_completion_bash;
extern const struct yk_shell_completion yk_shell_completion_zsh;
extern const struct yk_shell_completion yk_shell_completion_fish;

#endif
