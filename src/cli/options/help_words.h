/* Help words: the phrases that the help and the man page have in common. */
#ifndef YK_CLI_OPTIONS_HELP_WORDS_H
#define YK_CLI_OPTIONS_HELP_WORDS_H

#include "base/text.h"
#include "cli/options/options.h"

/* "--devices N". */
void yk_help_words_add_option(const struct yk_option *option, struct yk_text *out);

/* The help with its preset: "Seed of the random numbers (default: 1)". */
void yk_help_words_add_help(const struct yk_option *option, struct yk_text *out);

#endif
