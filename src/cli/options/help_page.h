/* Help page: generates the output of --help and the man page of a command from the command's
 * tables. */
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
yk_status yk_help_page_write_short(int width, struct yk_text *out) YK_MUST_USE;

/* Appends the man page of a command, written in roff with the man macros. */
yk_status yk_man_page_write(const struct yk_command *command, struct yk_text *out) YK_MUST_USE;

#endif
