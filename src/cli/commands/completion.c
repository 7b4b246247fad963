#include "cli/options/help_page.h"

#include <string.h>

struct arguments {
    const char *shell;
};

static const struct yk_shell_completion *const shells[] = {
    &yk_shell_completion_bash,
    &yk_shell_completion_zsh,
    &yk_shell_completion_fish,
};
static const size_t shell_count = sizeof shells / sizeof shells[0];

static bool shell_choices(size_t number, struct yk_option_choice *out)
{
    if (number >= shell_count) {
        return false;
    }
    *out = (struct yk_option_choice){shells[number]->name, shells[number]->summary};
    return true;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    for (size_t i = 0; i < shell_count; i++) {
        if (strcmp(shells[i]->name, arguments->shell) == 0) {
            shells[i]->write(out);
        }
    }
    return yk_text_status(out);
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "SHELL",
        .help = "The shell to write the script for",
        .required = true,
        .choices = shell_choices,
        .offset = offsetof(struct arguments, shell),
    },
};

static const struct yk_command_example examples[] = {
    {"source <(yoke completion bash)", "Complete yoke's words in this bash"},
    {"yoke completion fish > ~/.config/fish/completions/yoke.fish", "Complete them in every fish"},
};

const struct yk_command yk_command_completion = {
    .name = "completion",
    .summary = "print a script that lets a shell complete yoke's words",
    .description = "The script knows every command, its options and the values they can take.",
    YK_COMMAND_BASIC_INITIALIZERS(struct arguments),
    YK_OPERAND_ROWS_AND_COUNT(operands),
    .options = &(const struct yk_option_table){0},
};
