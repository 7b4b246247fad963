/*
 * Options: parses the command line by a command's option table (base/option.h). Help, man page and
 * shell completions are generated from the same table. Tables are constant, so any thread may read
 * them.
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

/* Whether the value of the option is a file name; used by shell completion. */
bool yk_option_is_file(const struct yk_option *option);

/* A positional argument. Its value is a const char *; with `many`, a struct yk_option_strings. */
struct yk_operand {
    const char *placeholder;
    const char *help;
    bool required;
    bool many;                         /* any number of arguments; only for the last operand */
    yk_option_choice_function choices; /* NULL: the operand is a file */
    size_t offset;                     /* of the value in the command's arguments */
};

/* Initializes the members `operands` and `operand_count` of a struct yk_command. */
#define YK_OPERAND_TABLE(rows_)                                                                    \
    .operands = (rows_), .operand_count = sizeof(rows_) / sizeof((rows_)[0])

/* Option `number` of a command. The last option of every command is --help. NULL past the end. */
const struct yk_option *yk_options_get(const struct yk_command *command, size_t number);

/*
 * Parses `words` into `arguments`, a zeroed struct of command->arguments_size bytes. Applies in
 * this order: defaults, the command's sources (base/option.h), `words`. If `words` contains
 * --help, sets `*help` and parses nothing. Lists are allocated in `arena`; strings point to
 * `words`.
 */
yk_status yk_options_parse(const struct yk_command *command, char *const *words, int count,
                           struct yk_arena *arena, void *arguments, bool *help) YK_MUST_USE;

/* Appends "--devices N". */
void yk_options_write_name(const struct yk_option *option, struct yk_text *out);

/* Appends the help text and the default: "Seed of the random numbers (default: 1)". */
void yk_options_write_help(const struct yk_option *option, struct yk_text *out);

/* Appends the names of the choices: "fp32 tf32 fp16 bf16". */
void yk_options_write_choices(yk_option_choice_function choices, struct yk_text *out);

#endif
