/*
 * Command: one subcommand (verb) of yoke, as an entry of a table.
 *
 * To add a command, write src/cli/commands/VERB.c with a `const struct yk_command yk_command_VERB`
 * and add it to the table in commands.c. Help, man pages and shell completions are generated from
 * the table.
 *
 * Contents of this folder: options/ (option tables, parser, help, man pages, completion), commands/
 * (one file per verb: its options, its job request, its output), terminal (printing) and
 * terminal_job (job callbacks that print progress and handle signals).
 */
#ifndef YK_CLI_OPTIONS_COMMAND_H
#define YK_CLI_OPTIONS_COMMAND_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options/options.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_option_sources;

struct yk_command_example {
    const char *line;
    const char *what;
};

/* An exit code of the process. */
struct yk_command_exit_code {
    yk_status code;
    const char *meaning;
};

struct yk_command {
    const char *name;        /* the verb; NULL for yoke without a verb */
    const char *summary;     /* one line without a full stop */
    const char *description; /* paragraphs separated by empty lines */
    const struct yk_command_example *examples;
    size_t example_count;
    const struct yk_option *options;
    size_t option_count;
    const struct yk_option_table *table; /* replaces options and option_count if not NULL */
    const struct yk_operand *operands;
    size_t operand_count;
    const struct yk_command_exit_code *exits; /* exit codes of this command only */
    size_t exit_count;
    size_t arguments_size; /* size of the struct that the options are stored in */
    bool by_ranks;         /* may run as several processes, the ranks of one run */
    /* Called after the command line has been parsed. Returns sources of further option values,
     * which replace defaults but not options of the command line. NULL: no sources. It may also set
     * members of `arguments` that are not options. */
    yk_status (*sources)(void *arguments, struct yk_arena *arena, struct yk_option_sources *out);
    /* Runs the command. Standard output goes to `out`; it is printed on success and with
     * YK_ERROR_NO_FIT. */
    yk_status (*run)(const void *arguments, struct yk_text *out);
};

#define YK_COMMAND_EXIT_CODES(rows_)                                                               \
    .exits = (rows_), .exit_count = sizeof(rows_) / sizeof((rows_)[0])

/* Initialize the members of a command from names of its file. YK_COMMAND_BASIC_MEMBERS() uses
 * `examples` and `run`, YK_COMMAND_MEMBERS_NO_OPERANDS() also `options` and `exits`, and
 * YK_COMMAND_MEMBERS() also `operands`. `type` is the type of the command's arguments. */
#define YK_COMMAND_BASIC_MEMBERS(type)                                                             \
    .examples = examples, .example_count = sizeof examples / sizeof examples[0],                   \
    .arguments_size = sizeof(type), .run = run
#define YK_COMMAND_MEMBERS_NO_OPERANDS(type)                                                       \
    YK_COMMAND_BASIC_MEMBERS(type), YK_OPTION_ROWS(options), YK_COMMAND_EXIT_CODES(exits)
#define YK_COMMAND_MEMBERS(type) YK_COMMAND_MEMBERS_NO_OPERANDS(type), YK_OPERAND_TABLE(operands)

/* All commands in the order of the help page. `root` is yoke without a verb. */
struct yk_command_table {
    const struct yk_command *const *verbs;
    size_t count;
    const struct yk_command *root;
};

/* The table of all commands, in commands/commands.c. */
extern const struct yk_command_table yk_all_commands;

/* Registers the table of commands. Call it once, before any other function here. */
void yk_command_register(const struct yk_command_table *list);
const struct yk_command_table *yk_command_table(void);

/* Exit code `number` of a command, those that all commands share first. NULL past the end. */
const struct yk_command_exit_code *yk_command_get_exit_code(const struct yk_command *command,
                                                            size_t number);

/* The options of a command, without --help. */
struct yk_option_table yk_command_options(const struct yk_command *command);

/* The command of that name; NULL: there is none. */
const struct yk_command *yk_command_find(const char *name);

/* The verbs, as choices for an operand. */
bool yk_command_choices(size_t number, struct yk_option_choice *out);

/* Appends "yoke schedule", or "yoke" for the root. */
void yk_command_write_name(const struct yk_command *command, struct yk_text *out);

/* Appends "yoke schedule [OPTIONS] [FILE]". */
void yk_command_write_usage(const struct yk_command *command, struct yk_text *out);

/* Sets `out` to the next paragraph of `*text` and advances `*text` past it. Returns false at the
 * end. */
bool yk_command_next_paragraph(const char **text, struct yk_text *out);

#endif
