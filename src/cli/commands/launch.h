/*
 * Launch: runs a command as several processes (ranks). The program starts itself once per rank,
 * with the same arguments, and prints the output of the ranks to its own terminal.
 */
#ifndef YK_CLI_COMMANDS_LAUNCH_H
#define YK_CLI_COMMANDS_LAUNCH_H

#include "job/rank.h"

/* Determines the rank of this process, and sets `*launches` to whether this process must start the
 * ranks. If there are several ranks, calls yk_terminal_set_rank(). */
yk_status yk_command_launch_detect_rank(const struct yk_rank_options *place, int64_t ranks,
                                        struct yk_launcher *out, bool *launches) YK_MUST_USE;

/* Starts the ranks and waits for them. If a second signal kills the ranks, it also ends this
 * process. */
yk_status yk_command_launch_ranks_and_wait(int64_t ranks) YK_MUST_USE;

#endif
