#include "cli/options/help_page.h"

/* Adds `words` in single quotes, where fish gives a meaning to the quote and the backslash only. */
static void add_quoted(struct yk_text *out, const char *words)
{
    yk_text_add(out, "'");
    for (const char *c = words; *c; c++) {
        yk_text_add(out, *c == '\'' || *c == '\\' ? "\\" : "");
        yk_text_add_bytes(out, c, 1);
    }
    yk_text_add(out, "'");
}

static void add_choices(yk_option_choice_getter choices, struct yk_text *out)
{
    yk_text_add(out, " -a '");
    yk_options_write_choice_names(choices, out);
    yk_text_add(out, "'");
}

/* The beginning of a line that holds only after the command's verb, or before any. */
static void begin(const struct yk_command *command, struct yk_text *out)
{
    yk_text_addf(out,
                 command->name ? "complete -c yoke -n '__fish_seen_subcommand_from %s'"
                               : "complete -c yoke -n __fish_use_subcommand",
                 command->name);
}

static void add_options(const struct yk_command *command, struct yk_text *out)
{
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(command, i)); i++) {
        begin(command, out);
        yk_text_addf(out, " -l %s", option->name);
        if (option->placeholder) {
            yk_text_add(out, yk_option_value_is_file(option) ? " -r -F" : " -x");
        }
        if (option->choices) {
            add_choices(option->choices, out);
        }
        yk_text_add(out, " -d ");
        add_quoted(out, option->help);
        yk_text_add(out, "\n");
    }
}

static void add_operands(const struct yk_command *command, struct yk_text *out)
{
    for (size_t i = 0; i < command->operand_count; i++) {
        begin(command, out);
        if (command->operands[i].choices) {
            add_choices(command->operands[i].choices, out);
        } else {
            yk_text_add(out, " -F");
        }
        yk_text_add(out, "\n");
    }
}

static void write_script(struct yk_text *out)
{
    yk_text_add(out, "# Completion of yoke's command line for fish.\n"
                     "complete -c yoke -f\n");
    for (size_t i = 0; i < yk_command_get_table()->count; i++) {
        begin(yk_command_get_table()->root, out);
        yk_text_addf(out, " -a %s -d ", yk_command_get_table()->verbs[i]->name);
        add_quoted(out, yk_command_get_table()->verbs[i]->summary);
        yk_text_add(out, "\n");
    }
    add_options(yk_command_get_table()->root, out);
    for (size_t i = 0; i < yk_command_get_table()->count; i++) {
        add_options(yk_command_get_table()->verbs[i], out);
        add_operands(yk_command_get_table()->verbs[i], out);
    }
}

const struct yk_shell_completion yk_shell_completion_fish = {
    .name = "fish",
    .summary = "goes to ~/.config/fish/completions/yoke.fish",
    .write = write_script,
};
