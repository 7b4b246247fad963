#include "cli/options/command.h"

#include <string.h>

static const struct yk_command_table *registered;

void yk_command_register_table(const struct yk_command_table *table)
{
    registered = table;
}

const struct yk_command_table *yk_command_get_table(void)
{
    return registered;
}

const struct yk_command_exit_code *yk_command_nth_exit_code(const struct yk_command *command,
                                                            size_t number)
{
    static const struct yk_command_exit_code shared[] = {
        {YK_OK, "done"},
        {YK_ERROR_SYSTEM, "out of memory, or a device, an output or a thread is not available"},
        {YK_ERROR_USAGE, "the command line is wrong"},
    };
    const size_t shared_count = sizeof shared / sizeof shared[0];
    if (number < shared_count) {
        return &shared[number];
    }
    return number - shared_count < command->exit_count ? &command->exits[number - shared_count]
                                                       : NULL;
}

const struct yk_command *yk_command_find_by_name(const char *name)
{
    for (size_t i = 0; i < registered->count; i++) {
        if (strcmp(registered->verbs[i]->name, name) == 0) {
            return registered->verbs[i];
        }
    }
    return NULL;
}

bool yk_command_get_verb_choice(size_t number, struct yk_option_choice *out)
{
    if (number >= registered->count) {
        return false;
    }
    *out = (struct yk_option_choice){registered->verbs[number]->name,
                                     registered->verbs[number]->summary};
    return true;
}

void yk_command_write_name(const struct yk_command *command, struct yk_text *out)
{
    yk_text_add(out, "yoke");
    if (command->name) {
        yk_text_addf(out, " %s", command->name);
    }
}

void yk_command_write_usage(const struct yk_command *command, struct yk_text *out)
{
    yk_command_write_name(command, out);
    if (!command->name) {
        yk_text_add(out, " COMMAND");
    }
    yk_text_add(out, " [OPTIONS]");
    for (size_t i = 0; i < command->operand_count; i++) {
        const struct yk_operand *operand = &command->operands[i];
        yk_text_addf(out, operand->required ? " %s%s" : " [%s%s]", operand->placeholder,
                     operand->many ? "..." : "");
    }
}

bool yk_command_next_description_paragraph(const char **text, struct yk_text *out)
{
    if (!*text || !**text) {
        return false;
    }
    const char *end = strstr(*text, "\n\n");
    const size_t length = end ? (size_t)(end - *text) : strlen(*text);
    out->length = 0;
    yk_text_add_bytes(out, *text, length);
    *text += length + (end ? 2 : 0);
    return true;
}
