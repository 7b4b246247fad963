#include "cli/options/help_page.h"

#include <string.h>

/* Adds `words` to a description inside single quotes, where _arguments gives brackets and colons a
 * meaning of their own. */
static void add_escaped(struct yk_text *out, const char *words)
{
    for (const char *c = words; *c; c++) {
        if (*c == '\'') {
            yk_text_add(out, "'\\''");
        } else {
            yk_text_add(out, strchr("[]:\\", *c) ? "\\" : "");
            yk_text_add_bytes(out, c, 1);
        }
    }
}

/* The action of a specification: what completes the value. */
static void add_choices(yk_option_choice_getter choices, struct yk_text *out)
{
    yk_text_add(out, "(");
    yk_options_write_choice_names(choices, out);
    yk_text_add(out, ")");
}

static void add_option(const struct yk_option *option, struct yk_text *out)
{
    yk_text_addf(out, " \\\n            '--%s%s[", option->name, option->placeholder ? "=" : "");
    add_escaped(out, option->help);
    yk_text_add(out, "]");
    if (option->placeholder) {
        yk_text_addf(out, ":%s:", option->placeholder);
        if (option->choices) {
            add_choices(option->choices, out);
        } else if (yk_option_value_is_file(option)) {
            yk_text_add(out, "_files");
        }
    }
    yk_text_add(out, "'");
}

static void add_command(const struct yk_command *command, struct yk_text *out)
{
    yk_text_addf(out, "    %s)\n        _arguments -S", command->name);
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(command, i)); i++) {
        add_option(option, out);
    }
    for (size_t i = 0; i < command->operand_count; i++) {
        const struct yk_operand *operand = &command->operands[i];
        yk_text_addf(out, " \\\n            '%s:%s:", operand->many ? "*" : "",
                     operand->placeholder);
        if (operand->choices) {
            add_choices(operand->choices, out);
        } else {
            yk_text_add(out, "_files");
        }
        yk_text_add(out, "'");
    }
    yk_text_add(out, "\n        ;;\n");
}

static void write_script(struct yk_text *out)
{
    yk_text_add(out, "#compdef yoke\n"
                     "# Completion of yoke's command line for zsh.\n"
                     "_yoke() {\n"
                     "    if ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then\n"
                     "        local -a commands=(\n");
    for (size_t i = 0; i < yk_command_get_table()->count; i++) {
        yk_text_addf(out, "            '%s:", yk_command_get_table()->verbs[i]->name);
        add_escaped(out, yk_command_get_table()->verbs[i]->summary);
        yk_text_add(out, "'\n");
    }
    yk_text_add(out, "        )\n"
                     "        _describe command commands\n"
                     "        return\n"
                     "    elif ((CURRENT == 2)); then\n"
                     "        _arguments -S");
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(yk_command_get_table()->root, i));
         i++) {
        add_option(option, out);
    }
    yk_text_add(out, "\n        return\n"
                     "    fi\n"
                     "    local verb=$words[2]\n"
                     "    shift words\n"
                     "    ((CURRENT--))\n"
                     "    case $verb in\n");
    for (size_t i = 0; i < yk_command_get_table()->count; i++) {
        add_command(yk_command_get_table()->verbs[i], out);
    }
    yk_text_add(out, "    esac\n"
                     "}\n"
                     "if [[ $funcstack[1] == _yoke ]]; then\n"
                     "    _yoke \"$@\"\n"
                     "else\n"
                     "    compdef _yoke yoke\n"
                     "fi\n");
}

const struct yk_shell_completion yk_shell_completion_zsh = {
    .name = "zsh",
    .summary = "goes to /usr/share/zsh/site-functions/_yoke",
    .write = write_script,
};
