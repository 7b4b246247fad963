/* Help words: the phrases that the help, the man page and the completions have in common. */
#ifndef YK_CLI_OPTIONS_HELP_WORDS_H
#define YK_CLI_OPTIONS_HELP_WORDS_H

#include "base/text.h"
#include "cli/options/options.h"

/* "--devices N". */
void yk_options_add_name(const struct yk_option *option, struct yk_text *out);

/* The help with its preset: "Seed of the random numbers (default: 1)". */
void yk_options_add_help(const struct yk_option *option, struct yk_text *out);

/* The names of the choices: "fp32 tf32 fp16 bf16". */
void yk_options_add_choices(yk_choices choices, struct yk_text *out);

/* Sets `out` to the next paragraph of `*text`, which is left behind it; false: there is none. */
bool yk_command_next_paragraph(const char **text, struct yk_text *out);

#endif
