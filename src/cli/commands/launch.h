/*
 * Launch: starts a command as several ranks. The program starts itself once per rank, with the same
 * arguments, and passes the output of the ranks on to its own terminal.
 */
#ifndef YK_CLI_COMMANDS_LAUNCH_H
#define YK_CLI_COMMANDS_LAUNCH_H

#include "job/rank.h"

/* Determines the rank of this process, and in `*launches` whether it must start the ranks. Tells
 * the terminal which rank this is. */
yk_status yk_command_launch_detect_rank(const struct yk_rank_options *place, int64_t ranks,
                                        struct yk_launcher *out, bool *launches) YK_MUST_USE;

/* Starts the ranks and waits for them. If a second signal kills them, it also ends this process. */
yk_status yk_command_launch_ranks(int64_t ranks) YK_MUST_USE;

#endif
