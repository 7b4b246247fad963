/* Suggest: what a mistyped word was probably meant to be, for the end of a sentence. */
#ifndef YK_CLI_SUGGEST_H
#define YK_CLI_SUGGEST_H

#include "cli/command.h"
#include "cli/options.h"

/* The choice that begins with `word`, if it is the only one, or else the nearest; NULL: neither. */
const char *yk_suggest_choice(const char *word, yk_choices choices);

/* The same among the option names of a command; `word` comes without dashes. */
const char *yk_suggest_option(const char *word, const struct yk_command *command);

#endif
