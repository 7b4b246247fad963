/* Help page: what --help prints, made from a command's tables. */
#ifndef YK_CLI_OPTIONS_HELP_PAGE_H
#define YK_CLI_OPTIONS_HELP_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options/command.h"

/* Examples, usage, description, operands or verbs, options and exit codes, folded at `width`. */
yk_status yk_help_page_write(const struct yk_command *command, int width,
                             struct yk_text *out) YK_MUST_USE;

/* Usage and the list of verbs: the answer to yoke without a word. */
yk_status yk_help_page_write_short(int width, struct yk_text *out) YK_MUST_USE;

#endif
