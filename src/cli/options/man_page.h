/* Man page: a command's page of the manual in roff (the man macros), made from its tables. */
#ifndef YK_CLI_OPTIONS_MAN_PAGE_H
#define YK_CLI_OPTIONS_MAN_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options/command.h"

yk_status yk_man_page_write(const struct yk_command *command, struct yk_text *out) YK_MUST_USE;

#endif
