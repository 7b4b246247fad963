/*
 * Command: one verb of the command line, as an entry of one table.
 *
 * To add one: write src/cli/commands/VERB.c with its `const struct yk_command yk_command_VERB`, and
 * add it to the table in commands.c. Help, man pages and shell completions follow the table.
 *
 * The room: options/ (tables of options, parsing, help, man pages, completion), commands/ (a file a
 * verb: its options, its request, what it prints), terminal and terminal_job (what is printed how,
 * and the callbacks of a job that a person runs).
 */
#ifndef YK_CLI_OPTIONS_COMMAND_H
#define YK_CLI_OPTIONS_COMMAND_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options/options.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_option_sources;

struct yk_example {
    const char *line;
    const char *what;
};

struct yk_exit {
    yk_status code;
    const char *meaning;
};

struct yk_command {
    const char *name;                  /* the verb; NULL for yoke itself */
    const char *summary;               /* one line, without a full stop */
    const char *description;           /* paragraphs with an empty line between them */
    const struct yk_example *examples; /* ended by a NULL line */
    const struct yk_option *options;
    size_t option_count;
    const struct yk_option_table *table; /* instead of the two, where another room has it */
    const struct yk_operand *operands;
    size_t operand_count;
    const struct yk_exit *exits; /* besides those all have; ended by a NULL meaning; may be NULL */
    size_t arguments_size;
    bool by_ranks; /* several processes of it may be the ranks of one run */
    /* What lies under the words, once those have been read; NULL: presets alone. It may note in
     * the arguments what is no option. */
    yk_status (*sources)(void *arguments, struct yk_arena *arena, struct yk_option_sources *out);
    /* Adds what goes to standard output to `out`; it is printed only on success, or with
     * YK_ERROR_NO_FIT. */
    yk_status (*run)(const void *arguments, struct yk_text *out);
};

/* The parts of a command whose file calls them `examples`, `operands`, `options`, `exits` and
 * `run`; `type` is that of its arguments. */
#define YK_COMMAND_PARTS(type)                                                                     \
    .examples = examples, YK_OPERANDS(operands), YK_OPTIONS(options), .exits = exits,              \
    .arguments_size = sizeof(type), .run = run

/* yoke's verbs, in the order they are listed, and yoke itself: the command line without a verb. */
struct yk_command_list {
    const struct yk_command *const *verbs;
    size_t count;
    const struct yk_command *root;
};

/* Says which there are, once, before anything else here is asked. */
void yk_command_register(const struct yk_command_list *list);
const struct yk_command_list *yk_command_list(void);

/* The exit codes all commands have, ended by a NULL meaning. */
extern const struct yk_exit yk_command_exits[];

/* The command's own options. */
struct yk_option_table yk_command_options(const struct yk_command *command);

/* The command of that name, or NULL. */
const struct yk_command *yk_command_find(const char *name);

/* The verbs as choices of an operand. */
bool yk_command_choices(size_t number, struct yk_choice *out);

/* What a user types to get to the command: "yoke schedule", or "yoke" for the root. */
void yk_command_add_name(const struct yk_command *command, struct yk_text *out);

/* "yoke schedule [OPTIONS] [FILE]". */
void yk_command_add_usage(const struct yk_command *command, struct yk_text *out);

/* Sets `out` to the next paragraph of `*text`, which is left behind it; false: there is none. */
bool yk_command_next_paragraph(const char **text, struct yk_text *out);

#endif
