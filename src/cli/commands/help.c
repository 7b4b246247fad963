#include "cli/options/command.h"
#include "cli/options/help_page.h"
#include "cli/terminal.h"

struct arguments {
    const char *verb;
    bool man;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    const struct yk_command *command =
        arguments->verb ? yk_command_find_by_name(arguments->verb) : yk_command_get_table()->root;
    return arguments->man ? yk_man_page_write(command, out)
                          : yk_help_page_write(command, yk_terminal_output_columns(), out);
}

static const struct yk_option options[] = {
    {YK_OPTION_ROW("man", NULL, NULL, "Print the page of the manual, in roff"), YK_OPTION_INIT_FLAG,
     YK_OPTION_OFFSET_OF(struct arguments, man)},
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "COMMAND",
        .help = "The command to explain; without it, yoke itself",
        .choices = yk_command_get_verb_choice,
        .offset = offsetof(struct arguments, verb),
    },
};

static const struct yk_command_example examples[] = {
    {"yoke help schedule", "Explain a command, as \"yoke schedule --help\" does"},
    {"yoke help --man schedule | man -l -", "Read its page of the manual without installing it"},
};

const struct yk_command yk_command_help = {
    .name = "help",
    .summary = "explain yoke or one of its commands",
    .description = "Prints the help of a command, or its page of the manual.",
    YK_COMMAND_BASIC_INITIALIZERS(struct arguments),
    YK_COMMAND_OPTION_TABLE(options),
    YK_OPERAND_ROWS_AND_COUNT(operands),
};
