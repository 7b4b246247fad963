/*
 * Option value: a word of the command line, or of a file, read into the field its row says.
 *
 * Sentences name the option as the user knows it: --name. Any thread may call this.
 */
#ifndef YK_CLI_OPTION_VALUE_H
#define YK_CLI_OPTION_VALUE_H

#include "cli/options.h"

/* The field as it is where the option is neither given nor preset. */
void yk_option_clear(const struct yk_option *option, void *arguments);

/* Checks `word` and stores what it means; of a flag, it may be NULL. Texts are kept as they are. */
yk_status yk_option_store(const struct yk_option *option, const char *word, struct yk_arena *arena,
                          void *arguments) YK_MUST_USE;

/* Refuses a word that is none of the choices, offering the nearest; `label` is what it is for. */
yk_status yk_option_check_choice(const char *label, const char *word,
                                 yk_choices choices) YK_MUST_USE;

#endif
