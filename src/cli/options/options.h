/*
 * Options: parses the command line with the option table of a command (base/option.h). Help, man
 * page and shell completions are generated from the same table. Tables are constant, so any thread
 * may read them.
 */
#ifndef YK_CLI_OPTIONS_OPTIONS_H
#define YK_CLI_OPTIONS_OPTIONS_H

#include "base/arena.h"
#include "base/option.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_command;

/* Returns whether the value of the option is a file name. Used by shell completion. */
bool yk_option_value_is_file(const struct yk_option *option);

/* A positional argument. The type of its value is const char *, or struct yk_option_string_list if
 * `many` is set. */
struct yk_operand {
    const char *placeholder;
    const char *help;
    bool required;
    bool many; /* accepts any number of arguments; only for the last operand */
    yk_option_choice_getter choices; /* allowed values; NULL means: the operand is a file */
    size_t offset;                   /* offset of the value in the command's arguments */
};

/* Initializes the members `operands` and `operand_count` of a struct yk_command. */
#define YK_OPERAND_ROWS_AND_COUNT(rows_)                                                           \
    .operands = (rows_), .operand_count = sizeof(rows_) / sizeof((rows_)[0])

/* Returns the option with the index `number` of a command, or NULL if the command has fewer
 * options. The last option of every command is --help. */
const struct yk_option *yk_options_get_nth_of_command(const struct yk_command *command,
                                                      size_t number);

/*
 * Parses `words` into `arguments`, a zeroed struct of command->arguments_size bytes. An option gets
 * its value from `words`, otherwise from the command's sources (base/option.h), otherwise from its
 * default. If `words` contains --help, only sets `*help` to true. Lists are allocated in `arena`;
 * strings point to `words`.
 */
yk_status yk_options_parse(const struct yk_command *command, char *const *words, int count,
                           struct yk_arena *arena, void *arguments, bool *help) YK_MUST_USE;

/* Appends the name of an option and the placeholder of its value, such as "--devices N". */
void yk_options_write_name_and_placeholder(const struct yk_option *option, struct yk_text *out);

/* Appends the help text and the default, such as "Seed of the random numbers (default: 1)". */
void yk_options_write_help_and_default(const struct yk_option *option, struct yk_text *out);

/* Appends the names of the choices, such as "fp32 tf32 fp16 bf16". */
void yk_options_write_choice_names(yk_option_choice_getter choices, struct yk_text *out);

#endif
