/*
 * Launch of this program: a command that is to run as several ranks starts itself anew, once for
 * each, with the same words. What the ranks write is printed as it comes.
 */
#ifndef YK_CLI_COMMANDS_LAUNCH_H
#define YK_CLI_COMMANDS_LAUNCH_H

#include "job/rank.h"

/* Who this process is, and whether the ranks have yet to be started (job/launch.h). From now on the
 * terminal is used as that rank. */
yk_status yk_command_launch_find(const struct yk_rank_choice *place, int64_t ranks,
                                 struct yk_launcher *out, bool *launches) YK_MUST_USE;

/* Starts the ranks and waits for them. A second signal that ends them ends this process, too. */
yk_status yk_command_launch(int64_t ranks) YK_MUST_USE;

#endif
