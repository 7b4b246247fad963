#include "cli/options/command.h"

extern const struct yk_command yk_command_train, yk_command_eval, yk_command_generate,
    yk_command_tokenize, yk_command_inspect, yk_command_weights, yk_command_translate,
    yk_command_pairs, yk_command_bleu, yk_command_plan, yk_command_simulate, yk_command_report,
    yk_command_tradeoff, yk_command_order, yk_command_place, yk_command_profile,
    yk_command_calibrate, yk_command_model, yk_command_devices, yk_command_schedule,
    yk_command_doctor, yk_command_help, yk_command_completion, yk_command_root;

static const struct yk_command *const verbs[] = {
    &yk_command_train,     &yk_command_eval,    &yk_command_generate,   &yk_command_translate,
    &yk_command_tokenize,  &yk_command_inspect, &yk_command_weights,    &yk_command_pairs,
    &yk_command_bleu,      &yk_command_plan,    &yk_command_simulate,   &yk_command_report,
    &yk_command_tradeoff,  &yk_command_order,   &yk_command_place,      &yk_command_profile,
    &yk_command_calibrate, &yk_command_model,   &yk_command_devices,    &yk_command_schedule,
    &yk_command_doctor,    &yk_command_help,    &yk_command_completion,
};

const struct yk_command_table yk_all_commands = {
    .verbs = verbs,
    .count = sizeof verbs / sizeof verbs[0],
    .root = &yk_command_root,
};
