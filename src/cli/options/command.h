/*
 * Command: a struct that describes one subcommand (verb) of yoke.
 *
 * To add a command, write src/cli/commands/VERB.c with a `const struct yk_command yk_command_VERB`
 * and add this struct to the table in commands.c. Help, man pages and shell completions are
 * generated from the table.
 *
 * Contents of src/cli: options/ (option tables, parser, help, man pages, completion), commands/
 * (one file per verb, with its options, its job request and its output), terminal (printing) and
 * terminal_job (job callbacks that print progress and handle signals).
 */
#ifndef YK_CLI_OPTIONS_COMMAND_H
#define YK_CLI_OPTIONS_COMMAND_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options/options.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_option_files;

struct yk_command_example {
    const char *line; /* the command line */
    const char *what; /* says what the command line does */
};

/* An exit code of the process and its meaning. */
struct yk_command_exit_code {
    yk_status code;
    const char *meaning;
};

struct yk_command {
    const char *name;        /* the verb; NULL means: yoke without a verb */
    const char *summary;     /* one line without a full stop */
    const char *description; /* paragraphs separated by empty lines */
    const struct yk_command_example *examples;
    size_t example_count;
    const struct yk_option_table *options; /* without --help, which all commands have */
    const struct yk_operand *operands;
    size_t operand_count;
    const struct yk_command_exit_code *exits; /* without the exit codes that all commands have */
    size_t exit_count;
    size_t arguments_size; /* size of the struct that receives the options and operands */
    bool by_ranks;         /* several processes (ranks) may run this command together */
    /* Called after the command line has been parsed. Returns sources of option values. Their values
     * replace defaults, but not options of the command line. The function may also set members of
     * `arguments` that are not options. NULL means: the command has no sources. */
    yk_status (*sources)(void *arguments, struct yk_arena *arena, struct yk_option_files *out);
    /* Runs the command. Writes the text for standard output to `out`. This text is printed if the
     * function returns YK_OK or YK_ERROR_NO_FIT. */
    yk_status (*run)(const void *arguments, struct yk_text *out);
};

#define YK_COMMAND_OPTION_TABLE(rows_)                                                             \
    .options = &(const struct yk_option_table)                                                     \
    {                                                                                              \
        (rows_), sizeof(rows_) / sizeof((rows_)[0])                                                \
    }
#define YK_COMMAND_EXIT_ROWS_AND_COUNT(rows_)                                                      \
    .exits = (rows_), .exit_count = sizeof(rows_) / sizeof((rows_)[0])

/* Initialize the members of a command from variables and functions of the command's file.
 * YK_COMMAND_BASIC_INITIALIZERS() uses the names `examples` and `run`.
 * YK_COMMAND_INITIALIZERS_NO_OPERANDS() also uses `options` and `exits`. YK_COMMAND_INITIALIZERS()
 * also uses `operands`. `type` is the type of the command's arguments. */
#define YK_COMMAND_BASIC_INITIALIZERS(type)                                                        \
    .examples = examples, .example_count = sizeof examples / sizeof examples[0],                   \
    .arguments_size = sizeof(type), .run = run
#define YK_COMMAND_INITIALIZERS_NO_OPERANDS(type)                                                  \
    YK_COMMAND_BASIC_INITIALIZERS(type), YK_COMMAND_OPTION_TABLE(options),                         \
        YK_COMMAND_EXIT_ROWS_AND_COUNT(exits)
#define YK_COMMAND_INITIALIZERS(type)                                                              \
    YK_COMMAND_INITIALIZERS_NO_OPERANDS(type), YK_OPERAND_ROWS_AND_COUNT(operands)

/* All commands in the order of the help page. `root` is yoke without a verb. */
struct yk_command_table {
    const struct yk_command *const *verbs;
    size_t count;
    const struct yk_command *root;
};

/* The table of all commands, in commands/commands.c. */
extern const struct yk_command_table yk_all_commands;

/* Registers the table of commands. Must be called once, before any other function of this header.
 * The functions of this header do not use yk_all_commands directly, because the commands depend on
 * these functions. */
void yk_command_register_table(const struct yk_command_table *table);
const struct yk_command_table *yk_command_get_table(void);

/* Returns the exit code with the index `number` in the list of a command's exit codes, or NULL if
 * the list is shorter. The exit codes that all commands have come first. */
const struct yk_command_exit_code *yk_command_nth_exit_code(const struct yk_command *command,
                                                            size_t number);

/* Returns the command with this name, or NULL if there is none. */
const struct yk_command *yk_command_find_by_name(const char *name);

/* A yk_option_choice_getter whose choices are the verbs. */
bool yk_command_get_verb_choice(size_t number, struct yk_option_choice *out);

/* Appends the name of a command, such as "yoke schedule", or "yoke" for the root. */
void yk_command_write_name(const struct yk_command *command, struct yk_text *out);

/* Appends the usage of a command, such as "yoke schedule [OPTIONS] [FILE]". */
void yk_command_write_usage(const struct yk_command *command, struct yk_text *out);

/* Sets `out` to the next paragraph of `*text` and advances `*text` past it. Returns false at the
 * end. */
bool yk_command_next_description_paragraph(const char **text, struct yk_text *out);

#endif
