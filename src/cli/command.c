#include "cli/command.h"

#include <string.h>

extern const struct yk_command yk_command_train;
extern const struct yk_command yk_command_eval;
extern const struct yk_command yk_command_generate;
extern const struct yk_command yk_command_tokenize;
extern const struct yk_command yk_command_inspect;
extern const struct yk_command yk_command_weights;
extern const struct yk_command yk_command_translate;
extern const struct yk_command yk_command_pairs;
extern const struct yk_command yk_command_bleu;
extern const struct yk_command yk_command_plan;
extern const struct yk_command yk_command_simulate;
extern const struct yk_command yk_command_report;
extern const struct yk_command yk_command_tradeoff;
extern const struct yk_command yk_command_order;
extern const struct yk_command yk_command_place;
extern const struct yk_command yk_command_profile;
extern const struct yk_command yk_command_calibrate;
extern const struct yk_command yk_command_model;
extern const struct yk_command yk_command_devices;
extern const struct yk_command yk_command_schedule;
extern const struct yk_command yk_command_doctor;
extern const struct yk_command yk_command_help;
extern const struct yk_command yk_command_completion;

const struct yk_command *const yk_commands[] = {
    &yk_command_train,     &yk_command_eval,    &yk_command_generate,   &yk_command_translate,
    &yk_command_tokenize,  &yk_command_inspect, &yk_command_weights,    &yk_command_pairs,
    &yk_command_bleu,      &yk_command_plan,    &yk_command_simulate,   &yk_command_report,
    &yk_command_tradeoff,  &yk_command_order,   &yk_command_place,      &yk_command_profile,
    &yk_command_calibrate, &yk_command_model,   &yk_command_devices,    &yk_command_schedule,
    &yk_command_doctor,    &yk_command_help,    &yk_command_completion,
};
const size_t yk_command_count = sizeof yk_commands / sizeof yk_commands[0];

const struct yk_exit yk_command_exits[] = {
    {YK_OK, "done"},
    {YK_ERROR_SYSTEM, "out of memory, or a device, an output or a thread could not be had"},
    {YK_ERROR_USAGE, "the command line is wrong"},
    {0, NULL},
};

const struct yk_command *yk_command_find(const char *name)
{
    for (size_t i = 0; i < yk_command_count; i++) {
        if (strcmp(yk_commands[i]->name, name) == 0) {
            return yk_commands[i];
        }
    }
    return NULL;
}

bool yk_command_choices(size_t number, struct yk_choice *out)
{
    if (number >= yk_command_count) {
        return false;
    }
    *out = (struct yk_choice){yk_commands[number]->name, yk_commands[number]->summary};
    return true;
}

void yk_command_add_words(const struct yk_command *command, struct yk_text *out)
{
    yk_text_add(out, "yoke");
    if (command->name) {
        yk_text_addf(out, " %s", command->name);
    }
}

void yk_command_add_usage(const struct yk_command *command, struct yk_text *out)
{
    yk_command_add_words(command, out);
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
