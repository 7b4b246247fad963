/* Commands: the table of all verbs. */
#ifndef YK_CLI_COMMANDS_COMMANDS_H
#define YK_CLI_COMMANDS_COMMANDS_H

#include "cli/options/command.h"

extern const struct yk_command_list yk_commands;

#endif
