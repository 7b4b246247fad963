#include "cli/options/help_page.h"

static void add_option_names(const struct yk_command *command, struct yk_text *out)
{
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(command, i)); i++) {
        yk_text_addf(out, "%s--%s", i > 0 ? " " : "", option->name);
    }
}

/* What may follow an option that takes a value. */
static void add_values(const struct yk_command *command, struct yk_text *out)
{
    for (size_t i = 0; i < command->options->count; i++) {
        const struct yk_option *option = &command->options->rows[i];
        if (option->kind == YK_OPTION_FLAG) {
            continue;
        }
        yk_text_addf(out, "    %s,--%s)\n", command->name, option->name);
        if (option->choices) {
            yk_text_add(out, "        words='");
            yk_options_write_choice_names(option->choices, out);
            yk_text_add(out, "'\n");
        } else {
            yk_text_addf(out, "        files=%s\n", yk_option_value_is_file(option) ? "yes" : "");
        }
        yk_text_add(out, "        ;;\n");
    }
}

/* What may stand anywhere else. */
static void add_words(const struct yk_command *command, struct yk_text *out)
{
    yk_text_addf(out, "    %s,*)\n        if [[ $current == -* ]]; then\n            words='",
                 command->name);
    add_option_names(command, out);
    yk_text_add(out, "'\n");
    if (command->operand_count > 0) {
        const yk_option_choice_getter choices = command->operands[0].choices;
        yk_text_add(out, "        else\n            ");
        if (choices) {
            yk_text_add(out, "words='");
            yk_options_write_choice_names(choices, out);
            yk_text_add(out, "'\n");
        } else {
            yk_text_add(out, "files=yes\n");
        }
    }
    yk_text_add(out, "        fi\n        ;;\n");
}

static void write_script(struct yk_text *out)
{
    yk_text_add(out, "# Completion of yoke's command line for bash.\n"
                     "# shellcheck shell=bash\n"
                     "_yoke() {\n"
                     "    local current=$2 before=$3 verb=${COMP_WORDS[1]} words='' files=''\n"
                     "    # bash takes the = of --name=value for a word of its own.\n"
                     "    if [[ $current == = ]]; then\n"
                     "        current=''\n"
                     "    elif [[ $before == = ]]; then\n"
                     "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
                     "    fi\n"
                     "    if ((COMP_CWORD == 1)); then\n"
                     "        verb='' before=''\n"
                     "    fi\n"
                     "    case $verb,$before in\n"
                     "    ,)\n"
                     "        words='");
    yk_options_write_choice_names(yk_command_get_verb_choice, out);
    yk_text_add(out, " ");
    add_option_names(yk_command_get_table()->root, out);
    yk_text_add(out, "'\n        ;;\n");
    for (size_t i = 0; i < yk_command_get_table()->count; i++) {
        add_values(yk_command_get_table()->verbs[i], out);
        add_words(yk_command_get_table()->verbs[i], out);
    }
    yk_text_add(out, "    esac\n"
                     "    if [[ -n $files ]]; then\n"
                     "        compopt -o filenames\n"
                     "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                     "    else\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                     "    fi\n"
                     "}\n"
                     "complete -F _yoke yoke\n");
}

const struct yk_shell_completion yk_shell_completion_bash = {
    .name = "bash",
    .summary = "goes to /usr/share/bash-completion/completions/yoke",
    .write = write_script,
};
