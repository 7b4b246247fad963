/*
 * Options: the options of a command, as rows of a table (base/option.h), from which parser, help,
 * man page and shell completions are made. Tables are constant; any thread may read them.
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

/* Whether the value is a file, for completion. */
bool yk_option_is_file(const struct yk_option *option);

/* A word without dashes. Its field is a const char *; with `many`, a struct yk_option_strings. */
struct yk_operand {
    const char *placeholder;
    const char *help;
    bool required;
    bool many;          /* any number of words; only the last operand */
    yk_choices choices; /* NULL: the operand is a file */
    size_t offset;
};

/* The members of a struct yk_command that hold a table of operands. */
#define YK_OPERANDS(rows_) .operands = (rows_), .operand_count = sizeof(rows_) / sizeof((rows_)[0])

/* Option `number` of a command, in order; the last one is --help, which all have; NULL past the
 * end. */
const struct yk_option *yk_options_at(const struct yk_command *command, size_t number);

/*
 * Reads `words` into `arguments`, the zeroed struct of the command; presets come first, then the
 * command's sources (base/option.h). With --help among the words, `*help` is set and
 * nothing else is checked. Lists live in `arena`, texts are the words themselves.
 */
yk_status yk_options_parse(const struct yk_command *command, char *const *words, int count,
                           struct yk_arena *arena, void *arguments, bool *help) YK_MUST_USE;

/* "--devices N". */
void yk_options_add_name(const struct yk_option *option, struct yk_text *out);

/* The help with its preset: "Seed of the random numbers (default: 1)". */
void yk_options_add_help(const struct yk_option *option, struct yk_text *out);

/* The names of the choices: "fp32 tf32 fp16 bf16". */
void yk_options_add_choices(yk_choices choices, struct yk_text *out);

#endif
