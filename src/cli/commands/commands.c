#include "cli/options/command.h"

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
extern const struct yk_command yk_command_root;

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
