/*
 * Help page: generates the output of --help, the man pages and the completion scripts of shells
 * from the tables of the commands.
 *
 * To add a shell, write src/cli/options/shell_completion_NAME.c with a `const struct
 * yk_shell_completion yk_shell_completion_NAME`, and add this struct to the table in
 * commands/completion.c.
 */
#ifndef YK_CLI_OPTIONS_HELP_PAGE_H
#define YK_CLI_OPTIONS_HELP_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options/command.h"

/* Appends the output of --help: examples, usage, description, operands or verbs, options and exit
 * codes. Lines are wrapped at `width` columns. */
yk_status yk_help_page_write(const struct yk_command *command, int width,
                             struct yk_text *out) YK_MUST_USE;

/* Appends the output of yoke without arguments: usage and the list of verbs. */
yk_status yk_help_page_write_overview(int width, struct yk_text *out) YK_MUST_USE;

/* Appends the man page of a command, written in roff with the man macros. */
yk_status yk_man_page_write(const struct yk_command *command, struct yk_text *out) YK_MUST_USE;

/* The completion script of yoke for one shell. */
struct yk_shell_completion {
    const char *name;
    const char *summary; /* says where to install the script */
    void (*write)(struct yk_text *out);
};

extern const struct yk_shell_completion yk_shell_completion_bash;
extern const struct yk_shell_completion yk_shell_completion_zsh;
extern const struct yk_shell_completion yk_shell_completion_fish;

#endif
